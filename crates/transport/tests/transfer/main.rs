//! Whole transfers between two endpoints.

mod buffers;
#[path = "../pair/mod.rs"]
mod pair;
mod pushes;
mod restarts;

use pair::{Act, End, Pair, meshed, tcp};
use proptest::prelude::*;
use transport::config::Join;
use transport::{Config, Outcome, SlowStart, congestion, scheduler};
use wire::mptcp::crypto::initial_data_seq;
use wire::mptcp::{DataNumber, Dss, Mapping, Mptcp, dss_checksum};
use wire::{Content, L4, Options, Packet, TcpOption, Time};

fn complete(pair: &Pair, down: u64, up: u64) {
    for (n, (read, name)) in [(down, "client"), (up, "server")].into_iter().enumerate() {
        let seen = &pair.seen[n];
        assert_eq!(seen.read, read, "{name} read: {seen:?}");
        assert!(seen.finished && seen.delivered, "{name}: {seen:?}");
        assert_eq!(seen.outcome, Some(Outcome::Complete), "{name}");
    }
}

fn plain() -> Config {
    let mut config = meshed();
    config.mptcp.enabled = false;
    config
}

#[test]
fn plain_tcp_carries_data_both_ways() {
    let mut pair = Pair::new(plain(), plain(), &[10]);
    pair.to_write = [300_000, 5_000_000];
    pair.run(60_000);
    complete(&pair, 5_000_000, 300_000);
    assert!(!pair.log.iter().any(|(.., packet)| has_mptcp(packet)));
}

#[test]
fn mptcp_over_two_paths_uses_both() {
    let mut pair = Pair::new(meshed(), meshed(), &[10, 12]);
    pair.to_write = [300_000, 5_000_000];
    pair.run(60_000);
    complete(&pair, 5_000_000, 300_000);
    let bytes = |path| -> u64 {
        let down = pair.log.iter().filter(|(_, end, nic, _)| *end == End::Server && nic.0 == path);
        down.map(|(.., packet)| u64::from(packet.frame.payload.len)).sum()
    };
    assert!(bytes(0) > 100_000 && bytes(1) > 100_000, "{} and {}", bytes(0), bytes(1));
}

/// Segments of data that the server sends again when of each 50 one is lost, and how many are.
fn repairs(change: impl Fn(&mut Config)) -> (u64, u64) {
    let mut config = Config::default();
    change(&mut config);
    let mut pair = Pair::new(config.clone(), config, &[10, 12]);
    let drops = std::rc::Rc::new(std::cell::Cell::new(0));
    let (dropped, mut sent, mut free) = (drops.clone(), 0, [Time::from_nanos(0); 2]);
    pair.middle = Box::new(move |now, end, nic, packet| {
        if end == End::Client || packet.frame.payload.len == 0 {
            return vec![0];
        }
        sent += 1;
        if sent % 50 == 0 && sent < 2000 {
            dropped.set(dropped.get() + 1);
            return vec![];
        }
        let free = &mut free[nic.0 as usize];
        *free = (*free).max(now) + 1_000_000;
        vec![*free - now]
    });
    pair.to_write = [0, 4_000_000];
    pair.run(60_000);
    complete(&pair, 4_000_000, 0);
    let mut seen = std::collections::BTreeSet::new();
    let data = pair.log.iter().filter(|(_, end, _, packet)| *end == End::Server && packet.frame.payload.len > 0);
    let again = data.filter(|(_, _, nic, packet)| !seen.insert((nic.0, tcp(packet).seq))).count();
    (again as u64, drops.get())
}

/// RFC 6675 §4: rules 3 and 4 of NextSeg are for when there is nothing new to send, which a scheduler that gives out data as
/// late as a window has room does not show in a subflow's queue.
#[test]
fn each_lost_segment_is_sent_again_once() {
    for enabled in [false, true] {
        for scheduler in scheduler::NAMES.iter().filter(|name| **name != "redundant") {
            for (rack, rescue) in [(true, true), (false, true), (false, false)] {
                let (again, lost) = repairs(|config| {
                    config.mptcp.enabled = enabled;
                    config.mptcp.scheduler = (*scheduler).into();
                    (config.tcp.rack, config.tcp.rescue_retransmission) = (rack, rescue);
                });
                // Tail loss probes, and at the end the rescue, may come on top.
                assert!(
                    lost >= 39 && (lost..=lost + 2).contains(&again),
                    "{scheduler}: {again} for {lost} (RACK {rack})"
                );
            }
        }
    }
}

