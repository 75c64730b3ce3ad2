//! Packet scripts: one line, one segment, between an endpoint and a peer that is the script.
//!
//! ```text
//! // ms     path flags seq       options
//!    0    < wifi S 0:0          capable
//!    0    > wifi S. 0:0 ack 1   capable
//!    10   < wifi . 1:1 ack 1    capable
//!    20   ! write 1000
//! ```
//!
//! `TIME > SEGMENT` is what the endpoint must send then, `TIME < SEGMENT` what its peer sends, `TIME ! ACT` what the
//! application or the host does and `TIME = FACT VALUE` what must be true. Times are milliseconds; what the endpoint sends
//! between the lines is a failure.
//!
//! - *path*: `wifi` or `lte` is the client's interface; `wifi/2` the same to the server's second address.
//! - *flags*: `S`, `F`, `R`, `.` for ACK, `E` for ECE, `W` for CWR, and `P` for PSH of what the peer sends. *seq*: first byte and the one after the last, relative to the SYN. `ack N` follows.
//! - Data sequence numbers are relative too: the first byte is 1.
//!
//! | option | |
//! |---|---|
//! | `capable` | MP_CAPABLE in the form that flags and payload ask for; `capable(checksum)`, `capable(v0)`, `capable(B)`, `capable(no H)` |
//! | `join(ID)` | MP_JOIN in the form that the flags ask for; `join(ID backup)`, `join(ID wrong)`; on the third packet just `join` |
//! | `dss(DSN SSN LEN, ack DSN)` | with 8 bytes each, but the endpoint's DATA_ACKs with 4 until data came; `dss4(…)` with 4; `sum` after a comma: with its checksum |
//! | `dss(DSN SSN LEN fin)` | DATA_FIN with data, which `LEN` counts without it; `dss(fin DSN)` without data |
//! | `dss(DSN SSN infinite)` | the infinite mapping |
//! | `add_addr(ID ADDRESS[:PORT] [echo] [wrong])`, `remove_addr(ID …)`, `prio(backup)`, `prio(regular)` | |
//! | `fail(DSN)`, `fastclose`, `tcprst(REASON)` | |
//! | `win(N)` | the window: else the peer says 60000, and the endpoint may say anything |
//! | `scale(N)` | the peer's SYN has windows shifted by N bits: then `win` is what the header has, with shifts |
//! | `ip(ect0)`, `ip(ce)` | what the packet says of congestion, if not nothing |
//! | `bad` | the payload's bytes are not those that were sent |

mod act;
mod describe;
mod segment;

use crate::moves;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use transport::{Config, ConnectionId, Endpoint, Event, Outcome};
use wire::mptcp::DataNumber;
use wire::mptcp::crypto::{Party, initial_data_seq};
use wire::{Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, Time};

const MS: i64 = 1_000_000;
const PORT: u16 = 80;
const PEER_KEY: u64 = 0x0123_4567_89ab_cdef;
const PEER_ISN: u32 = 0xffff_f000;
const PEER_NONCE: u32 = 0x600d_cafe;
/// With the 24 bytes that DSS takes, segments hold 1000.
const MSS: u16 = 1024;
const NAMED: [(Flags, char); 6] =
    [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::RST, 'R'), (Flags::ACK, '.'), (Flags::ECE, 'E'), (Flags::CWR, 'W')];
const PATHS: [&str; 3] = ["wifi", "lte", "dsl"];

/// A client whose peer is known to speak MPTCP.
pub const CLIENT: &str = "0   ! connect
    0   > wifi S 0:0 capable
    10  < wifi S. 0:0 ack 1 capable
    10  > wifi . 1:1 ack 1 capable
    20  < wifi . 1:1 ack 1 dss(ack 1)
    ";

/// A server likewise.
pub const SERVER: &str = "0   ! listen
    0   < wifi S 0:0 capable
    0   > wifi S. 0:0 ack 1 capable
    10  < wifi . 1:1 ack 1 capable
    ";

/// A client with two subflows, whose settings are [`mesh`].
pub const TWO: &str = "0   ! connect
    0   > wifi S 0:0 capable
    10  < wifi S. 0:0 ack 1 capable
    10  > wifi . 1:1 ack 1 capable
    20  < wifi . 1:1 ack 1 dss(ack 1)
    20  ! up lte
    20  > lte S 0:0 join(1)
    40  < lte S. 0:0 ack 1 join(0)
    40  > lte . 1:1 ack 1 join
    60  < lte . 1:1 ack 1 dss(ack 1)
    ";

/// Settings in which scripts are short: one subflow, the simplest policies, and nothing on that would add a segment.
pub fn plain() -> Config {
    let mut config = Config { congestion_control: "cubic".into(), ..Config::default() };
    config.mptcp.scheduler = "lowest-rtt".into();
    config.mptcp.path_manager.name = "single".into();
    config.tcp = transport::config::Tcp {
        timestamps: false,
        window_scaling: false,
        delayed_ack_ns: None,
        quick_acks: 0,
        rack: false,
        tail_loss_probe: false,
        linux_timeout: false,
        timer_wheel: false,
        ack_compression: false,
        min_timeout_ns: 1000 * MS,
        receive_buffer_bytes: 60_000,
        receive_buffer_tuning: false,
        adv_win_scale: Some(31),
        ..transport::config::Tcp::default()
    };
    config
}

