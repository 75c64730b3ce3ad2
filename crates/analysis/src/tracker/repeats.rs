//! Packets that a capture shows more than once: on several interfaces of a host (`-i any`), as a mirror port shows them that
//! copies what comes in and what goes out, or because captures of both ends were merged into one file.

use super::packet::Packet;
use crate::event::Seen;
use std::hash::{Hash, Hasher};
use wire::{Flags, Observation, Tcp};

/// The last packets of a subflow.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    recent: Vec<Passed>,
    /// The lower halves of their fingerprints: compared all at once, they nearly always tell that none is the same.
    halves: Vec<u32>,
    next: usize,
    /// The latest IP identification each way, and whether it changes from packet to packet.
    ids: [Option<u16>; 2],
    ids_change: [bool; 2],
    /// There were copies: more is remembered from then on.
    found: bool,
}

#[derive(Clone, Copy, Debug)]
struct Passed {
    print: u64,
    seen: Seen,
    direction: Option<wire::CaptureDirection>,
    ttl: u8,
}

const REMEMBERED: usize = 32;
/// Where both ends' captures were merged, as much as may be on its way.
const REMEMBERED_OF_COPIES: usize = 4096;
/// Copies on one host.
const REPEAT_NANOS: i64 = 10_000_000;
/// Copies that the identification tells: some hosts leave it when they send again (RFC 1122 §3.2.1.5 allows it), and Linux
/// does that after 200 ms at the earliest. What came over routers since was not sent again.
const NAMED_REPEAT_NANOS: i64 = 150_000_000;
const ROUTED_REPEAT_NANOS: i64 = 2_000_000_000;

impl Repeats {
    /// Whether the same packet passed before.
    ///
    /// What was sent again differs in its IP identification where that changes from packet to packet, and no SYN is sent again
    /// so soon. A SYN-ACK is, where a repeated SYN and a time-out ask for it at once: it is a copy where the SYN had one. Else
    /// only another interface, or another direction, tells a copy from a packet that was sent again; where the capture has but
    /// one view, so does a copy that the SYN had.
    pub(super) fn is_repeat(&mut self, packet: &Packet, several_views: impl FnOnce() -> bool) -> bool {
        let &Packet { observation, tcp, seen, .. } = packet;
        let (ip, side) = (&observation.frame.ip, packet.direction as usize);
        let last = self.ids[side].replace(ip.id);
        self.ids_change[side] |= last.is_some_and(|last| last != ip.id);
        let opens = tcp.flags.has(Flags::SYN);
        let is_syn = opens && (self.found || !tcp.flags.has(Flags::ACK));
        let is_named = ip.id != 0 && self.ids_change[side];
        let has_views = !is_named && several_views();
        if ip.id == 0 && !(opens || self.found || has_views) {
            return false;
        }
        let all_copied = self.found && !has_views;
        let direction = observation.direction;
        let print = fingerprint(observation, tcp);
        let is_copy = |earlier: &Passed| {
            let apart = seen.at - earlier.seen.at;
            let otherwise = earlier.seen.point != seen.point || earlier.direction != direction;
            let longest = match (is_named, earlier.ttl > ip.ttl) {
                (true, true) => ROUTED_REPEAT_NANOS,
                (true, false) => NAMED_REPEAT_NANOS,
                (false, true) if all_copied => ROUTED_REPEAT_NANOS,
                _ if is_syn => NAMED_REPEAT_NANOS,
                _ if otherwise || all_copied => REPEAT_NANOS,
                _ => return false,
            };
            earlier.print == print && apart <= longest
        };
        let half = print as u32;
        let likely = self.halves.iter().fold(false, |found, known| found | (*known == half));
        if likely && self.recent.iter().any(is_copy) {
            self.found = true;
            return true;
        }
        self.remember(Passed { print, seen, direction, ttl: ip.ttl }, half);
        false
    }

    fn remember(&mut self, passed: Passed, half: u32) {
        let most = if self.found { REMEMBERED_OF_COPIES } else { REMEMBERED };
        if self.recent.len() < most {
            self.recent.push(passed);
            self.halves.push(half);
        } else {
            self.next %= most;
            (self.recent[self.next], self.halves[self.next]) = (passed, half);
            self.next += 1;
        }
    }
}

/// Equal for copies of one packet. Its time to live is another one behind a router.
fn fingerprint(observation: &Observation, tcp: &Tcp) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    let (ip, ports) = (&observation.frame.ip, u64::from(tcp.source_port));
    // Few words are hashed faster than many numbers.
    hasher.write_u64(u64::from(ip.id) | u64::from(tcp.flags.0) << 16 | u64::from(tcp.window) << 24 | ports << 40);
    hasher.write_u64(u64::from(tcp.seq) | u64::from(tcp.ack) << 32);
    hasher.write_u32(observation.frame.payload.len);
    tcp.options.as_bytes().hash(&mut hasher);
    hasher.finish()
}
