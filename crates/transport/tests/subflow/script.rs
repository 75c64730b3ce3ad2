//! Packet scripts: one line, one segment.
//!
//! `TIME > SEGMENT` is what the subflow must send then, `TIME < SEGMENT` what its peer sends, `TIME ! ACT` what the
//! connection does and `TIME = FACT` what must be true. Times are milliseconds. A segment is `FLAGS FIRST:AFTER`,
//! then `ack N`, `sack A:B …`, `win N`, `ts VALUE echo TIME`, `backup yes`, `ip ect0` (`ect1`, `ce`); flags are `S`, `F`, `R`,
//! `.` for ACK, `E` for ECE, `W` for CWR, and `P` for PSH of what the peer sends; numbers are relative to the
//! initial ones. What the subflow sends between the lines is a failure.

use crate::moves;
use crate::pair::{Host, MS, Segment, header};
use transport::config;
use transport::subflow::{Emission, Kind, Piece, State};
use wire::mptcp::{MpPrio, Mptcp};
use wire::{Ecn, Flags, Options, SackBlocks, Tcp, TcpOption, Time};

const START_MS: i64 = 1_000_000;
/// Payload of a full segment in scripts.
const MSS: u32 = 1000;

const NAMED: [(Flags, char); 6] =
    [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::RST, 'R'), (Flags::ACK, '.'), (Flags::ECE, 'E'), (Flags::CWR, 'W')];

/// Settings in which scripts are short: everything off that would add a segment, but selective ACKs.
pub fn plain() -> config::Tcp {
    config::Tcp {
        timestamps: false,
        window_scaling: false,
        delayed_ack_ns: None,
        quick_acks: 0,
        ack_compression: false,
        rack: false,
        tail_loss_probe: false,
        linux_timeout: false,
        timer_wheel: false,
        min_timeout_ns: 1000 * MS,
        ..config::Tcp::default()
    }
}

/// Plays a script, with initial sequence numbers that are harmless and with such that wrap on the way.
#[track_caller]
pub fn play(settings: &config::Tcp, script: &str) {
    for isns in [[1000, 5000], [u32::MAX - 1500, u32::MAX - 700], [u32::MAX, 0]] {
        let mut player = Player::new(settings, isns);
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            player.line(line);
        }
        if let Some(more) = player.poll() {
            panic!("after the script: {more}");
        }
    }
}

struct Player {
    host: Host,
    isns: [u32; 2],
    start: Time,
    now: Time,
    pushed: u64,
    /// Our clock, as the peer last saw it.
    value: u32,
    /// The last line was an act: the next at the same time comes before anything is sent.
    acted: bool,
    /// State as last seen.
    state: &'static str,
    /// Whether the peer opened it.
    passive: bool,
}

impl Player {
    fn new(settings: &config::Tcp, isns: [u32; 2]) -> Player {
        let start = Time::from_nanos(START_MS * MS);
        let host = Host::new(settings.clone(), true, isns[0]);
        let (pushed, value) = (0, 0);
        Player { host, isns, start, now: start, pushed, value, acted: false, state: "CLOSED", passive: false }
    }

    #[track_caller]
    fn line(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let at: f64 = words.next().unwrap().parse().unwrap_or_else(|_| panic!("no time: {line}"));
        let at = self.start + (at * MS as f64) as i64;
        let verb = words.next();
        let acted = std::mem::replace(&mut self.acted, verb == Some("!"));
        match verb {
            Some(">") => {
                let got = loop {
                    if let Some(got) = self.poll() {
                        break got;
                    }
                    let next = self.host.deadline();
                    assert!(next <= at, "nothing was sent for: {line}\n{:#?}", self.host.tcp);
                    self.timeout(next);
                };
                let expected = line.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(got, expected);
            }
            Some("<") => {
                self.wait(at, line);
                let segment = self.segment(words);
                if self.host.tcp.is_none() {
                    (self.state, self.passive) = ("LISTEN", true);
                }
                self.host.receive(at, &segment);
                self.moved(kind(segment.tcp.flags));
            }
            Some("!") => {
                if !acted || at > self.now {
                    self.wait(at, line);
                }
                self.act(&words.collect::<Vec<_>>());
            }
            Some("=") => {
                self.wait(at, line);
                let fact: Vec<_> = words.collect();
                assert_eq!(self.fact(fact[0]), fact[1], "{line}");
            }
            _ => panic!("what is {line}?"),
        }
    }

