//! A connection (RFC 8684): several subflows, or one that is all there is.
//!
//! Streams are lengths: what is written at data offset `p` of a connection is the pattern at `p`.

mod addresses;
mod agreement;
mod close;
mod entry;
mod fallback;
mod held;
mod inbound;
mod mappings;
mod numbers;
mod open;
mod options;
mod own_window;
mod paths;
mod payload;
mod preface;
mod receive;
mod receive_rtt;
mod reported;
mod retransmit;
mod schedule;
mod scheduling;
mod send;
mod send_buffer;
mod signals;
mod window;

pub use open::Opening;
pub use open::reason::MPTCP_SPECIFIC;
pub use signals::Signals;

use crate::config::{Config, Join, ReceiveBuffer};
use crate::congestion::{self, Congestion, Window};
use crate::context::Context;
use crate::endpoint::{Nic, Outcome, Snapshot, SubflowSnapshot};
use crate::memory::Memory;
use crate::path_manager::{self, PathManager};
use crate::subflow::{Control, Emission, Expired, Kind, State, Subflow};
use addresses::Addresses;
use agreement::Agreement;
use entry::Entry;
use fallback::Fallback;
use preface::Preface;
use receive::Receive;
use reported::Reported;
use retransmit::Retransmission;
use scheduling::Scheduling;
use send::Send;
use std::net::SocketAddr;
use wire::{Packet, Payload, Time};

/// Subflows that a connection may have at one time: each has a bit.
const MOST_SUBFLOWS: usize = 32;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// MPTCP is offered or accepted, and the keys are not exchanged.
    Opening,
    /// MPTCP.
    Multipath,
    /// TCP: from the start, or fallen back to.
    Plain,
}

/// A connection.
///
/// It is driven as an endpoint is: [`handle`](Connection::handle) a segment, [`timeout`](Connection::timeout) at the deadline, then
/// [`transmit`](Connection::transmit) until there is nothing more, which is when [`deadline`](Connection::deadline) is right. Whatever
/// happens ends with `settle`, which closes what is over, asks TCP for the ACKs that carry MPTCP's signals, sets the timers and
/// reports to the application. The parts know nothing of each other:
///
/// - [`Agreement`]: version, keys, data sequence numbers; written by the handshake.
/// - [`Send`] and [`Receive`]: the data of both directions, which subflows get it and in what order it came.
/// - [`Entry`]: a subflow and what MPTCP adds to it. Its index also names its window, and never changes while it lives.
/// - [`Scheduling`] and [`Retransmission`]: where data goes, and when it goes again.
/// - [`Fallback`]: whether plain TCP is possible, and how its bytes lie once the mode is [`Mode::Plain`], which no other mode follows.
/// - [`Addresses`] and the path manager: what subflows there may be.
/// - [`Reported`]: what the application knows.
pub struct Connection {
    mode: Mode,
    agreed: Agreement,
    /// Whether this end opened it.
    client: bool,
    /// Both ends of the initial subflow.
    local: SocketAddr,
    remote: SocketAddr,

    send: Send,
    /// Short segments go at once (TCP_NODELAY).
    no_delay: bool,
    receive: Receive,
    /// Each subflow has a receive buffer of its own.
    own_windows: bool,
    entries: Vec<Entry>,
    windows: Vec<Window>,
    congestion: Box<dyn Congestion>,
    /// It goes by delivery rates.
    by_rate: bool,
    /// Its subflows send again without knowing that it was lost ([`Subflow::guesses`]).
    guesses: bool,
    scheduling: Scheduling,
    retransmission: Retransmission,
    path_manager: Box<dyn PathManager>,
    addresses: Addresses,

    fallback: Fallback,
    /// Opened here, with joins that do not wait for the keys.
    early: bool,
    /// The peer wants no further subflows to where the connection began.
    not_there: bool,
    /// How often the DATA_FIN went by itself without an answer.
    end_tries: u32,
    /// Subflows of which MP_PRIO is to tell whether they are backups, one bit each.
    prios: u64,
    /// Subflows that probe the peer's window, one bit each.
    probing: u64,
    reported: Reported,
    aborted: bool,
    over: Option<Outcome>,
    timers: Timers,
    corrupt_bytes: u64,
    preface: Preface,

