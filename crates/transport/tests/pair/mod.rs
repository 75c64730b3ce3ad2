//! Two endpoints joined by paths with a delay, in virtual time.

use std::net::{IpAddr, SocketAddr};
use transport::{Config, ConnectionId, Endpoint, Event, Nic, Outcome};
use wire::{Content, Frame, Ip, L4, Options, Packet, Payload, Tcp, Time};

pub const PORT: u16 = 80;
const MS: i64 = 1_000_000;

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Client,
    Server,
}

/// What becomes of a packet under way; it may be altered.
pub type Middle = dyn FnMut(Time, End, Nic, &mut Packet) -> bool;

/// What an application that reads all has seen of its connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub connected: bool,
    pub read: u64,
    pub finished: bool,
    pub delivered: bool,
    pub outcome: Option<Outcome>,
}

pub struct Pair {
    pub now: Time,
    pub client: Endpoint,
    pub server: Endpoint,
    /// One-way delay of each path.
    delays_ns: Vec<i64>,
    flying: Vec<(Time, u64, End, Nic, Packet)>,
    sent: u64,
    pub middle: Box<Middle>,
    pub seen: [Seen; 2],
    /// What the client's connection, and the server's, still have to write.
    pub to_write: [u64; 2],
    /// Whether they finish after that.
    pub finish: [bool; 2],
    pub reading: [bool; 2],
    pub ids: [Option<ConnectionId>; 2],
    /// Every packet that was sent.
    pub log: Vec<(Time, End, Nic, Packet)>,
}

pub fn client_address(path: usize) -> IpAddr {
    IpAddr::from([10, 0, path as u8, 2])
}

pub fn server_address(n: usize) -> IpAddr {
    IpAddr::from([10, 9, n as u8, 1])
}

impl Pair {
    pub fn new(client: Config, server: Config, delays_ms: &[i64]) -> Pair {
        let now = Time::from_nanos(0);
        let mut client = Endpoint::new(client, 1);
        let mut server = Endpoint::new(server, 2);
        for path in 0..delays_ms.len() {
            client.address_up(now, Nic(path as u32), client_address(path), 1500);
        }
        server.address_up(now, Nic(0), server_address(0), 1500);
        server.listen(PORT);
        let id = client.connect(now, SocketAddr::new(client_address(0), 0), SocketAddr::new(server_address(0), PORT));
        Pair {
            now,
            client,
            server,
            delays_ns: delays_ms.iter().map(|ms| ms * MS).collect(),
            flying: Vec::new(),
            sent: 0,
            middle: Box::new(|_, _, _, _| true),
            seen: [Seen::default(), Seen::default()],
            to_write: [0, 0],
            finish: [true, true],
            reading: [true, true],
            ids: [Some(id), None],
            log: Vec::new(),
        }
    }

    fn end(&mut self, end: End) -> &mut Endpoint {
        match end {
            End::Client => &mut self.client,
            End::Server => &mut self.server,
        }
    }

    /// Lets both applications act and both endpoints send.
    fn work(&mut self) {
        for end in [End::Client, End::Server] {
            self.applications(end);
            let mut packet = blank();
            while let Some(nic) = {
                let now = self.now;
                self.end(end).transmit(now, &mut packet)
            } {
                let path = match end {
                    End::Client => nic,
                    End::Server => path_to(&packet),
                };
                self.log.push((self.now, end, path, packet.clone()));
                if (self.middle)(self.now, end, path, &mut packet) {
                    let at = self.now + self.delays_ns[path.0 as usize];
                    self.sent += 1;
                    self.flying.push((at, self.sent, end, path, packet.clone()));
                }
            }
        }
    }

    fn applications(&mut self, end: End) {
        let n = end as usize;
        let now = self.now;
        while let Some((id, event)) = self.end(end).event() {
            let seen = &mut self.seen[n];
            match event {
                Event::Accepted { .. } => self.ids[n] = Some(id),
                Event::Connected => seen.connected = true,
                Event::Finished => seen.finished = true,
                Event::Delivered => seen.delivered = true,
                Event::Closed(outcome) => seen.outcome = Some(outcome),
                Event::Readable | Event::Writable => {}
            }
        }
        let Some(id) = self.ids[n] else { return };
        if !self.seen[n].connected {
            return;
        }
        if self.reading[n] {
            self.seen[n].read += self.end(end).read(now, id, u64::MAX);
        }
        let bytes = self.to_write[n];
        self.to_write[n] -= self.end(end).write(id, bytes);
        if self.to_write[n] == 0 && std::mem::take(&mut self.finish[n]) {
            self.end(end).finish(now, id);
        }
    }

    /// Runs until nothing happens any more or `until_ms` is reached.
    pub fn run(&mut self, until_ms: i64) {
        let until = Time::from_nanos(until_ms * MS);
        loop {
            self.work();
            let timer = self.client.deadline().min(self.server.deadline());
            let arrival = self.flying.iter().map(|(at, sent, ..)| (*at, *sent)).min();
            let next = arrival.map_or(Time::MAX, |(at, _)| at).min(timer);
            if next > until || next == Time::MAX {
                self.now = until.max(self.now);
                return;
            }
            self.now = self.now.max(next);
            if let Some((at, sent)) = arrival
                && at <= timer
            {
                let place = self.flying.iter().position(|(_, other, ..)| *other == sent).unwrap();
                let (_, _, from, nic, packet) = self.flying.remove(place);
                let now = self.now;
                match from {
                    End::Client => self.server.handle(now, Nic(0), &packet),
                    End::Server => self.client.handle(now, nic, &packet),
                }
            } else {
                let now = self.now;
                self.client.timeout(now);
                self.server.timeout(now);
            }
        }
    }

    pub fn snapshot(&self, end: End) -> transport::Snapshot {
        let endpoint = if end == End::Client { &self.client } else { &self.server };
        endpoint.snapshot(self.ids[end as usize].unwrap()).unwrap()
    }
}

/// The path that leads to a packet's receiver.
fn path_to(packet: &Packet) -> Nic {
    match packet.frame.ip.destination {
        IpAddr::V4(address) => Nic(u32::from(address.octets()[2])),
        IpAddr::V6(_) => unreachable!("these pairs speak IPv4"),
    }
}

pub fn tcp(packet: &Packet) -> &Tcp {
    match &packet.frame.l4 {
        L4::Tcp(tcp) => tcp,
        other => panic!("{other:?}"),
    }
}

fn blank() -> Packet {
    let ip = Ip {
        source: client_address(0),
        destination: client_address(0),
        ttl: 0,
        tos: 0,
        id: 0,
        dont_fragment: true,
        fragment: None,
    };
    let tcp = Tcp {
        source_port: 0,
        destination_port: 0,
        seq: 0,
        ack: 0,
        flags: wire::Flags(0),
        window: 0,
        urgent: 0,
        options: Options::NONE,
    };
    let payload = Payload { len: 0, content: Content::Unsaid };
    Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload }, body: None }
}
