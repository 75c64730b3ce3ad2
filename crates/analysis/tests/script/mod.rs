//! Packet scripts: one line, one segment. They become real packets, which are read back and analysed.
//!
//! ```text
//! # ms     from        flags seq  ack  len  options
//!   0      client wifi S     0    0    0    mp_capable
//!   20     server wifi SA    0    1    0    mp_capable
//!   20     client wifi A     1    1    0    mp_capable
//!   25     server wifi A     1    1    1000 dss(1 1 1000, ack 1)
//! ```
//!
//! - *ms*: when it passed the capture, in milliseconds. `10|30`: 10 at the client's, 30 at the server's; `-` is nowhere.
//! - *from*: who sends, and the path, which also names the client's interface.
//! - *flags*: letters of S, A, F, R, P, E (ECE), C (CWR).
//! - *seq*, *ack*: relative as in Wireshark: the SYN is 0, the first byte 1. Negative ones lie before.
//! - *len*: payload.
//!
//! | option | |
//! |---|---|
//! | `mp_capable` | in the form that flags and payload ask for; `mp_capable(checksum)` wants DSS checksums |
//! | `join(ID)` | MP_JOIN in the form that the flags ask for; `join(ID backup)`; `join(ID wrong)` has a wrong HMAC |
//! | `dss(DSN SSN LEN, ack DSN)` | data sequence numbers are relative too: the first byte is 1; with 8 bytes each |
//! | `dss4(…)` | the same with 4 bytes each |
//! | `dss(fin DSN)` | DATA_FIN alone; `dss(DSN SSN LEN fin)`: with data, which `LEN` counts without it |
//! | `dss(DSN SSN 0)` | the infinite mapping |
//! | `add_addr(ID ADDRESS[:PORT])`, `add_addr(ID ADDRESS echo)`, `add_addr(ID ADDRESS wrong)` | |
//! | `remove_addr(ID …)`, `prio(backup)`, `prio(regular)`, `fail(DSN)`, `fastclose`, `tcprst(REASON)` | |
//! | `mss(N)`, `ws(N)`, `ts(N)` | a SYN has `mss(1460)` if it says nothing else |
//! | `sack(LEFT RIGHT)` | a block, relative as `ack` is |
//! | `win(N)` | the window field, else 60000 |
//! | `ttl(N)`, `id(N)`, `tos(N)` | time to live, else 64; IP identification, else the number of the packet; type of service |
//! | `cut(N)` | the capture holds so many bytes of the options |
//! | `copy(INTERFACE MS)` | the capture shows the packet once more, so much later, on another interface |

#![allow(dead_code, unused_imports, reason = "each test uses a part")]

mod frame;
mod line;
mod results;

use analysis::{Analysis, Options};
use line::Line;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use tables::Tables;
use wire::mptcp::crypto;
use wire::{Flags, Frame, Ip, L4, Observation, Payload, Point, PointId, Tcp, Time};

pub use results::*;
pub use tables::Direction::{Down, Up};

/// Time 0 of scripts.
pub const EPOCH_NS: i64 = 1_700_000_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    Client,
    Server,
}

use Host::{Client, Server};

/// A connection: what its hosts have chosen.
#[derive(Clone, Debug)]
pub struct Script {
    pub version: u8,
    /// Keys of client and server.
    pub keys: [u64; 2],
    /// Data sequence numbers that relative 0 stands for, where they do not follow from the keys.
    pub data_bases: Option<[u64; 2]>,
    /// Initial sequence numbers per path, of client and server; others are made up.
    pub initial: BTreeMap<&'static str, [u32; 2]>,
    /// Where a script gives one time only, the capture was taken here.
    pub captured_at: Host,
    /// Addresses of paths, client's and server's, else made up in the order of paths.
    pub addresses: BTreeMap<&'static str, [SocketAddr; 2]>,
    /// What the server sees instead of the client's address, where a NAT translates.
    pub nat: BTreeMap<&'static str, SocketAddr>,
    /// Ahead of the client's clock, nanoseconds.
    pub server_clock_ns: i64,
    /// The capture says which way packets went.
    pub directions: bool,
    /// The client's interfaces have a file each.
    pub file_per_interface: bool,
    /// Tells scripts of one laboratory apart.
    pub number: u16,
}

/// A packet where a capture showed it.
#[derive(Clone, Debug)]
pub struct Captured {
    pub host: Host,
    /// Name of the file, of which there is one per host or per interface.
    pub file: String,
    pub interface: String,
    pub observation: Observation,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            version: 1,
            keys: [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210],
            data_bases: None,
            initial: BTreeMap::new(),
            captured_at: Client,
            addresses: BTreeMap::new(),
            nat: BTreeMap::new(),
            server_clock_ns: 0,
            directions: false,
            file_per_interface: false,
            number: 0,
        }
    }
}

impl Script {
    pub fn at(host: Host) -> Self {
        Script { captured_at: host, ..Script::default() }
    }

    /// One of several connections in a laboratory.
    pub fn numbered(number: u16) -> Self {
        let default = Script::default();
        Script { number, keys: default.keys.map(|key| key ^ u64::from(number) << 32), ..default }
    }

    pub fn token(&self, host: Host) -> u32 {
        crypto::token(self.version, self.keys[host as usize])
    }

    /// Runs the script alone, sample tables filled.
    pub fn run(&self, text: &str) -> Tables {
        analyze(self.packets(text))
    }

