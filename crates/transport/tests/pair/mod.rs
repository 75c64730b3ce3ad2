//! Two endpoints joined by paths with a delay, in virtual time.

use std::net::{IpAddr, SocketAddr};
use transport::{Config, ConnectionId, Endpoint, Event, Nic, Outcome};
use wire::{Content, Frame, Ip, L4, Options, Packet, Payload, Tcp, Time};

pub const PORT: u16 = 80;
const MS: i64 = 1_000_000;

/// Settings of a host that joins every pair of addresses by itself and whose policies are the simplest.
pub fn meshed() -> Config {
    let mut config = Config { congestion_control: "cubic".into(), ..Config::default() };
    config.mptcp.scheduler = "lowest-rtt".into();
    config.mptcp.path_manager.name = "full-mesh".into();
    config.mptcp.path_manager.max_subflows = 8;
    config.mptcp.path_manager.max_add_addr_accepted = 8;
    config
}

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Client,
    Server,
}

/// What becomes of a packet under way: how much later than its path has it each copy arrives; it may be altered.
pub type Middle = dyn FnMut(Time, End, Nic, &mut Packet) -> Vec<i64>;

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The client loses the address of a path.
    Down(usize),
    /// The client has it.
    Up(usize),
    /// An application stops reading.
    Pause(End),
    /// And goes on.
    Resume(End),
}

/// What an application that reads all has seen of its connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub connected: bool,
    pub read: u64,
    pub finished: bool,
    pub delivered: bool,
    pub outcome: Option<Outcome>,
    /// Bytes that were not the pattern.
    pub corrupt: u64,
}

pub struct Pair {
    pub now: Time,
    pub client: Endpoint,
    pub server: Endpoint,
    /// One-way delay of each path.
    delays_ns: Vec<i64>,
    flying: Vec<(Time, u64, End, Nic, Packet)>,
    sent: u64,
    steps: u64,
    pub middle: Box<Middle>,
    pub seen: [Seen; 2],
    /// What the client's connection, and the server's, still have to write.
    pub to_write: [u64; 2],
    /// Whether they finish after that.
    pub finish: [bool; 2],
    reading: [bool; 2],
    /// In order of time.
    pub acts: Vec<(Time, Act)>,
    /// Paths whose interface the client lacks.
    down: Vec<usize>,
    v6: bool,
    pub ids: [Option<ConnectionId>; 2],
    /// Every packet that was sent.
    pub log: Vec<(Time, End, Nic, Packet)>,
}

/// MTU of all interfaces.
pub const MTU_BYTES: u32 = 1500;

fn client_address(path: usize, v6: bool) -> IpAddr {
    match v6 {
        false => IpAddr::from([10, 0, path as u8, 2]),
        true => IpAddr::from([0xfd00, 0, path as u16, 0, 0, 0, 0, 2]),
    }
}

fn server_address(n: usize, v6: bool) -> IpAddr {
    match v6 {
        false => IpAddr::from([10, 9, n as u8, 1]),
        true => IpAddr::from([0xfd00, 9, n as u16, 0, 0, 0, 0, 1]),
    }
}

impl Pair {
    /// Over IPv4, to a server with one address.
    pub fn new(client: Config, server: Config, delays_ms: &[i64]) -> Pair {
        Pair::with(client, server, delays_ms, false, 1)
    }

    pub fn with(client: Config, server: Config, delays_ms: &[i64], v6: bool, server_addresses: usize) -> Pair {
        let now = Time::from_nanos(0);
        let mut client = Endpoint::new(client, 1);
        let mut server = Endpoint::new(server, 2);
        for path in 0..delays_ms.len() {
            client.address_up(now, Nic(path as u32), client_address(path, v6), MTU_BYTES);
        }
        for n in 0..server_addresses {
            server.address_up(now, Nic(0), server_address(n, v6), MTU_BYTES);
        }
        server.listen(PORT);
        let (local, remote) = (client_address(0, v6), server_address(0, v6));
        let id = client.connect(now, SocketAddr::new(local, 0), SocketAddr::new(remote, PORT));
        Pair {
            now,
            client,
            server,
            delays_ns: delays_ms.iter().map(|ms| ms * MS).collect(),
            flying: Vec::new(),
            sent: 0,
            steps: 0,
            middle: Box::new(|_, _, _, _| vec![0]),
            seen: [Seen::default(), Seen::default()],
            to_write: [0, 0],
            finish: [true, true],
            reading: [true, true],
            acts: Vec::new(),
            down: Vec::new(),
            v6,
            ids: [Some(id), None],
            log: Vec::new(),
        }
    }

