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

use analysis::{Analysis, Options};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use tables::{Direction, Event, Flow, Subflow, Tables, Transfer};
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
    crypto,
};
use wire::{Flags, Frame, Ip, L4, Observation, Payload, Point, PointId, Tcp, TcpOption, Time};

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
            let way =
                if line.from == host { wire::CaptureDirection::Outbound } else { wire::CaptureDirection::Inbound };
            let observation = Observation {
                at: Time::from_nanos(EPOCH_NS + clock + at),
                point: PointId(0),
                direction: self.directions.then_some(way),
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

    /// The packet as bytes, read back.
    fn frame(&self, line: &Line, path: u8, id: u16, seen_by: Host) -> Frame {
        let [client, server] = self.addresses(&line.path, path, seen_by);
        let (source, destination) = if line.from == Client { (client, server) } else { (server, client) };
        let initial = |host| self.initial(&line.path, path, host);
        let mut options = wire::Options::NONE;
        let mut push = |option: TcpOption| options.push(&option).expect("options fit");
        if line.flags.has(Flags::SYN) && !line.has("mss") {
            push(TcpOption::MaximumSegmentSize(1460));
        }
        for (name, arguments) in &line.options {
            self.option(line, path, name, arguments, &mut push);
        }
        let ack = if line.flags.has(Flags::ACK) { initial(line.from.other()).wrapping_add(line.ack as u32) } else { 0 };
        let frame = Frame {
            ip: Ip {
                source: source.ip(),
                destination: destination.ip(),
                ttl: line.number("ttl").unwrap_or(64) as u8,
                tos: line.number("tos").unwrap_or(0) as u8,
                id: if source.is_ipv4() { line.number("id").map_or(id, |id| id as u16) } else { 0 },
                dont_fragment: true,
                fragment: None,
            },
            l4: L4::Tcp(Tcp {
                source_port: source.port(),
                destination_port: destination.port(),
                seq: initial(line.from).wrapping_add(line.seq as u32),
                ack,
                flags: line.flags,
                window: line.window,
                urgent: 0,
                options,
            }),
            payload: Payload::unsaid(line.len),
        };
        let mut bytes = Vec::new();
        frame.emit(&[], &mut bytes).expect("a packet");
        let whole = bytes.len() as u32;
        let read = Frame::parse(&bytes, whole + line.len).expect("what was written");
        assert_eq!(read, frame, "read back as written");
        let Some((_, cut)) = line.options.iter().find(|(name, _)| name == "cut") else { return read };
        let headers = if source.is_ipv4() { 40 } else { 60 };
        let captured = &bytes[..headers + cut.parse::<usize>().expect("a number")];
        Frame::parse(captured, whole + line.len).expect("a cut packet")
    }

    fn option(&self, line: &Line, path: u8, name: &str, arguments: &str, push: &mut impl FnMut(TcpOption)) {
        let words: Vec<&str> = arguments.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let has = |word: &str| words.contains(&word);
        let number = |index: usize| -> u64 {
            let word = words.get(index).unwrap_or_else(|| panic!("{name} lacks argument {index}"));
            word.parse().unwrap_or_else(|_| panic!("{name}: {word} is not a number"))
        };
        let key = |host: Host| self.keys[host as usize];
        let mut mptcp = |option: Mptcp| push(TcpOption::Mptcp(option));
        match name {
            "mss" => push(TcpOption::MaximumSegmentSize(number(0) as u16)),
            "ws" => push(TcpOption::WindowScale(number(0) as u8)),
            "ts" => push(TcpOption::Timestamps { value: number(0) as u32, echo: 0 }),
            "sack" => {
                let edge = |index| self.initial(&line.path, path, line.from.other()).wrapping_add(number(index) as u32);
                push(TcpOption::Sack(wire::SackBlocks::new(&[(edge(0), edge(1))])));
            }
            "win" | "copy" | "cut" | "ttl" | "id" | "tos" => {}
            "mp_capable" => {
                let syn = line.flags.has(Flags::SYN);
                let opens = syn && !line.flags.has(Flags::ACK);
                mptcp(Mptcp::Capable(MpCapable {
                    version: self.version,
                    flags: if has("checksum") { 0x81 } else { 0x01 },
                    sender_key: (!opens || self.version == 0).then(|| key(line.from)),
                    receiver_key: (!syn).then(|| key(line.from.other())),
                    data_len: (!syn && line.len > 0).then_some(line.len as u16),
                    checksum: None,
                }));
            }
            "join" => mptcp(Mptcp::Join(self.join(line, path, number(0) as u8, has))),
            "dss" | "dss4" => mptcp(Mptcp::Dss(self.dss(line, &words, name == "dss"))),
            "add_addr" => {
                let (address, port) = match words[1].parse::<SocketAddr>() {
                    Ok(both) => (both.ip(), Some(both.port())),
                    Err(_) => (words[1].parse().expect("an address"), None),
                };
                let (id, own, peer) = (number(0) as u8, key(line.from), key(line.from.other()));
                let hmac = crypto::add_addr_hmac(own, peer, id, address, port) ^ u64::from(has("wrong"));
                mptcp(Mptcp::AddAddr(AddAddr {
                    version: self.version,
                    echo: has("echo"),
                    address_id: id,
                    address,
                    port,
                    hmac: (self.version == 1 && !has("echo")).then_some(hmac),
                }));
            }
            "remove_addr" => {
                let ids: Vec<u8> = (0..words.len()).map(|index| number(index) as u8).collect();
                mptcp(Mptcp::RemoveAddr(RemoveAddr::new(&ids).expect("identifiers")));
            }
            "prio" => mptcp(Mptcp::Prio(MpPrio { backup: has("backup"), address_id: None })),
            "fail" => {
                mptcp(Mptcp::Fail(MpFail { data_seq: self.data_base(line.from.other()).wrapping_add(number(0)) }))
            }
            "fastclose" => mptcp(Mptcp::FastClose(MpFastClose { receiver_key: key(line.from.other()) })),
            "tcprst" => mptcp(Mptcp::TcpRst(MpTcpRst { flags: 0, reason: number(0) as u8 })),
            _ => panic!("no option {name}"),
        }
    }

    /// MP_JOIN (RFC 8684 §3.2).
    fn join(&self, line: &Line, path: u8, address_id: u8, has: impl Fn(&str) -> bool) -> MpJoin {
        let (backup, wrong, anew) = (has("backup"), has("wrong"), 5 * u32::from(has("anew")));
        let nonce = |host: Host| {
            77_000
                + 100 * u32::from(self.number)
                + 10 * u32::from(path)
                + host as u32
                + if host == line.from { anew } else { 0 }
        };
        let party = |host: Host| crypto::Party { key: self.keys[host as usize], nonce: nonce(host) };
        let (sender, receiver) = (party(line.from), party(line.from.other()));
        match (line.flags.has(Flags::SYN), line.flags.has(Flags::ACK)) {
            (true, false) => {
                let token = self.token(line.from.other());
                MpJoin::Syn { backup, address_id, token, nonce: nonce(line.from) }
            }
            (true, true) => {
                let hmac = crypto::join_syn_ack_hmac(self.version, sender, receiver) ^ u64::from(wrong);
                MpJoin::SynAck { backup, address_id, hmac, nonce: nonce(line.from) }
            }
            _ => {
                let mut hmac = crypto::join_ack_hmac(self.version, sender, receiver);
                hmac[0] ^= u8::from(wrong);
                MpJoin::Ack { hmac }
            }
        }
    }

    fn dss(&self, line: &Line, words: &[&str], long: bool) -> Dss {
        let number = |host: Host, relative: &str| {
            let relative: u64 = relative.parse().unwrap_or_else(|_| panic!("{relative} is not a number"));
            let number = self.data_base(host).wrapping_add(relative);
            if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
        };
        let mut dss = Dss::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut next = || words.next().expect("another argument");
            match word {
                "ack" => dss.data_ack = Some(number(line.from.other(), next())),
                "fin" => {
                    dss.data_fin = true;
                    match &mut dss.mapping {
                        Some(mapping) => mapping.len += 1,
                        // RFC 8684 §3.3.3: alone, it has subflow sequence number 0 and length 1.
                        None => {
                            let data_seq = number(line.from, next());
                            dss.mapping = Some(Mapping { data_seq, subflow_seq: 0, len: 1, checksum: None });
                        }
                    }
                }
                data_seq => {
                    let data_seq = number(line.from, data_seq);
                    let (subflow_seq, len) = (next().parse().expect("a number"), next().parse().expect("a number"));
                    dss.mapping = Some(Mapping { data_seq, subflow_seq, len, checksum: None });
                }
            }
        }
        dss
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

/// A line, taken apart.
#[derive(Debug)]
struct Line {
    /// Time at each host, if one is given: nanoseconds.
    times: [Option<i64>; 2],
    /// One time was given, for the host that captures.
    one_time: bool,
    from: Host,
    path: String,
    flags: Flags,
    seq: i64,
    ack: i64,
    len: u32,
    window: u16,
    options: Vec<(String, String)>,
    copies: Vec<(String, i64)>,
}

impl Line {
    fn parse(line: &str) -> Result<Line, String> {
        let mut rest = line;
        let mut word = || {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            rest = after.trim_start();
            if word.is_empty() { Err("too short".to_owned()) } else { Ok(word) }
        };
        let time = |text: &str| -> Result<Option<i64>, String> {
            match text {
                "-" => Ok(None),
                ms => Ok(Some((ms.parse::<f64>().map_err(|_| format!("time {ms}"))? * 1e6).round() as i64)),
            }
        };
        let (times, one_time) = match word()?.split_once('|') {
            Some((client, server)) => ([time(client)?, time(server)?], false),
            None => {
                let only = time(line.split_whitespace().next().expect("a word"))?;
                ([only, only], true)
            }
        };
        let from = match word()? {
            "client" => Client,
            "server" => Server,
            other => return Err(format!("{other} is neither client nor server")),
        };
        let path = word()?.to_owned();
        let mut flags = Flags::default();
        for letter in word()?.chars() {
            flags = flags.with(match letter {
                'S' => Flags::SYN,
                'A' => Flags::ACK,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                'E' => Flags::ECE,
                'C' => Flags::CWR,
                other => return Err(format!("flag {other}")),
            });
        }
        let mut number = || word()?.parse::<i64>().map_err(|error| error.to_string());
        let (seq, ack, len) = (number()?, number()?, number()?);
        let options = options(rest)?;
        let window = match options.iter().find(|(name, _)| name == "win") {
            Some((_, value)) => value.parse().map_err(|_| "window")?,
            None => 60_000,
        };
        let copies = options.iter().filter(|(name, _)| name == "copy").map(|(_, arguments)| {
            let (interface, ms) = arguments.split_once(' ').expect("copy(INTERFACE MS)");
            (interface.to_owned(), (ms.parse::<f64>().expect("a time") * 1e6) as i64)
        });
        let copies = copies.collect();
        Ok(Line { times, one_time, from, path, flags, seq, ack, len: len as u32, window, options, copies })
    }

    fn number(&self, option: &str) -> Option<u32> {
        let (_, value) = self.options.iter().find(|(name, _)| name == option)?;
        Some(value.parse().expect("a number"))
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }

    /// Where it was seen, and when.
    fn times(&self, captured_at: Host) -> Vec<(Host, i64)> {
        let hosts = [Client, Server].into_iter().filter(|host| !self.one_time || *host == captured_at);
        hosts.filter_map(|host| Some((host, self.times[host as usize]?))).collect()
    }
}

/// `name(arguments) name …`
fn options(mut rest: &str) -> Result<Vec<(String, String)>, String> {
    let mut options = Vec::new();
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let name_len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at(name_len);
        let (arguments, after) = match after.strip_prefix('(') {
            Some(inner) => inner.split_once(')').ok_or("an option that does not end")?,
            None => ("", after),
        };
        options.push((name.to_owned(), arguments.to_owned()));
        rest = after;
    }
    Ok(options)
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
        let place = (site, packet.interface.clone());
        let point = points.iter().position(|point| *point == place).unwrap_or_else(|| {
            let (site, interface) = place.clone();
            analysis.add_point(Point { capture: packet.file.clone(), site: site as u32, interface });
            points.push(place);
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

/// The only connection.
pub fn only(tables: &Tables) -> &tables::Connection {
    assert_eq!(tables.connections.len(), 1, "one connection: {:#?}", tables.connections);
    &tables.connections[0]
}

/// A direction of the first connection.
pub fn transfer(tables: &Tables, direction: Direction) -> &Transfer {
    transfer_of(tables, 0, direction)
}

pub fn transfer_of(tables: &Tables, connection: u32, direction: Direction) -> &Transfer {
    let found = tables.transfers.iter().find(|row| row.connection == connection && row.direction == direction);
    found.expect("a transfer")
}

/// A subflow of the first connection.
pub fn subflow(tables: &Tables, subflow: u32) -> &Subflow {
    tables.subflows.iter().find(|row| row.connection == 0 && row.subflow == subflow).expect("a subflow")
}

/// A direction of a subflow of the first connection.
pub fn flow(tables: &Tables, subflow: u32, direction: Direction) -> &Flow {
    flow_of(tables, 0, subflow, direction)
}

pub fn flow_of(tables: &Tables, connection: u32, subflow: u32, direction: Direction) -> &Flow {
    let mut of_subflow = tables.flows.iter().filter(|row| row.connection == connection && row.subflow == subflow);
    of_subflow.find(|row| row.direction == direction).expect("a flow")
}

/// Names of the events of all connections, in order.
pub fn events(tables: &Tables) -> Vec<&'static str> {
    tables.events.iter().map(|row| row.event).collect()
}

pub fn event<'a>(tables: &'a Tables, name: &str) -> &'a Event {
    tables.events.iter().find(|row| row.event == name).unwrap_or_else(|| panic!("no {name} in {:?}", events(tables)))
}

pub fn diagnostics(tables: &Tables) -> Vec<&'static str> {
    tables.diagnostics.iter().map(|row| row.diagnostic).collect()
}

/// Within a billionth, for figures that divide.
#[track_caller]
pub fn close(figure: Option<f64>, expected: f64) {
    let figure = figure.expect("a figure");
    assert!((figure - expected).abs() <= expected.abs() * 1e-9, "{figure} is not {expected}");
}