fn has_mptcp(packet: &Packet) -> bool {
    tcp(packet).options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(Mptcp::Capable(_) | Mptcp::Dss(_)))))
}

/// Settings by the bits of a number.
fn settings(bits: u32) -> Config {
    let bit = |n: u32| bits >> n & 1 == 1;
    // All bits are taken: these are spread over the policies.
    let policies = (bits.wrapping_mul(0x9E37_79B1) >> 16) as usize;
    let congestion_control = congestion::NAMES[policies / scheduler::NAMES.len() % congestion::NAMES.len()].into();
    let mut config = Config { congestion_control, ..meshed() };
    config.tcp.slow_start =
        [SlowStart::Own, SlowStart::Standard, SlowStart::HyStart, SlowStart::HyStartPlusPlus][(bits & 3) as usize];
    config.mptcp.scheduler = scheduler::NAMES[policies % scheduler::NAMES.len()].into();
    config.mptcp.checksum = bit(3);
    config.mptcp.version = u8::from(!bit(30));
    config.mptcp.join = if bit(29) { Join::Simultaneous } else { Join::Specified };
    config.mptcp.long_numbers = bit(4);
    config.mptcp.opportunistic_retransmission = bit(5);
    config.mptcp.penalisation = bit(6);
    config.tcp.sack = !bit(7);
    config.tcp.rack = !bit(8);
    config.tcp.tail_loss_probe = !bit(9);
    config.tcp.proportional_rate_reduction = !bit(10);
    config.tcp.timestamps = !bit(11);
    config.tcp.delayed_ack_ns = if bit(12) { None } else { Some(40_000_000) };
    config.tcp.pacing = bit(13);
    config.mptcp.enabled = !(bit(14) && bit(15));
    config.tcp.max_backoff = bit(17).then_some(bits >> 18 & 3);
    if bit(17) {
        // As many tries as outlast every outage.
        (config.tcp.syn_retries, config.tcp.retries) = (100, 200);
    }
    config.tcp.ssthresh_cache = bit(20);
    config.tcp.mss_bytes = bit(21).then_some(88 + (bits >> 22 & 1023));
    if bit(16) || is_upstream(&config) {
        config.tcp.receive_buffer_bytes = if bit(16) { 20_000 } else { 50_000_000 };
        config.tcp.receive_buffer_tuning = false;
    }
    config
}

/// Whether it has a scheduler of upstream Linux, whose receiver goes with it.
fn is_upstream(config: &Config) -> bool {
    ["linux", "round-robin"].contains(&config.mptcp.scheduler.as_str())
}

/// Whether data beyond a hole can fill its memory: then upstream Linux takes nothing more.
fn may_stop(bits: u32) -> bool {
    let config = settings(bits);
    is_upstream(&config) && config.tcp.receive_buffer_bytes < 50_000_000
}

/// What meets a transfer.
#[derive(Clone, Debug)]
struct Troubles {
    settings: [u32; 2],
    delays_ms: Vec<i64>,
    v6: bool,
    server_addresses: usize,
    /// What client and server write.
    bytes: [u64; 2],
    loss_percent: u64,
    reordered_percent: u64,
    doubled_percent: u64,
    /// Path, from, for so long: nothing passes.
    outages: Vec<(usize, i64, i64)>,
    /// Path, from, for so long: the client lacks the address.
    absences: Vec<(usize, i64, i64)>,
    /// End, from, for so long: nobody reads.
    pauses: Vec<(bool, i64, i64)>,
    /// Path and time from which options of MPTCP are stripped, of the client's packets and of the server's.
    stripping: Option<(usize, i64, bool, bool)>,
    /// Path and time after which one segment is altered.
    altered: Option<(usize, i64)>,
    seed: u64,
}

/// Everything is well again after so long, so that nobody gives up for good.
const TROUBLES_MS: i64 = 40_000;