    /// Opens another connection, of which nothing is seen yet.
    pub fn again(&mut self) {
        let (local, remote) = (client_address(0, self.v6), server_address(0, self.v6));
        let id = self.client.connect(self.now, SocketAddr::new(local, 0), SocketAddr::new(remote, PORT));
        (self.ids, self.seen, self.finish) = ([Some(id), None], Default::default(), [true, true]);
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
                assert!(self.log.len() < 100_000, "no end of packets at {:?}", self.now);
                if self.down.contains(&(path.0 as usize)) {
                    continue;
                }
                for later_ns in (self.middle)(self.now, end, path, &mut packet) {
                    let at = self.now + self.delays_ns[path.0 as usize] + later_ns;
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
            // A SYN whose MP_JOIN was stripped opens another connection, which its client refuses; it may come first.
            if event == Event::Connected && !self.seen[n].connected {
                self.ids[n] = Some(id);
            }
            if *self.ids[n].get_or_insert(id) != id {
                continue;
            }
            let seen = &mut self.seen[n];
            match event {
                Event::Connected => seen.connected = true,
                Event::Finished => {
                    seen.finished = true;
                    let endpoint = if n == 0 { &self.client } else { &self.server };
                    self.seen[n].corrupt = endpoint.snapshot(id).map_or(0, |snapshot| snapshot.corrupt_bytes);
                }
                Event::Delivered => seen.delivered = true,
                Event::Closed(outcome) => seen.outcome = Some(outcome),
                Event::Accepted { .. }
                | Event::Spent { .. }
                | Event::Probe { .. }
                | Event::Decided { .. }
                | Event::Readable
                | Event::Writable => {}
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
            let act = self.acts.first().map_or(Time::MAX, |&(at, _)| at);
            let next = arrival.map_or(Time::MAX, |(at, _)| at).min(timer).min(act);
            self.steps += 1;
            assert!(self.steps < 300_000, "time stands still at {:?}", self.now);
            if next > until || next == Time::MAX {
                self.now = until.max(self.now);
                return;
            }
            self.now = self.now.max(next);
            if act == next {
                let (_, act) = self.acts.remove(0);
                self.act(act);
            } else if let Some((at, sent)) = arrival
                && at <= timer
            {
                let index = self.flying.iter().position(|(_, other, ..)| *other == sent).unwrap();
                let (_, _, from, nic, packet) = self.flying.remove(index);
                let now = self.now;
                if self.down.contains(&(nic.0 as usize)) {
                    continue;
                }
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

    fn act(&mut self, act: Act) {
        let (now, v6) = (self.now, self.v6);
        match act {
            Act::Down(path) => {
                self.down.push(path);
                self.client.address_down(now, client_address(path, v6));
            }
            Act::Up(path) => {
                self.down.retain(|&down| down != path);
                self.client.address_up(now, Nic(path as u32), client_address(path, v6), MTU_BYTES);
            }
            Act::Pause(end) => self.reading[end as usize] = false,
            Act::Resume(end) => self.reading[end as usize] = true,
        }
    }
}

/// The path that leads to a packet's receiver.
fn path_to(packet: &Packet) -> Nic {
    match packet.frame.ip.destination {
        IpAddr::V4(address) => Nic(u32::from(address.octets()[2])),
        IpAddr::V6(address) => Nic(u32::from(address.segments()[2])),
    }
}

pub fn tcp(packet: &Packet) -> &Tcp {
    match &packet.frame.l4 {
        L4::Tcp(tcp) => tcp,
        other => panic!("{other:?}"),
    }
}

pub fn blank() -> Packet {
    let ip = Ip {
        source: client_address(0, false),
        destination: client_address(0, false),
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
