//! Two subflows joined by a pipe that loses, delays, reorders and duplicates, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use transport::config;
use transport::congestion::{Congestion, Window};
use transport::subflow::{Control, Emission, Expired, Kind, Piece, Room, State, Subflow};
use wire::{Ecn, Tcp, Time};

pub const MS: i64 = 1_000_000;

/// An end with an application that writes, reads and finishes.
pub struct Host {
    pub tcp: Option<Subflow>,
    pub windows: [Window; 1],
    congestion: Box<dyn Congestion>,
    settings: config::Tcp,
    local: SocketAddr,
    remote: SocketAddr,
    isn: u32,
    /// Bytes to send, and how many were pushed.
    pub total: u64,
    pub pushed: u64,
    /// The peer's window ends here.
    edge: u64,
    /// Bytes that came in order, how many of them were read, and how many fit.
    pub arrived: u64,
    read: u64,
    pub buffer: u64,
    /// The receive buffer that its window grows to.
    pub buffer_bytes: u64,
    /// How often the application reads all there is; none: at once.
    pub reads_every_ns: Option<i64>,
    next_read: Time,
    pub finished: bool,
    pub established: bool,
    pub gone: Option<Expired>,
    pub reset: bool,
}

/// The header of `emission` without options of a connection.
pub fn header(tcp: &mut Subflow, now: Time, emission: &Emission, window: u64) -> Tcp {
    let mut header = Tcp::BLANK;
    tcp.begin_header(now, emission, &mut header);
    tcp.finish_header(emission, window, &mut header);
    header
}

/// A segment on its way.
#[derive(Clone, Debug)]
pub struct Segment {
    pub tcp: Tcp,
    pub emission: Emission,
    /// What its packet says.
    pub ecn: Ecn,
}

/// What the pipe does with a segment: when it arrives, and when a second time.
pub type Fate = [Option<Time>; 2];

pub struct Pair {
    pub now: Time,
    pub hosts: [Host; 2],
    arrivals: BinaryHeap<Reverse<(Time, u64, usize)>>,
    segments: Vec<Option<Segment>>,
    free: Vec<usize>,
    order: u64,
    pub sent: u64,
    /// Of so many segments one is marked, if it can be; 0: none.
    pub marks_each: u64,
}

impl Host {
    pub fn new(settings: config::Tcp, client: bool, isn: u32) -> Host {
        let ends: [SocketAddr; 2] = ["10.0.0.1:1000".parse().unwrap(), "10.0.0.2:80".parse().unwrap()];
        let window = Window {
            cwnd_packets: 10.0,
            ssthresh_packets: f64::INFINITY,
            srtt_ns: None,
            min_rtt_ns: None,
            mss_bytes: 1000,
            recovering: false,
            usable: false,
        };
        Host {
            tcp: None,
            windows: [window],
            congestion: transport::congestion::build("reno", &Default::default()).unwrap(),
            settings,
            local: ends[usize::from(!client)],
            remote: ends[usize::from(client)],
            isn,
            total: 0,
            pushed: 0,
            edge: 0,
            arrived: 0,
            read: 0,
            buffer: 1 << 30,
            buffer_bytes: 0,
            reads_every_ns: None,
            next_read: Time::MAX,
            finished: false,
            established: false,
            gone: None,
            reset: false,
        }
    }

    pub fn tcp(&self) -> &Subflow {
        self.tcp.as_ref().unwrap()
    }

    pub fn with<T>(&mut self, act: impl FnOnce(&mut Subflow, &mut Control) -> T) -> Option<T> {
        let mut control = Control { congestion: &mut *self.congestion, windows: &mut self.windows, index: 0 };
        self.tcp.as_mut().map(|tcp| act(tcp, &mut control))
    }

    pub fn connect(&mut self, now: Time) {
        self.tcp = Some(Subflow::connect(now, &self.settings, self.local, self.remote, self.isn, 1500));
    }

    pub fn receive(&mut self, now: Time, segment: &Segment) {
        if self.tcp.is_none() {
            if segment.emission.kind != Kind::Syn {
                return;
            }
            let tcp = &segment.tcp;
            self.tcp = Some(Subflow::accept(now, &self.settings, self.local, self.remote, self.isn, 1500, tcp));
            return;
        }
        let len = segment.emission.len;
        let said = segment.tcp.options.brief();
        let room = Room { buffer_bytes: self.buffer_bytes, unread_bytes: 0, advertised_bytes: 0 };
        let receive = |tcp: &mut Subflow, control: &mut Control| {
            tcp.comes_as(segment.ecn);
            tcp.receive(now, &segment.tcp, &said, len, room, control)
        };
        let received = self.with(receive).unwrap();
        self.established |= received.established;
        self.reset |= received.reset;
        if !received.acceptable {
            assert_eq!(received.in_order, 0..0);
            return;
        }
        if received.in_order.start < received.in_order.end {
            assert_eq!(received.in_order.start, self.arrived + 1, "in order, once");
            self.arrived = received.in_order.end - 1;
        }
        assert!(!(received.finished && self.finished));
        self.finished |= received.finished;
        self.edge = self.edge.max(received.acked.max(1) - 1 + received.window_bytes);
        match self.reads_every_ns {
            None => self.read = self.arrived,
            Some(every) => self.next_read = self.next_read.min(now + every),
        }
    }