    #[track_caller]
    fn wait(&mut self, until: Time, line: &str) {
        loop {
            if let Some(sent) = self.poll() {
                panic!("before {line}\nwas sent {sent}");
            }
            if self.host.deadline() > until {
                break;
            }
            self.timeout(self.host.deadline());
        }
        self.now = until;
    }

    fn timeout(&mut self, at: Time) {
        self.now = at;
        self.host.timeout(at);
        self.moved("timer");
    }

    /// Tells what the event changed.
    fn moved(&mut self, by: &str) {
        let Some(tcp) = &self.host.tcp else { return };
        let after = match (tcp.state(), self.state, by) {
            // To the endpoint, which listens on.
            (State::Closed, "SYN-RECEIVED", "RST") if self.passive => "LISTEN",
            (State::Closed, "LISTEN", _) => "LISTEN",
            (state, ..) => name(state),
        };
        if after != self.state {
            moves::note(self.state, by, after);
            self.state = after;
        }
    }

    fn poll(&mut self) -> Option<String> {
        let now = self.now;
        let (emission, tcp, ecn) = self.host.with(|tcp, control| {
            let emission = tcp.poll(now, false, control).or_else(|| tcp.poll_guess(now, control))?;
            let ecn = tcp.leaves_as(&emission);
            Some((emission, header(tcp, now, &emission, 65_535), ecn))
        })??;
        self.moved("CLOSE");
        let text = self.describe(&emission, &tcp);
        Some(if ecn == Ecn::Capable0 { text + " ip ect0" } else { text })
    }

    fn describe(&mut self, emission: &Emission, tcp: &Tcp) -> String {
        let [own, peer] = self.isns;
        let at = (self.now - self.start) as f64 / MS as f64;
        let seq = tcp.seq.wrapping_sub(own) as i32;
        let flags: String = NAMED.iter().filter(|(flag, _)| tcp.flags.has(*flag)).map(|(_, name)| name).collect();
        let mut text = format!("{at} > {flags} {seq}:{}", seq + emission.len as i32);
        if tcp.flags.has(Flags::ACK) {
            text += &format!(" ack {}", tcp.ack.wrapping_sub(peer) as i32);
        }
        for option in tcp.options.iter() {
            match option.unwrap() {
                TcpOption::Sack(blocks) => {
                    for (left, right) in blocks.as_slice() {
                        text += &format!(" sack {}:{}", left.wrapping_sub(peer), right.wrapping_sub(peer));
                    }
                }
                TcpOption::Timestamps { value, .. } => self.value = value,
                _ => {}
            }
        }
        if emission.retransmission {
            text += " again";
        }
        text
    }

