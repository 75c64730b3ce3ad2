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
//! - *flags*: `S`, `F`, `R`, `.` for ACK, `E` for ECE, `W` for CWR. *seq*: first byte and the one after the last, relative to the SYN. `ack N` follows.
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

use crate::moves;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use transport::{Config, ConnectionId, Endpoint, Event, Nic, Outcome};
use wire::mptcp::crypto::{Party, add_addr_hmac, initial_data_seq, join_ack_hmac, join_syn_ack_hmac, token};
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
    dss_checksum_of_pattern,
};
use wire::{Content, Ecn, Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, TcpOption, Time, TooBig, pattern};

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
        self.endpoint.transmit(self.now, &mut packet)?;
        let mut bytes = Vec::new();
        packet.emit(&mut bytes, None).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
        Some(self.describe(&packet, window))
    }

    fn describe(&mut self, packet: &Packet, window: bool) -> String {
        let L4::Tcp(tcp) = &packet.frame.l4 else { panic!("{packet:?}") };
        let (ip, len) = (packet.frame.ip, packet.frame.payload.len);
        let local = SocketAddr::new(ip.source, tcp.source_port);
        let remote = SocketAddr::new(ip.destination, tcp.destination_port);
        let label = self.label(local.ip(), remote.ip());
        if tcp.flags.has(Flags::SYN) {
            let flow = Flow { local, remote, isn: tcp.seq, nonce: 0, mapped: None };
            if self.flows.get(&label).is_none_or(|known| (known.local, known.isn) != (local, tcp.seq)) {
                self.flows.insert(label.clone(), flow);
            }
        }
        let flow = self.flows[&label];
        assert_eq!((flow.local, flow.remote), (local, remote), "not the last subflow of its path");
        let flags: String = NAMED.iter().filter(|(flag, _)| tcp.flags.has(*flag)).map(|(_, name)| name).collect();
        let seq = tcp.seq.wrapping_sub(flow.isn) as i32;
        let at = (self.now - self.start) as f64 / MS as f64;
        let mut words = vec![format!("{at} > {label} {flags} {seq}:{}", seq + len as i32)];
        if tcp.flags.has(Flags::ACK) {
            words.push(format!("ack {}", tcp.ack.wrapping_sub(PEER_ISN) as i32));
        }
        for option in &tcp.options {
            if let Ok(TcpOption::Mptcp(option)) = option {
                words.push(self.show(&label, tcp.flags, packet, &option));
            }
        }
        if ip.ecn() == Ecn::Capable0 {
            words.push("ip(ect0)".into());
        }
        if window {
            words.push(format!("win({})", tcp.window));
        }
        words.join(" ")
    }

    fn show(&mut self, label: &str, flags: Flags, packet: &Packet, option: &Mptcp) -> String {
        let (own, peer) = self.parties(label);
        match *option {
            Mptcp::Capable(capable) => {
                self.key = capable.sender_key.unwrap_or(self.key);
                assert!(capable.sender_key.is_none_or(|key| key == self.key));
                assert!(capable.receiver_key.is_none_or(|key| key == PEER_KEY));
                assert_eq!((capable.version, capable.flags & 0x7f), (1, 1));
                let len = packet.frame.payload.len;
                assert_eq!(capable.data_len.unwrap_or(0), len as u16);
                if let Some(checksum) = capable.checksum {
                    let first = initial_data_seq(1, self.key).wrapping_add(1);
                    assert_eq!(checksum, dss_checksum_of_pattern(first, 1, len as u16, 0, len));
                }
                if capable.flags & 0x80 != 0 { "capable(checksum)".into() } else { "capable".into() }
            }
            Mptcp::Join(join) => match join {
                MpJoin::Syn { backup, address_id, token: named, nonce } => {
                    assert_eq!(named, token(1, PEER_KEY));
                    self.flows.get_mut(label).unwrap().nonce = nonce;
                    format!("join({address_id}{})", if backup { " backup" } else { "" })
                }
                MpJoin::SynAck { backup, address_id, hmac, nonce } => {
                    self.flows.get_mut(label).unwrap().nonce = nonce;
                    assert_eq!(hmac, join_syn_ack_hmac(1, Party { nonce, ..own }, peer));
                    format!("join({address_id}{})", if backup { " backup" } else { "" })
                }
                MpJoin::Ack { hmac } => {
                    assert_eq!(hmac, join_ack_hmac(1, own, peer));
                    "join".into()
                }
            },
            Mptcp::Dss(dss) => self.show_dss(packet, &dss),
            Mptcp::AddAddr(AddAddr { echo, address_id, address, port, hmac, .. }) => {
                let place = port.map_or(address.to_string(), |port| SocketAddr::new(address, port).to_string());
                if echo {
                    assert_eq!(hmac, None);
                    return format!("add_addr({address_id} {place} echo)");
                }
                assert_eq!(hmac, Some(add_addr_hmac(self.key, PEER_KEY, address_id, address, port)));
                format!("add_addr({address_id} {place})")
            }
            Mptcp::RemoveAddr(remove) => {
                let ids: Vec<_> = remove.ids().iter().map(u8::to_string).collect();
                format!("remove_addr({})", ids.join(" "))
            }
            Mptcp::Prio(MpPrio { backup, .. }) => if backup { "prio(backup)" } else { "prio(regular)" }.into(),
            Mptcp::Fail(MpFail { data_seq }) => format!("fail({})", self.relative(false, DataNumber::Long(data_seq))),
            Mptcp::FastClose(MpFastClose { receiver_key }) => {
                assert_eq!(receiver_key, PEER_KEY);
                "fastclose".into()
            }
            Mptcp::TcpRst(MpTcpRst { reason, .. }) => {
                assert!(flags.has(Flags::RST));
                format!("tcprst({reason})")
            }
            Mptcp::Other { .. } => panic!("{option:?}"),
        }
    }

    fn show_dss(&self, packet: &Packet, dss: &Dss) -> String {
        let len = packet.frame.payload.len;
        let mut parts = Vec::new();
        let mut sum = false;
        if let Some(Mapping { data_seq, subflow_seq, len: mapped, checksum }) = dss.mapping {
            let at = self.relative(true, data_seq);
            parts.push(match (mapped, dss.data_fin) {
                (0, _) => format!("{at} {subflow_seq} infinite"),
                (1, true) if len == 0 && subflow_seq == 0 => format!("fin {at}"),
                (_, true) => format!("{at} {subflow_seq} {} fin", mapped - 1),
                _ => format!("{at} {subflow_seq} {mapped}"),
            });
            if let Some(checksum) = checksum.filter(|_| mapped > 0) {
                sum = true;
                let bytes = u32::from(mapped) - u32::from(dss.data_fin);
                let number = initial_data_seq(1, self.key).wrapping_add(at as u64);
                let expected = dss_checksum_of_pattern(number, subflow_seq, mapped, (at - 1) as u64, bytes);
                assert_eq!(checksum, expected, "DSS checksum");
            }
            if len > 0 {
                assert_eq!(packet.frame.payload.content, Content::Pattern((at - 1) as u64));
            }
        } else if dss.data_fin {
            parts.push("fin without number".into());
        }
        if let Some(ack) = dss.data_ack {
            parts.push(format!("ack {}", self.relative(false, ack)));
        }
        if sum {
            parts.push("sum".into());
        }
        let is_short = |number: DataNumber| matches!(number, DataNumber::Short(_));
        let mapped = dss.mapping.map(|mapping| is_short(mapping.data_seq));
        let name = match (mapped, dss.data_ack.map(is_short)) {
            // A DATA_ACK beside long numbers is short until one came (RFC 8684 §3.3.2).
            (mapped, Some(short)) if self.long && mapped != Some(true) && short == self.long_came => {
                "dss of the wrong length"
            }
            (None, Some(_)) if self.long => "dss",
            (Some(true), _) | (None, Some(true)) => "dss4",
            _ => "dss",
        };
        format!("{name}({})", parts.join(", "))
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
        let place = |of: bool, address| (0..3).find(|&n| host(self.v6, of, n) == address);
        let path = PATHS[place(true, client).unwrap_or_else(|| panic!("{client} is no client's"))];
        match place(false, server).unwrap_or_else(|| panic!("{server} is no server's")) {
            0 => path.into(),
            n => format!("{path}/{}", n + 1),
        }
    }

    /// The client's interface and address, and the server's address, of a label.
    fn places(&self, label: &str) -> (u32, IpAddr, IpAddr) {
        let (path, server) = label.split_once('/').unwrap_or((label, "1"));
        let path = PATHS.iter().position(|&name| name == path).unwrap_or_else(|| panic!("what is {label}?"));
        let server: usize = server.parse().unwrap();
        (path as u32, host(self.v6, true, path), host(self.v6, false, server - 1))
    }

    fn segment(&mut self, words: &[&str]) -> (Nic, Packet) {
        let (label, flag_letters) = (words[0], words[1]);
        let (path, client, server) = self.places(label);
        let mut flags = Flags(0);
        for flag in flag_letters.chars() {
            let (flag, _) = NAMED.iter().find(|(_, name)| *name == flag).unwrap_or_else(|| panic!("what is {flag}?"));
            flags = flags.with(*flag);
        }
        if flags.has(Flags::SYN) && !flags.has(Flags::ACK) && !self.client {
            let known = self.flows.get(label).is_some_and(|flow| flow.isn == 0);
            if !known {
                self.ports += 1;
                let (local, remote) = (SocketAddr::new(server, PORT), SocketAddr::new(client, self.ports));
                self.flows.insert(label.into(), Flow { local, remote, isn: 0, nonce: 0, mapped: None });
            }
        }
        let flow = self.flows[label];
        let (first, after) = words[2].split_once(':').unwrap();
        let (first, after): (i64, i64) = (first.parse().unwrap(), after.parse().unwrap());
        let len = (after - first) as u32;
        let mut tcp = Tcp {
            source_port: flow.remote.port(),
            destination_port: flow.local.port(),
            seq: PEER_ISN.wrapping_add(first as u32),
            ack: 0,
            flags,
            window: 60_000,
            urgent: 0,
            options: Options::NONE,
        };
        if flags.has(Flags::SYN) {
            tcp.options.push(&TcpOption::MaximumSegmentSize(MSS)).unwrap();
            tcp.options.push(&TcpOption::SackPermitted).unwrap();
        }
        let mut place =
            flow.mapped.map(|(offset, place)| place.wrapping_add(first as u64).wrapping_sub(u64::from(offset)));
        let (mut bad, mut ecn) = (false, Ecn::NotCapable);
        let mut rest = words[3..].iter();
        while let Some(&word) = rest.next() {
            if word == "ack" {
                tcp.ack = flow.isn.wrapping_add(rest.next().unwrap().parse::<i64>().unwrap() as u32);
                continue;
            }
            let (name, inner) =
                word.split_once('(').map_or((word, ""), |(name, inner)| (name, &inner[..inner.len() - 1]));
            let option = match name {
                "win" => {
                    tcp.window = inner.parse().unwrap();
                    continue;
                }
                "scale" => {
                    tcp.options.push(&TcpOption::WindowScale(inner.parse().unwrap())).unwrap();
                    continue;
                }
                "ip" => {
                    ecn = if inner == "ce" { Ecn::CongestionExperienced } else { Ecn::Capable0 };
                    continue;
                }
                "bad" => {
                    bad = true;
                    continue;
                }
                "capable" => {
                    if len > 0 {
                        (place, self.long_came) = (Some(0), true);
                    }
                    Mptcp::Capable(self.capable(inner, flags, len))
                }
                "join" => Mptcp::Join(self.join(label, inner, flags)),
                "dss" | "dss4" => {
                    let (dss, mapped) = self.dss(inner, name == "dss");
                    if let Some((offset, at)) = mapped {
                        self.flows.get_mut(label).unwrap().mapped = mapped;
                        self.long_came |= name == "dss" && len > 0;
                        place = Some(at.wrapping_add(first as u64).wrapping_sub(u64::from(offset)));
                    }
                    Mptcp::Dss(dss)
                }
                "add_addr" => Mptcp::AddAddr(self.add_addr(inner)),
                "remove_addr" => {
                    let ids: Vec<u8> = inner.split(' ').map(|id| id.parse().unwrap()).collect();
                    Mptcp::RemoveAddr(RemoveAddr::new(&ids).unwrap())
                }
                "prio" => Mptcp::Prio(MpPrio { backup: inner == "backup", address_id: None }),
                "fail" => {
                    let data_seq = initial_data_seq(1, self.key).wrapping_add(inner.parse().unwrap());
                    Mptcp::Fail(MpFail { data_seq })
                }
                "fastclose" => {
                    let receiver_key = if inner == "wrong" { !self.key } else { self.key };
                    Mptcp::FastClose(MpFastClose { receiver_key })
                }
                "tcprst" => Mptcp::TcpRst(MpTcpRst { flags: 0, reason: inner.parse().unwrap() }),
                _ => panic!("what is {word}?"),
            };
            tcp.options.push(&TcpOption::Mptcp(option)).unwrap();
        }
        let mut ip = Ip { source: flow.remote.ip(), destination: flow.local.ip(), ..blank(self.v6).frame.ip };
        ip.set_ecn(ecn);
        let place = place.unwrap_or((first - 1).max(0) as u64);
        let (content, body) = match (len, bad) {
            (0, _) => (Content::Unsaid, None),
            (_, false) => (Content::Pattern(place), None),
            (_, true) => {
                let mut bytes = vec![0; len as usize];
                pattern::fill(place, &mut bytes);
                bytes[0] ^= 0x55;
                (Content::Unsaid, Some(bytes.into()))
            }
        };
        let nic = Nic(if self.client { path } else { 0 });
        (nic, Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload: Payload { len, content } }, body })
    }

    fn capable(&self, inner: &str, flags: Flags, len: u32) -> MpCapable {
        let bits = if inner == "no H" { 0 } else { 1 };
        let bits = bits | if inner == "checksum" { 0x80 } else { 0 } | if inner == "B" { 0x40 } else { 0 };
        let bits = bits | if inner == "C" { 0x20 } else { 0 };
        let (syn, ack) = (flags.has(Flags::SYN), flags.has(Flags::ACK));
        let checksum = (len > 0 && inner == "checksum")
            .then(|| dss_checksum_of_pattern(initial_data_seq(1, PEER_KEY).wrapping_add(1), 1, len as u16, 0, len));
        MpCapable {
            version: if inner == "v0" { 0 } else { 1 },
            flags: bits,
            sender_key: (ack || inner == "v0").then_some(PEER_KEY),
            receiver_key: (!syn).then_some(if inner == "wrong" { !self.key } else { self.key }),
            data_len: (len > 0).then_some(len as u16),
            checksum,
        }
    }

    fn join(&self, label: &str, inner: &str, flags: Flags) -> MpJoin {
        let (own, peer) = self.parties(label);
        let words: Vec<_> = inner.split(' ').collect();
        let (backup, wrong) = (words.contains(&"backup"), words.contains(&"wrong"));
        let address_id = words[0].parse().unwrap_or(0);
        match (flags.has(Flags::SYN), flags.has(Flags::ACK)) {
            (true, false) => {
                let token = token(1, self.key) ^ u32::from(wrong);
                MpJoin::Syn { backup, address_id, token, nonce: PEER_NONCE }
            }
            (true, true) => {
                let hmac = join_syn_ack_hmac(1, peer, own) ^ u64::from(wrong);
                MpJoin::SynAck { backup, address_id, hmac, nonce: PEER_NONCE }
            }
            _ => {
                let mut hmac = join_ack_hmac(1, peer, own);
                hmac[0] ^= u8::from(wrong);
                MpJoin::Ack { hmac }
            }
        }
    }

    /// A DSS, and what its mapping says: offset and place.
    fn dss(&self, inner: &str, long: bool) -> (Dss, Option<(u32, u64)>) {
        let number = |key, at: i64| {
            let number = initial_data_seq(1, key).wrapping_add(at as u64);
            if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
        };
        let (mut dss, mut mapped) = (Dss::default(), None);
        for part in inner.split(", ") {
            let words: Vec<_> = part.split(' ').collect();
            let value = |n: usize| words[n].parse::<i64>().unwrap_or_else(|_| panic!("dss({inner})"));
            match words[0] {
                "ack" => dss.data_ack = Some(number(self.key, value(1))),
                "sum" => {
                    let mapping = dss.mapping.as_mut().unwrap();
                    let at = self.relative(false, mapping.data_seq);
                    let full = initial_data_seq(1, PEER_KEY).wrapping_add(at as u64);
                    let bytes = u32::from(mapping.len) - u32::from(dss.data_fin && mapping.len > 0);
                    let (seq, len) = (mapping.subflow_seq, mapping.len);
                    let sum = dss_checksum_of_pattern(full, seq, len, (at - 1) as u64, bytes);
                    mapping.checksum = Some(if len == 0 { 0 } else { sum });
                }
                "fin" => {
                    dss.data_fin = true;
                    let data_seq = number(PEER_KEY, value(1));
                    dss.mapping = Some(Mapping { data_seq, subflow_seq: 0, len: 1, checksum: None });
                }
                _ => {
                    let infinite = words[2] == "infinite";
                    dss.data_fin = words.get(3) == Some(&"fin");
                    let len = if infinite { 0 } else { value(2) as u16 + u16::from(dss.data_fin) };
                    let subflow_seq = value(1) as u32;
                    dss.mapping =
                        Some(Mapping { data_seq: number(PEER_KEY, value(0)), subflow_seq, len, checksum: None });
                    mapped = Some((subflow_seq, (value(0) - 1) as u64));
                }
            }
        }
        (dss, mapped)
    }

    fn add_addr(&self, inner: &str) -> AddAddr {
        let words: Vec<_> = inner.split(' ').collect();
        let address_id = words[0].parse().unwrap();
        let (address, port) = match words[1].parse::<IpAddr>() {
            Ok(address) => (address, None),
            Err(_) => words[1].parse::<SocketAddr>().map(|at| (at.ip(), Some(at.port()))).unwrap(),
        };
        let echo = words.contains(&"echo");
        let hmac = add_addr_hmac(PEER_KEY, self.key, address_id, address, port) ^ u64::from(words.contains(&"wrong"));
        AddAddr { version: 1, echo, address_id, address, port, hmac: (!echo).then_some(hmac) }
    }

    fn act(&mut self, words: &[&str]) {
        let now = self.now;
        let number = || words[1].parse::<u64>().unwrap();
        match words[0] {
            "connect" => {
                self.client = true;
                let (nic, local, remote) = self.places(words.get(1).unwrap_or(&"wifi"));
                self.endpoint.address_up(now, Nic(nic), local, 1500);
                let (local, remote) = (SocketAddr::new(local, 0), SocketAddr::new(remote, PORT));
                let id = self.endpoint.connect(now, local, remote);
                self.speak(id);
            }
            // The server's address is there, and perhaps others.
            "listen" => {
                for label in words.iter().skip(1).chain(&["wifi"]) {
                    let (_, _, address) = self.places(label);
                    self.endpoint.address_up(now, Nic(0), address, 1500);
                }
            }
            "up" | "down" => {
                let (path, client, server) = self.places(words[1]);
                let (nic, address) = if self.client { (path, client) } else { (0, server) };
                match words[0] {
                    "up" => self.endpoint.address_up(now, Nic(nic), address, 1500),
                    _ => self.endpoint.address_down(now, address),
                }
            }
            // A router says that what it got from there is too big: path, sequence number, bytes that pass.
            "too_big" => {
                let flow = self.flows[words[1]];
                let [seq, mtu_bytes] = [2, 3].map(|at| words[at].parse::<u32>().unwrap());
                let (source, destination) = (flow.local, flow.remote);
                self.endpoint.too_big(&TooBig { mtu_bytes, source, destination, seq: flow.isn.wrapping_add(seq) });
            }
            "pause" => self.reading = false,
            "read" => {
                self.reading = true;
                self.application();
            }
            act => {
                let id = self.connection.expect("a connection");
                match act {
                    "write" => assert_eq!(self.endpoint.write(id, number()), number()),
                    // What there is room for.
                    "offer" => drop(self.endpoint.write(id, number())),
                    "finish" => self.endpoint.finish(now, id),
                    "abort" => self.endpoint.abort(now, id),
                    _ => panic!("what is {act}?"),
                }
            }
        }
    }

    fn snapshot(&self) -> Option<transport::Snapshot> {
        self.connection.and_then(|id| self.endpoint.snapshot(id))
    }

    fn fact(&mut self, name: &str) -> String {
        self.application();
        let snapshot = self.snapshot();
        let of = |fact: &dyn Fn(&transport::Snapshot) -> String| snapshot.as_ref().map_or("none".into(), fact);
        match name {
            "events" => std::mem::take(&mut self.events).join(" "),
            "read" => self.read.to_string(),
            "mptcp" => of(&|snapshot| snapshot.mptcp.to_string()),
            "corrupt" => of(&|snapshot| snapshot.corrupt_bytes.to_string()),
            "waiting" => of(&|snapshot| snapshot.unacknowledged_bytes.to_string()),
            "window" => of(&|snapshot| snapshot.peer_window_bytes.to_string()),
            "ahead" => of(&|snapshot| snapshot.out_of_order_bytes.to_string()),
            // Congestion windows, in packets.
            "windows" => of(&|snapshot| {
                let path = |subflow: &transport::SubflowSnapshot| subflow.path.map_or(0, |path| path.cwnd_packets);
                snapshot.subflows.iter().map(|subflow| path(subflow).to_string()).collect::<Vec<_>>().join(" ")
            }),
            "subflows" => of(&|snapshot| snapshot.subflows.len().to_string()),
            _ => panic!("what is {name}?"),
        }
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