    fn write(&mut self, now: Time) {
        let Some(tcp) = self.tcp.as_mut() else { return };
        while self.pushed < self.total && tcp.can_send() && tcp.free_packets(&self.windows[0]) > 0 {
            let left = self.edge.saturating_sub(self.pushed).min(self.total - self.pushed);
            let len = left.min(u64::from(tcp.mss_bytes())) as u32;
            if len == 0 {
                break;
            }
            tcp.push(Piece { data_offset: self.pushed, len, data_fin: false, push: false });
            self.pushed += u64::from(len);
        }
        let blocked = self.pushed < self.total && self.pushed == self.edge;
        tcp.probe(now, tcp.can_send() && blocked && tcp.all_acknowledged());
        if self.pushed == self.total && tcp.can_send() {
            tcp.close();
        }
    }

    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        self.write(now);
        let window = self.buffer - (self.arrived - self.read);
        self.with(|tcp, control| {
            let emission = tcp.poll(now, false, control).or_else(|| tcp.poll_guess(now, control))?;
            let ecn = tcp.leaves_as(&emission);
            Some(Segment { tcp: header(tcp, now, &emission, window), emission, ecn })
        })?
    }

    pub fn deadline(&self) -> Time {
        self.tcp.as_ref().map_or(Time::MAX, Subflow::deadline).min(self.next_read)
    }

    pub fn timeout(&mut self, now: Time) {
        if self.next_read <= now {
            self.next_read = Time::MAX;
            if self.read < self.arrived {
                self.read = self.arrived;
                self.with(|tcp, _| tcp.acknowledge());
            }
        }
        while let Some(Some(expired)) = self.with(|tcp, control| tcp.timeout(now, control)) {
            if !matches!(expired, Expired::Timeout(_)) {
                self.gone = Some(expired);
            }
        }
    }

    pub fn state(&self) -> State {
        self.tcp.as_ref().map_or(State::Closed, Subflow::state)
    }
}

impl Pair {
    pub fn new(client: Host, server: Host) -> Pair {
        let now = Time::from_nanos(1_000_000_000_000);
        let mut pair = Pair {
            now,
            hosts: [client, server],
            arrivals: BinaryHeap::new(),
            segments: vec![],
            free: vec![],
            order: 0,
            sent: 0,
            marks_each: 0,
        };
        pair.hosts[0].connect(now);
        pair
    }

    /// One step of virtual time; `fate` decides what happens to each segment that host `from` sends.
    pub fn step(&mut self, fate: &mut impl FnMut(Time, usize, &Segment) -> Fate) -> bool {
        for from in 0..2 {
            while let Some(mut segment) = self.hosts[from].poll(self.now) {
                self.sent += 1;
                if segment.ecn == Ecn::Capable0 && self.sent.checked_rem(self.marks_each) == Some(0) {
                    segment.ecn = Ecn::CongestionExperienced;
                }
                check_counters(&self.hosts[from]);
                check_bytes(&segment);
                for at in fate(self.now, from, &segment).into_iter().flatten() {
                    let slot = self.free.pop().unwrap_or_else(|| {
                        self.segments.push(None);
                        self.segments.len() - 1
                    });
                    self.segments[slot] = Some(segment.clone());
                    self.order += 1;
                    self.arrivals.push(Reverse((at, self.order << 1 | (1 - from as u64), slot)));
                }
            }
        }
        let arrival = self.arrivals.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
        let deadlines = [self.hosts[0].deadline(), self.hosts[1].deadline()];
        let next = arrival.min(deadlines[0]).min(deadlines[1]);
        if next == Time::MAX {
            return false;
        }
        assert!(next >= self.now, "time goes forward");
        self.now = next;
        for (host, deadline) in self.hosts.iter_mut().zip(deadlines) {
            if deadline <= next {
                host.timeout(next);
                assert!(host.deadline() > next, "a deadline that came is over");
            }
        }
        if arrival <= next {
            let Reverse((_, order, slot)) = self.arrivals.pop().unwrap();
            let segment = self.segments[slot].take().unwrap();
            self.free.push(slot);
            self.hosts[(order & 1) as usize].receive(next, &segment);
        }
        true
    }

    pub fn both_closed(&self) -> bool {
        self.hosts.iter().all(|host| matches!(host.state(), State::Closed | State::TimeWait))
    }
}

/// Every counter of the flight is what a count of its records gives.
fn check_counters(host: &Host) {
    let tcp = host.tcp();
    let flight = tcp.flight();
    if flight.len() > 200 {
        return;
    }
    let count =
        |is: fn(&transport::recovery::scoreboard::Record) -> bool| flight.records().filter(|r| is(r)).count() as u32;
    assert_eq!(flight.sacked(), count(|r| r.sacked));
    assert_eq!(flight.lost(), count(|r| r.lost));
    assert_eq!(flight.waiting(), count(|r| r.lost && !r.resent));
    let in_network = count(|r| !r.sacked && !r.lost) + count(|r| r.resent);
    assert_eq!(flight.pipe(), in_network);
    assert!(flight.records().all(|r| !(r.sacked && (r.lost || r.resent))));
}

/// A segment carries the bytes that belong to its place, and fits the link.
fn check_bytes(segment: &Segment) {
    if let Some(piece) = segment.emission.piece {
        assert_eq!((piece.data_offset + 1, piece.len), (segment.emission.offset, segment.emission.len));
    }
    let header = 20 + 20 + segment.tcp.options.as_bytes().len() as u32;
    assert!(header + segment.emission.len <= 1500, "{segment:?}");
}