/// The same with every subflow that there can be.
pub fn mesh() -> Config {
    let mut config = plain();
    config.mptcp.path_manager.name = "full-mesh".into();
    config.mptcp.path_manager.max_subflows = 8;
    config.mptcp.path_manager.max_add_addr_accepted = 8;
    config
}

/// Plays a script.
#[track_caller]
pub fn play(config: &Config, script: &str) {
    Player::new(config, false).play(script);
}

/// Plays a script over IPv6.
#[track_caller]
pub fn play_v6(config: &Config, script: &str) {
    Player::new(config, true).play(script);
}

/// A subflow: the last that was opened on its path.
#[derive(Clone, Copy)]
struct Flow {
    local: SocketAddr,
    remote: SocketAddr,
    isn: u32,
    /// Of the endpoint; 0 before it was seen.
    nonce: u32,
    /// The last mapping of the peer that was longer than its segment: offset and place.
    mapped: Option<(u32, u64)>,
}

struct Player {
    endpoint: Endpoint,
    v6: bool,
    /// The endpoint uses numbers of 8 bytes; data came with one.
    long: bool,
    long_came: bool,
    start: Time,
    now: Time,
    connection: Option<ConnectionId>,
    client: bool,
    key: u64,
    flows: BTreeMap<String, Flow>,
    ports: u16,
    events: Vec<&'static str>,
    reading: bool,
    read: u64,
    acted: bool,
    /// What is spoken, as last seen from outside.
    mode: &'static str,
    over: Option<&'static str>,
    connected: bool,
}

impl Player {
    fn new(config: &Config, v6: bool) -> Player {
        let start = Time::from_nanos(1_000_000_000_000);
        let mut endpoint = Endpoint::new(config.clone(), 7);
        endpoint.listen(PORT);
        Player {
            endpoint,
            v6,
            long: config.mptcp.long_numbers,
            long_came: false,
            start,
            now: start,
            connection: None,
            client: false,
            key: 0,
            flows: BTreeMap::new(),
            ports: 1000,
            events: Vec::new(),
            reading: true,
            read: 0,
            acted: false,
            mode: "nothing",
            over: None,
            connected: false,
        }
    }