    /// The packets that a script's lines stand for, in the order of the lines.
    pub fn packets(&self, text: &str) -> Vec<Captured> {
        let mut paths = Vec::new();
        let mut packets = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let line = Line::parse(line).unwrap_or_else(|why| panic!("line {number}: {why}: {line}"));
            if !paths.contains(&line.path) {
                paths.push(line.path.clone());
            }
            let index = paths.iter().position(|path| *path == line.path).expect("just pushed") as u8;
            self.capture(&line, index, packets.len() as u16, &mut packets);
        }
        packets
    }

    fn capture(&self, line: &Line, path: u8, id: u16, packets: &mut Vec<Captured>) {
        for (host, at) in line.times(self.captured_at) {
            let frame = self.frame(line, path, id, host);
            let clock = if host == Server { self.server_clock_ns } else { 0 };
            let interface = if host == Client { line.path.clone() } else { "eth0".to_owned() };
            let file = match host {
                Client if self.file_per_interface => format!("client-{interface}"),
                Client => "client".to_owned(),
                Server => "server".to_owned(),
            };
            let direction =
                if line.from == host { wire::CaptureDirection::Outbound } else { wire::CaptureDirection::Inbound };
            let observation = Observation {
                at: Time::from_nanos(EPOCH_NS + clock + at),
                point: PointId(0),
                direction: self.directions.then_some(direction),
                record: 0,
                captured: 128,
                frame,
            };
            let captured = Captured { host, file, interface, observation };
            packets.push(captured.clone());
            for (interface, later) in &line.copies {
                let observation = Observation { at: observation.at + *later, ..observation };
                packets.push(Captured { interface: interface.clone(), observation, ..captured.clone() });
            }
        }
    }

    /// The addresses of a path, client's and server's, as a host sees them.
    fn addresses(&self, name: &str, path: u8, host: Host) -> [SocketAddr; 2] {
        let made_up = || {
            let [high, low] = self.number.to_be_bytes();
            let client = IpAddr::from([10, low, path + 1, high + 1]);
            let server = IpAddr::from([10, 255, 0, 1]);
            [SocketAddr::new(client, 5000 + u16::from(path)), SocketAddr::new(server, 443)]
        };
        let [client, server] = self.addresses.get(name).copied().unwrap_or_else(made_up);
        match self.nat.get(name) {
            Some(outside) if host == Server => [*outside, server],
            _ => [client, server],
        }
    }

    fn initial(&self, name: &str, path: u8, host: Host) -> u32 {
        let made_up = || {
            let one = (1_000_000 * (u32::from(path) + 1)).wrapping_add(10_000_019 * u32::from(self.number));
            [one, one.wrapping_add(500_000)]
        };
        self.initial.get(name).copied().unwrap_or_else(made_up)[host as usize]
    }

    fn data_base(&self, host: Host) -> u64 {
        let of_key = || crypto::initial_data_seq(self.version, self.keys[host as usize]);
        self.data_bases.map_or_else(of_key, |bases| bases[host as usize])
    }
}

impl Host {
    pub fn other(self) -> Host {
        match self {
            Client => Server,
            Server => Client,
        }
    }
}

/// A packet made without a script, for those by the million.
pub fn segment(
    at_ns: i64,
    [source, destination]: [SocketAddr; 2],
    flags: Flags,
    (seq, ack, len): (u32, u32, u32),
    options: wire::Options,
) -> Observation {
    let ip = Ip {
        source: source.ip(),
        destination: destination.ip(),
        ttl: 64,
        tos: 0,
        id: 0,
        dont_fragment: true,
        fragment: None,
    };
    let tcp = Tcp {
        source_port: source.port(),
        destination_port: destination.port(),
        seq,
        ack,
        flags,
        window: 60_000,
        urgent: 0,
        options,
    };
    Observation {
        at: Time::from_nanos(EPOCH_NS.saturating_add(at_ns)),
        point: PointId(0),
        direction: None,
        record: 0,
        captured: 128,
        frame: Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(len) },
    }
}

/// Analyses captures, sample tables filled. Files have the order in which they come first.
pub fn analyze(packets: Vec<Captured>) -> Tables {
    analyze_with(Options { samples: true, ..Options::default() }, packets)
}

/// Analyses captures: packets in order of time, numbered per file as Wireshark would.
pub fn analyze_with(options: Options, mut packets: Vec<Captured>) -> Tables {
    let files: Vec<String> = packets.iter().map(|packet| packet.file.clone()).collect();
    packets.sort_by_key(|packet| packet.observation.at);
    observe(options, &files, &packets)
}

/// Analyses packets as they come, files numbered in the order of `files`.
pub fn observe(options: Options, order: &[String], packets: &[Captured]) -> Tables {
    let mut files: Vec<(String, u64)> = Vec::new();
    let file_of = |files: &mut Vec<(String, u64)>, name: &str| {
        files.iter().position(|(file, _)| file == name).unwrap_or_else(|| {
            files.push((name.to_owned(), 0));
            files.len() - 1
        })
    };
    order.iter().for_each(|file| {
        file_of(&mut files, file);
    });
    let mut analysis = Analysis::new(options);
    let mut points: Vec<(usize, String)> = Vec::new();
    // As when captures are read: each is opened before the first packet is given.
    let firsts: Vec<_> = order.iter().filter_map(|file| packets.iter().find(|packet| packet.file == *file)).collect();
    for (packet, opening) in firsts.into_iter().map(|packet| (packet, true)).chain(packets.iter().map(|p| (p, false))) {
        let site = file_of(&mut files, &packet.file);
        let interface = (site, packet.interface.clone());
        let point = points.iter().position(|point| *point == interface).unwrap_or_else(|| {
            let (site, name) = interface.clone();
            analysis.add_point(Point { capture: packet.file.clone(), site: site as u32, interface: name });
            points.push(interface);
            points.len() - 1
        });
        if opening {
            continue;
        }
        files[site].1 += 1;
        analysis.observe(&Observation { point: PointId(point as u32), record: files[site].1, ..packet.observation });
    }
    analysis.finish()
}