fn troubles() -> impl Strategy<Value = Troubles> {
    let spell = || (0usize..4, 0i64..20_000, 1i64..20_000);
    let early = || (0i64..3).prop_flat_map(|decade| 0..10i64.pow(2 + decade as u32));
    let path = (
        prop::collection::vec(1i64..200, 1..4),
        any::<bool>(),
        1usize..3,
        0u64..25,
        prop_oneof![Just(0u64), 0u64..30],
        prop_oneof![Just(0u64), 0u64..30],
    );
    let events = (
        prop::collection::vec(spell(), 0..4),
        prop::collection::vec((0usize..4, early(), 1i64..10_000), 0..4),
        prop::collection::vec((any::<bool>(), early(), 1i64..10_000), 0..3),
        prop::option::weighted(0.3, (0usize..3, early(), any::<bool>(), any::<bool>())),
        prop::option::weighted(0.3, (0usize..3, early())),
    );
    let bytes = (0u64..400_000, 0u64..100_000);
    (path, events, bytes, any::<[u32; 2]>(), any::<u64>()).prop_map(|(path, events, (down, up), settings, seed)| {
        let (delays_ms, v6, server_addresses, loss_percent, reordered_percent, doubled_percent) = path;
        let (outages, absences, pauses, stripping, altered) = events;
        // An infinite mapping that is stripped in its turn is beyond repair.
        let altered = altered.filter(|_| stripping.is_none());
        Troubles {
            settings,
            delays_ms,
            v6,
            server_addresses,
            bytes: [up, down],
            loss_percent,
            reordered_percent,
            doubled_percent,
            outages,
            absences,
            pauses,
            stripping,
            altered,
            seed,
        }
    })
}

impl Troubles {
    fn pair(&self) -> Pair {
        let [client, server] = self.settings.map(settings);
        let mut pair = Pair::with(client, server, &self.delays_ms, self.v6, self.server_addresses);
        pair.to_write = self.bytes;
        for &(path, at, ms) in &self.absences {
            // The last path always works.
            if path + 1 < self.delays_ms.len() {
                pair.acts.push((Time::from_nanos(at * 1_000_000), Act::Down(path)));
                pair.acts.push((Time::from_nanos((at + ms) * 1_000_000), Act::Up(path)));
            }
        }
        for &(client, at, ms) in &self.pauses {
            let end = if client { End::Client } else { End::Server };
            pair.acts.push((Time::from_nanos(at * 1_000_000), Act::Pause(end)));
            pair.acts.push((Time::from_nanos((at + ms) * 1_000_000), Act::Resume(end)));
        }
        pair.acts.sort_by_key(|&(at, _)| at);
        pair.middle = self.middle();
        pair
    }

    fn middle(&self) -> Box<pair::Middle> {
        let troubles = self.clone();
        let (mut state, mut altered) = (self.seed, self.altered);
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let last = self.delays_ms.len() - 1;
        Box::new(move |now, end, nic, packet| {
            let (ms, path) = (now.as_nanos() / 1_000_000, nic.0 as usize);
            if let Some((of, from, client, server)) = troubles.stripping
                && of.min(last) == path
                && ms >= from
                && if end == End::Client { client } else { server }
            {
                strip(packet);
            }
            if let Some((of, from)) = altered
                && of.min(last) == path
                && ms >= from
                && alter(packet)
            {
                altered = None;
            }
            if ms > TROUBLES_MS {
                return vec![0];
            }
            let out =
                troubles.outages.iter().any(|&(of, at, len)| of == path && of < last && (at..at + len).contains(&ms));
            if out || random(100) < troubles.loss_percent {
                return vec![];
            }
            let mut copies = vec![0];
            if random(100) < troubles.doubled_percent {
                copies.push(random(50_000_000) as i64);
            }
            if random(100) < troubles.reordered_percent {
                copies[0] = random(50_000_000) as i64;
            }
            copies
        })
    }
}

/// What is left of the options when a middlebox takes out those of MPTCP.
fn strip(packet: &mut Packet) {
    let L4::Tcp(tcp) = &mut packet.frame.l4 else { return };
    let mut left = Options::NONE;
    for option in tcp.options.iter().flatten().filter(|option| !matches!(option, TcpOption::Mptcp(_))) {
        left.push(&option).unwrap();
    }
    tcp.options = left;
}