    fn segment<'a>(&self, mut words: impl Iterator<Item = &'a str>) -> Segment {
        let [own, peer] = self.isns;
        let flags = words.next().unwrap();
        let range = |word: &str| {
            let (left, right) = word.split_once(':').unwrap();
            (left.parse::<i64>().unwrap() as u32, right.parse::<i64>().unwrap() as u32)
        };
        let (first, after) = range(words.next().unwrap());
        let mut tcp = Tcp {
            source_port: 80,
            destination_port: 1000,
            seq: peer.wrapping_add(first),
            ack: 0,
            flags: Flags(0),
            window: 65_535,
            urgent: 0,
            options: Options::NONE,
        };
        for flag in flags.chars() {
            let (flag, _) = NAMED
                .iter()
                .chain(&[(Flags::PSH, 'P')])
                .find(|(_, name)| *name == flag)
                .unwrap_or_else(|| panic!("what is {flags}?"));
            tcp.flags = tcp.flags.with(*flag);
        }
        let (mut blocks, mut clock, mut echo, mut ecn) = (Vec::new(), None, self.value, Ecn::NotCapable);
        while let Some(word) = words.next() {
            let value = words.next().unwrap();
            match word {
                "ack" => tcp.ack = own.wrapping_add(value.parse::<i64>().unwrap() as u32),
                "win" => tcp.window = value.parse().unwrap(),
                "sack" => blocks.push(range(value)),
                "backup" => {
                    let option = MpPrio { backup: value == "yes", address_id: None };
                    tcp.options.push(&TcpOption::Mptcp(Mptcp::Prio(option))).unwrap();
                }
                "ip" => {
                    ecn = match value {
                        "ce" => Ecn::CongestionExperienced,
                        "ect0" => Ecn::Capable0,
                        "ect1" => Ecn::Capable1,
                        _ => panic!("what is {value}?"),
                    }
                }
                "ts" => clock = Some(value.parse().unwrap()),
                // When our clock was what it echoes; otherwise what it last saw of it.
                "echo" => echo = own.wrapping_add(START_MS as u32 + value.parse::<u32>().unwrap()),
                _ => panic!("what is {word}?"),
            }
        }
        if let Some(value) = clock {
            tcp.options.push(&TcpOption::Timestamps { value, echo }).unwrap();
        }
        if !blocks.is_empty() {
            let blocks: Vec<_> =
                blocks.iter().map(|&(left, right)| (own.wrapping_add(left), own.wrapping_add(right))).collect();
            tcp.options.push(&TcpOption::Sack(SackBlocks::new(&blocks))).unwrap();
        }
        if tcp.flags.has(Flags::SYN) {
            let timestamps = if clock.is_some() { 12 } else { 0 };
            tcp.options.push(&TcpOption::MaximumSegmentSize(MSS as u16 + timestamps)).unwrap();
            tcp.options.push(&TcpOption::SackPermitted).unwrap();
        }
        let opens = tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK);
        let kind = if opens { Kind::Syn } else { Kind::Data };
        let len = after.wrapping_sub(first);
        Segment { tcp, emission: Emission { kind, offset: 0, len, piece: None, retransmission: false }, ecn }
    }

    fn act(&mut self, words: &[&str]) {
        let now = self.now;
        let number = || words[1].parse::<u64>().unwrap();
        match words[0] {
            "connect" => self.host.connect(now),
            // Segments: a number of full ones, or one of so many bytes.
            "push" => {
                for _ in 0..number() {
                    self.push(MSS);
                }
            }
            "write" => self.push(number() as u32),
            // The receive buffer.
            "buffer" => self.host.buffer_bytes = number(),
            "cwnd" => self.host.windows[0].cwnd_packets = number() as f64,
            "ssthresh" => self.host.windows[0].ssthresh_packets = number() as f64,
            act => {
                self.host.with(|tcp, _| match act {
                    "close" => tcp.close(),
                    "abort" => tcp.abort(),
                    "orphan" => tcp.orphan(now),
                    "acknowledge" => tcp.acknowledge(),
                    "probe" => tcp.probe(now, words[1] == "on"),
                    _ => panic!("what is {act}?"),
                });
            }
        }
        self.moved(if words[0] == "connect" { "OPEN" } else { "ABORT" });
    }

    fn push(&mut self, len: u32) {
        let piece = Piece { data_offset: self.pushed, len, data_fin: false, push: false };
        self.pushed += u64::from(len);
        self.host.with(|tcp, _| tcp.push(piece));
    }

    fn fact(&self, name: &str) -> String {
        let (host, window) = (&self.host, &self.host.windows[0]);
        match name {
            "state" => format!("{:?}", host.state()),
            "gone" => format!("{:?}", host.gone.is_some()),
            "reset" => host.reset.to_string(),
            "finished" => host.finished.to_string(),
            "arrived" => host.arrived.to_string(),
            "cwnd" => window.cwnd_packets.to_string(),
            "ssthresh" => window.ssthresh_packets.to_string(),
            "rate" => host.tcp().view(0, window).pacing_bytes_per_second.to_string(),
            "usable" => window.usable.to_string(),
            "pipe" => host.tcp().in_flight_packets().to_string(),
            "rto" => (host.tcp().rto_ns() / MS).to_string(),
            "syns" => host.tcp().syn_transmissions().to_string(),
            _ => panic!("what is {name}?"),
        }
    }
}

/// A state's name in RFC 9293.
fn name(state: State) -> &'static str {
    match state {
        State::SynSent => "SYN-SENT",
        State::SynReceived => "SYN-RECEIVED",
        State::Established => "ESTABLISHED",
        State::FinWait1 => "FIN-WAIT-1",
        State::FinWait2 => "FIN-WAIT-2",
        State::CloseWait => "CLOSE-WAIT",
        State::Closing => "CLOSING",
        State::LastAck => "LAST-ACK",
        State::TimeWait => "TIME-WAIT",
        State::Closed => "CLOSED",
    }
}

/// What a segment is, by the flag that matters most.
fn kind(flags: Flags) -> &'static str {
    match flags {
        flags if flags.has(Flags::RST) => "RST",
        flags if flags.has(Flags::SYN.with(Flags::ACK)) => "SYN/ACK",
        flags if flags.has(Flags::SYN) => "SYN",
        flags if flags.has(Flags::FIN) => "FIN",
        _ => "ACK",
    }
}