    #[track_caller]
    fn play(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            self.line(line);
        }
        if let Some(more) = self.poll(false) {
            panic!("after the script: {more}");
        }
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        let words = split(line);
        let at: f64 = words[0].parse().unwrap_or_else(|_| panic!("no time: {line}"));
        let at = self.start + (at * MS as f64) as i64;
        let acted = std::mem::replace(&mut self.acted, words[1] == "!");
        match words[1] {
            ">" => {
                let window = line.contains("win(");
                let got = loop {
                    if let Some(got) = self.poll(window) {
                        break got;
                    }
                    let next = self.endpoint.deadline();
                    assert!(next <= at, "nothing was sent for: {line}\n{:#?}", self.snapshot());
                    self.timeout(next);
                };
                assert_eq!(got, words.join(" "));
            }
            "<" => {
                self.wait(at, line);
                let (nic, packet) = self.segment(&words[2..]);
                self.endpoint.handle(at, nic, &packet);
                self.moved("segment");
            }
            "!" => {
                if !acted || at > self.now {
                    self.wait(at, line);
                }
                self.act(&words[2..]);
                self.moved("call");
            }
            "=" => {
                self.wait(at, line);
                assert_eq!(self.fact(words[2]), words[3..].join(" "), "{line}");
            }
            _ => panic!("what is {line}?"),
        }
    }

    #[track_caller]
    fn wait(&mut self, until: Time, line: &str) {
        loop {
            if let Some(sent) = self.poll(false) {
                panic!("before {line}\nwas sent {sent}");
            }
            if self.endpoint.deadline() > until {
                break;
            }
            self.timeout(self.endpoint.deadline());
        }
        self.now = until;
    }

    fn timeout(&mut self, at: Time) {
        self.now = at.max(self.now);
        self.endpoint.timeout(self.now);
        self.moved("timer");
    }

    fn speak(&mut self, id: ConnectionId) {
        if self.connection != Some(id) {
            self.connection = Some(id);
            (self.mode, self.over, self.connected) = ("nothing", None, false);
        }
    }

    /// Tells what the event changed of what is spoken.
    fn moved(&mut self, by: &str) {
        self.application();
        let after = match (self.over, self.snapshot()) {
            (Some(over), _) => over,
            (None, None) => return,
            (None, Some(snapshot)) if snapshot.mptcp => "MPTCP",
            _ if self.connected => "TCP",
            _ => "opening",
        };
        if after != self.mode {
            moves::note(self.mode, by, after);
            self.mode = after;
        }
    }

    /// Hears the events, and reads.
    fn application(&mut self) {
        while let Some((id, event)) = self.endpoint.event() {
            self.speak(id);
            let word = match event {
                Event::Accepted { .. } => "accepted",
                Event::Connected => "connected",
                Event::Readable => continue,
                Event::Writable => "writable",
                Event::Finished => "finished",
                Event::Delivered => "delivered",
                Event::Spent { .. } => "spent",
                Event::Probe { .. } => "probe",
                Event::Decided { .. } => "decided",
                Event::Closed(Outcome::Complete) => "complete",
                Event::Closed(Outcome::Aborted) => "aborted",
                Event::Closed(Outcome::Failed(why)) => match why {
                    transport::path_manager::Closed::Reset => "reset",
                    transport::path_manager::Closed::TimedOut => "timed-out",
                    _ => "failed",
                },
            };
            self.connected |= event == Event::Connected;
            if let Event::Closed(_) = event {
                self.over = Some(word);
            }
            self.events.push(word);
        }
        if self.reading
            && let Some(id) = self.connection
        {
            self.read += self.endpoint.read(self.now, id, u64::MAX);
        }
    }

    fn poll(&mut self, window: bool) -> Option<String> {
        self.application();
        let mut packet = blank(self.v6);
        let is_done = self.endpoint.has_sent_all();
        self.endpoint.transmit(self.now, &mut packet)?;
        assert!(!is_done, "it had sent all, and sends {packet:?}");
        let mut bytes = Vec::new();
        packet.emit(&mut bytes, None).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
        Some(self.describe(&packet, window))
    }

    /// A data sequence number, the endpoint's own or the peer's, relative to the initial one.
    fn relative(&self, own: bool, number: DataNumber) -> i64 {
        let initial = initial_data_seq(1, if own { self.key } else { PEER_KEY });
        match number {
            DataNumber::Long(number) => number.wrapping_sub(initial) as i64,
            DataNumber::Short(low) => i64::from(low.wrapping_sub(initial as u32) as i32),
        }
    }

    fn parties(&self, label: &str) -> (Party, Party) {
        let nonce = self.flows.get(label).map_or(0, |flow| flow.nonce);
        (Party { key: self.key, nonce }, Party { key: PEER_KEY, nonce: PEER_NONCE })
    }

    fn label(&self, local: IpAddr, remote: IpAddr) -> String {
        let (client, server) = if self.client { (local, remote) } else { (remote, local) };
        let number = |of: bool, address| (0..3).find(|&n| host(self.v6, of, n) == address);
        let path = PATHS[number(true, client).unwrap_or_else(|| panic!("{client} is no client's"))];
        match number(false, server).unwrap_or_else(|| panic!("{server} is no server's")) {
            0 => path.into(),
            n => format!("{path}/{}", n + 1),
        }
    }

    /// The client's interface and address, and the server's address, of a label.
    fn addresses(&self, label: &str) -> (u32, IpAddr, IpAddr) {
        let (path, server) = label.split_once('/').unwrap_or((label, "1"));
        let path = PATHS.iter().position(|&name| name == path).unwrap_or_else(|| panic!("what is {label}?"));
        let server: usize = server.parse().unwrap();
        (path as u32, host(self.v6, true, path), host(self.v6, false, server - 1))
    }

    fn snapshot(&self) -> Option<transport::Snapshot> {
        self.connection.and_then(|id| self.endpoint.snapshot(id))
    }
}

/// Words, where a parenthesis is part of its word.
fn split(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut depth) = (None, 0);
    for (at, char) in line.char_indices() {
        depth += i32::from(char == '(') - i32::from(char == ')');
        if char.is_whitespace() && depth == 0 {
            words.extend(start.take().map(|start| &line[start..at]));
        } else {
            start.get_or_insert(at);
        }
    }
    words.extend(start.map(|start| &line[start..]));
    words
}

/// An address of the client or of the server.
fn host(v6: bool, client: bool, n: usize) -> IpAddr {
    match (v6, client) {
        (false, true) => IpAddr::from([10, 0, n as u8, 2]),
        (false, false) => IpAddr::from([10, 9, n as u8, 1]),
        (true, true) => IpAddr::from([0xfd00, 0, 0, n as u16, 0, 0, 0, 2]),
        (true, false) => IpAddr::from([0xfd00, 9, 0, n as u16, 0, 0, 0, 1]),
    }
}

fn blank(v6: bool) -> Packet {
    let address = host(v6, true, 0);
    let dont_fragment = !v6;
    let ip = Ip { source: address, destination: address, ttl: 64, tos: 0, id: 0, dont_fragment, fragment: None };
    let tcp = Tcp {
        source_port: 0,
        destination_port: 0,
        seq: 0,
        ack: 0,
        flags: Flags(0),
        window: 0,
        urgent: 0,
        options: Options::NONE,
    };
    Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(0) }, body: None }
}