/// Alters the payload of a segment whose DSS has a checksum, with TCP's checksum made right, as a proxy does.
fn alter(packet: &mut Packet) -> bool {
    let checked = tcp(packet).options.iter().any(|option| {
        matches!(option, Ok(TcpOption::Mptcp(Mptcp::Dss(Dss { mapping: Some(Mapping { checksum: Some(_), .. }), .. }))))
    });
    let Content::Pattern(offset) = packet.frame.payload.content else { return false };
    if checked && packet.frame.payload.len > 0 {
        let mut bytes = vec![0; packet.frame.payload.len as usize];
        wire::pattern::fill(offset, &mut bytes);
        bytes[0] ^= 0x55;
        (packet.frame.payload.content, packet.body) = (Content::Unsaid, Some(bytes.into()));
    }
    checked
}

/// Every packet can be written, fits its interface, and has the checksums that its bytes ask for.
fn check_packets(pair: &Pair) {
    let mut keys = [None; 2];
    let mut bytes = Vec::new();
    for (at, end, _, packet) in &pair.log {
        bytes.clear();
        packet.emit(&mut bytes, None).unwrap_or_else(|error| panic!("{at:?} {end:?} {error}: {packet:?}"));
        assert!(bytes.len() as u32 <= pair::MTU_BYTES, "{at:?} {end:?} {} bytes: {packet:?}", bytes.len());
        let payload = &bytes[bytes.len() - packet.frame.payload.len as usize..];
        for option in tcp(packet).options.iter() {
            match option {
                Ok(TcpOption::Mptcp(Mptcp::Capable(capable))) => {
                    let key = capable.sender_key.map(|key| (capable.version, key));
                    keys[*end as usize] = keys[*end as usize].or(key);
                    if let (Some(len), Some(checksum)) = (capable.data_len, capable.checksum) {
                        let number = initial_data_seq(capable.version, capable.sender_key.unwrap()).wrapping_add(1);
                        assert_eq!(checksum, dss_checksum(number, 1, len, payload));
                    }
                }
                Ok(TcpOption::Mptcp(Mptcp::Dss(Dss { mapping: Some(mapping), .. }))) if mapping.len > 0 => {
                    let Some(checksum) = mapping.checksum else { continue };
                    let (version, key) = keys[*end as usize].unwrap();
                    let initial = initial_data_seq(version, key);
                    let number = match (packet.frame.payload.content, mapping.data_seq) {
                        (Content::Pattern(offset), _) => initial.wrapping_add(1).wrapping_add(offset),
                        (_, DataNumber::Long(number)) => number,
                        // Of a DATA_FIN alone; streams are short here.
                        (_, DataNumber::Short(low)) => {
                            initial.wrapping_add(u64::from(low.wrapping_sub(initial as u32)))
                        }
                    };
                    let expected = dss_checksum(number, mapping.subflow_seq, mapping.len, payload);
                    assert_eq!(checksum, expected, "{at:?} {end:?} {packet:?}");
                }
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn every_byte_arrives_once_whatever_happens(troubles in troubles()) {
        let mut pair = troubles.pair();
        let may_stop = troubles.settings.into_iter().any(may_stop);
        // Whoever has stopped sends the same again and again.
        pair.run(if may_stop { 100_000 } else { 3_000_000 });
        check_packets(&pair);
        // Where options vanish or payload is altered half-way, the ends may differ on whether they can go on as TCP: then one resets the other,
        // which says so. Nothing is lost in silence all the same.
        let failed = pair.seen.iter().any(|seen| matches!(seen.outcome, Some(Outcome::Failed(_))));
        let excused = (troubles.stripping.is_some() || troubles.altered.is_some()) && failed || may_stop;
        // And an end that has all may leave with its address before the other hears its last acknowledgement.
        let left = !troubles.absences.is_empty() && pair.seen.iter().any(|seen| seen.outcome == Some(Outcome::Complete));
        for n in 0..2 {
            let (seen, read) = (&pair.seen[n], troubles.bytes[1 - n]);
            prop_assert_eq!(seen.corrupt, 0, "end {}: {:?}", n, &pair.seen);
            if excused && !seen.finished {
                prop_assert!(seen.read <= read, "end {}: {:?}", n, &pair.seen);
                continue;
            }
            prop_assert_eq!(seen.read, read, "end {}: {:?}", n, &pair.seen);
            prop_assert!(excused || left || seen.outcome == Some(Outcome::Complete), "end {}: {:?}", n, &pair.seen);
        }
    }
}