    /// Subflows opened since the endpoint last looked.
    pub opened: Vec<usize>,
    /// How many joined so far.
    joined: u32,
    /// Subflows whose 4-tuples are free again.
    pub gone: Vec<(SocketAddr, SocketAddr)>,
}

/// Timers of the connection; those of subflows are theirs.
struct Timers {
    /// The DATA_FIN is sent again.
    end: Time,
    /// All that was sent is acknowledged by TCP and not by DATA_ACK: send it again.
    stall: Time,
    /// The path manager wants to be called.
    paths: Time,
    /// The connection without subflows is given up.
    orphaned: Time,
}

impl Timers {
    const NONE: Timers = Timers { end: Time::MAX, stall: Time::MAX, paths: Time::MAX, orphaned: Time::MAX };
}

impl Connection {
    fn new(ctx: &Context, opening: &Opening, mptcp: bool) -> Connection {
        let Config { tcp, mptcp: settings, congestion_control, congestion_parameters } = &ctx.config;
        let offered_mss_bytes = Subflow::offered_mss_bytes(tcp, opening.remote, opening.mtu_bytes);
        let memory = Memory::new(tcp, offered_mss_bytes);
        let policy = "the configuration was checked when the endpoint was made";
        let mut congestion = congestion::build(congestion_control, congestion_parameters).expect(policy);
        Connection {
            mode: if mptcp { Mode::Opening } else { Mode::Plain },
            agreed: Agreement::new(settings, opening.key),
            client: opening.client,
            local: opening.local,
            remote: opening.remote,
            send: Send::new(),
            no_delay: false,
            receive: Receive::new(memory, memory.first_window(offered_mss_bytes)),
            own_windows: settings.receive_buffer == ReceiveBuffer::PerSubflow,
            entries: Vec::new(),
            windows: Vec::new(),
            by_rate: congestion.by_rate().is_some(),
            congestion,
            guesses: !tcp.rack,
            scheduling: Scheduling::new(settings).expect(policy),
            retransmission: Retransmission::new(settings, ctx.ticks),
            path_manager: path_manager::build(&settings.path_manager).expect(policy),
            addresses: Addresses::new(opening.local.ip(), settings.version),
            fallback: Fallback::new(),
            early: opening.client && mptcp && settings.join == Join::Simultaneous,
            not_there: false,
            end_tries: 0,
            prios: 0,
            probing: 0,
            reported: Reported::default(),
            aborted: false,
            over: None,
            timers: Timers::NONE,
            corrupt_bytes: 0,
            preface: Preface::default(),
            opened: Vec::new(),
            joined: 0,
            gone: Vec::new(),
        }
    }

    /// Names the connection in the peer's MP_JOINs.
    pub fn local_token(&self) -> u32 {
        self.agreed.local_token()
    }

    /// Names the connection in joins that came before its peer could know our key; none before the keys are exchanged.
    pub fn remote_token(&self) -> Option<u32> {
        (self.mode == Mode::Multipath).then_some(self.agreed.remote_token())
    }

    /// Both ends of subflow `i`.
    pub fn tuple(&self, i: usize) -> (SocketAddr, SocketAddr) {
        (self.entries[i].tcp.local(), self.entries[i].tcp.remote())
    }

    /// Both ends of every subflow that there was.
    pub fn tuples(&self) -> impl Iterator<Item = (SocketAddr, SocketAddr)> + '_ {
        (0..self.entries.len()).map(|i| self.tuple(i))
    }

    /// Whether nothing of it is left: no subflow in TIME-WAIT, nothing to read.
    pub fn is_gone(&self) -> bool {
        let Some(outcome) = self.over else { return false };
        let read = outcome == Outcome::Aborted || self.receive.readable() == 0;
        read && self.entries.iter().all(|entry| entry.tcp.state() == State::Closed)
    }

    /// Calls into TCP with the subflow's windows.
    fn with<R>(&mut self, i: usize, call: impl FnOnce(&mut Entry, &mut Control) -> R) -> R {
        let mut control = Control { congestion: &mut *self.congestion, windows: &mut self.windows, index: i };
        call(&mut self.entries[i], &mut control)
    }

    /// The next packet to send: by which interface it goes, and whether others may follow. None: nothing to send now.
    ///
    /// Where nothing follows, who sends need not ask again.
    pub fn transmit(&mut self, now: Time, packet: &mut Packet) -> Option<(Nic, bool)> {
        let mut sent = None;
        loop {
            for i in 0..self.entries.len() {
                while self.entries[i].tcp.has_something() {
                    if let Some(nic) = sent {
                        return Some((nic, true));
                    }
                    let nagle = !self.no_delay && self.fills_windows();
                    let polled = self.with(i, |entry, control| entry.tcp.poll(now, nagle, control));
                    let Some(emission) = &polled else { break };
                    self.left(i, emission);
                    sent = self.fill(now, i, emission, packet);
                }
            }
            if !self.schedule(now) {
                self.rest(now);
                break;
            }
        }
        match sent {
            Some(nic) => Some((nic, self.guesses)),
            None if self.guesses => self.guess(now, packet).map(|nic| (nic, true)),
            None => None,
        }
    }

    /// Only now is it known that there is nothing new to send: a scheduler may give out data as late as a window has room.
    #[inline(never)] // nearly all have RACK
    fn guess(&mut self, now: Time, packet: &mut Packet) -> Option<Nic> {
        for i in 0..self.entries.len() {
            while self.entries[i].tcp.guesses()
                && let Some(emission) = self.with(i, |entry, control| entry.tcp.poll_guess(now, control))
            {
                if let Some(nic) = self.fill(now, i, &emission, packet) {
                    return Some(nic);
                }
            }
        }
        None
    }

    /// Makes a packet of what subflow `i` sends. Without its address the subflow speaks into the void, and nothing that it says
    /// counts as sent (tcp_retransmit_skb: what has no way is not made).
    #[inline(never)] // guesses are filled, too
    fn fill(&mut self, now: Time, i: usize, emission: &Emission, packet: &mut Packet) -> Option<Nic> {
        let nic = self.entries[i].nic?;
        let tcp = packet.frame.l4.to_tcp();
        self.entries[i].tcp.begin_header(now, emission, tcp);
        self.mptcp_options(now, i, emission, &mut tcp.options);
        let window = self.window(now, i);
        let owes = emission.piece.is_some() && self.owes(now, i);
        let entry = &mut self.entries[i];
        entry.tcp.finish_header(emission, window, tcp);
        if owes {
            entry.tcp.acknowledge();
        }
        packet.frame.ip = entry.ip;
        packet.frame.ip.set_ecn(entry.tcp.leaves_as(emission));
        packet.body = None;
        match &emission.piece {
            Some(piece) => self.preface.fill(piece, packet),
            None if emission.kind == Kind::Syn && !self.preface.in_syn.is_empty() && i == 0 => {
                self.preface.fill_syn(packet);
            }
            None => packet.frame.payload = Payload::unsaid(0),
        }
        entry.ip.id = entry.ip.id.wrapping_add(1);
        Some(nic)
    }

    /// When [`Connection::timeout`] is to be called.
    pub fn deadline(&self) -> Time {
        let timers = &self.timers;
        let mut deadline =
            timers.end.min(timers.stall).min(timers.paths).min(timers.orphaned).min(self.scheduling.deadline());
        deadline = deadline.min(self.retransmission.deadline());
        let announcement = self.addresses.deadline();
        if announcement < deadline && self.mode == Mode::Multipath && self.over.is_none() && self.announcer().is_some()
        {
            deadline = announcement;
        }
        for entry in &self.entries {
            deadline = deadline.min(entry.tcp.deadline());
            if let Some(join) = &entry.join
                && join.again < deadline
                && !entry.is_over()
            {
                deadline = join.again;
            }
        }
        deadline
    }

    /// The deadline has come.
    pub fn timeout(&mut self, now: Time, ctx: &mut Context) {
        for i in 0..self.entries.len() {
            while self.entries[i].tcp.deadline() <= now {
                match self.with(i, |entry, control| entry.tcp.timeout(now, control)) {
                    Some(Expired::Timeout(_)) if self.entries[i].closed.is_some() => {}
                    Some(Expired::Timeout(times)) => {
                        self.entries[i].timeouts = times;
                        if !self.retransmission.is_by_timer() {
                            self.reinject(i, false);
                        }
                        let timeout = path_manager::PathEvent::SubflowTimeout { subflow: i, timeouts: times };
                        self.tell_paths(now, timeout, ctx);
                    }
                    Some(Expired::GivenUp) => self.close_subflow(now, i, path_manager::Closed::TimedOut, ctx),
                    Some(Expired::Closed) => {}
                    None => break,
                }
            }
            self.expire_join(now, i, ctx);
        }
        self.expire(now, ctx);
        self.settle(now, ctx);
    }

    /// The fourth packet of a joined subflow does not come: the third was lost, or the subflow leads nowhere.
    fn expire_join(&mut self, now: Time, i: usize, ctx: &mut Context) {
        let entry = &mut self.entries[i];
        let Some(join) = entry.join.as_mut().filter(|join| join.again <= now) else { return };
        join.again = Time::MAX;
        if join.tries <= ctx.config.tcp.syn_retries {
            entry.tcp.acknowledge();
        } else {
            entry.tcp.abort();
            self.close_subflow(now, i, path_manager::Closed::TimedOut, ctx);
        }
    }

    /// The application writes up to `bytes`; says how many were taken.
    pub fn write(&mut self, bytes: u64) -> u64 {
        self.provide_memory();
        self.send.write(bytes, self.room_to_write(), self.fills_windows())
    }

    /// Whether short segments go at once, whatever else is on its way.
    pub fn set_no_delay(&mut self, no_delay: bool) {
        self.no_delay = no_delay;
    }

    /// The application reads up to `bytes`; says how many there were.
    pub fn read(&mut self, now: Time, bytes: u64, ctx: &mut Context) -> u64 {
        let read = self.receive.read(bytes);
        self.reported.read(self.receive.readable() > 0);
        if read > 0 {
            self.was_read(now);
            self.take_held_back(ctx);
        }
        read
    }

    /// Bytes that can be read.
    pub fn readable(&self) -> u64 {
        self.receive.readable()
    }

    /// What can be seen of it.
    pub fn snapshot(&self) -> Snapshot {
        let subflows = self.entries.iter().enumerate().filter(|(_, entry)| entry.closed.is_none());
        Snapshot {
            mptcp: self.mode == Mode::Multipath,
            unacknowledged_bytes: self.send.unacknowledged(),
            peer_window_bytes: self.send.window(),
            out_of_order_bytes: self.receive.out_of_order(),
            receive_buffer_bytes: self.receive.memory().bytes(),
            corrupt_bytes: self.corrupt_bytes,
            subflows: subflows
                .map(|(i, entry)| SubflowSnapshot {
                    local: entry.tcp.local(),
                    remote: entry.tcp.remote(),
                    path: entry.tcp.is_established().then(|| self.view(i)),
                    timeout_ns: entry.tcp.rto_ns(),
                    backoffs: entry.tcp.timeouts(),
                    retransmitted_packets: entry.tcp.retransmitted_packets(),
                    scheduled_bytes: entry.scheduled_bytes,
                })
                .collect(),
        }
    }
}

/// Positions of the bits.
fn each_of(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let i = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(i)
    })
}
