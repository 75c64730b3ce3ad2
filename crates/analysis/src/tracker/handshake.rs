//! How a subflow was opened, as seen at one end (RFC 9293 §3.5, RFC 8684 §3.1 and §3.2).

use crate::event::Seen;
use wire::{Flags, Tcp, Time};

/// What was seen of a handshake.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    pub(super) syn: Option<Seen>,
    pub(super) syn_count: u32,
    /// SYNs until the first answer, without an MPTCP option and with one.
    pub(super) asked: [u32; 2],
    pub(super) syn_ack: Option<Seen>,
    pub(super) syn_ack_count: u32,
    pub(super) ack: Option<Seen>,
    /// The acceptor spoke after it: it has the opener's proof (RFC 8684 §3.2, the fourth packet).
    pub(super) confirmed: bool,
    /// When the latest SYN and the latest SYN/ACK passed, and how long the answer to each took.
    latest: [Option<Time>; 2],
    waits: [Option<u64>; 2],
    /// The acceptor reset it before the third packet.
    pub(super) reset: Option<Seen>,
    /// An answer took a time that cannot be.
    pub(super) clock_jumped: bool,
    /// The SYN/ACK carried MP_JOIN.
    pub(super) joins: bool,
    /// The third packet carried MP_JOIN.
    pub(super) proves: bool,
}

impl Handshake {
    pub(super) fn syn(&mut self, seen: Seen) {
        self.syn_count += 1;
        self.syn.get_or_insert(seen);
        self.latest[0] = Some(seen.at);
    }

    pub(super) fn syn_ack(&mut self, seen: Seen) {
        self.syn_ack_count += 1;
        self.syn_ack.get_or_insert(seen);
        let waited = self.latest[0].take().and_then(|syn| self.wait(syn, seen.at));
        self.waits[0] = waited.or(self.waits[0]);
        self.latest[1] = Some(seen.at);
    }

    pub(super) fn ack(&mut self, seen: Seen) {
        self.ack = Some(seen);
        self.waits[1] = self.latest[1].and_then(|syn_ack| self.wait(syn_ack, seen.at));
    }

    fn wait(&mut self, from: Time, to: Time) -> Option<u64> {
        let nanos = wait(from, to);
        self.clock_jumped |= nanos.is_none();
        nanos
    }

    /// How long the acceptor and the opener took to answer, once both did: to the latest of what was sent more than once.
    /// That is no round-trip time, but it tells which of them is near.
    pub(super) fn waits(&self) -> Option<(u64, u64)> {
        self.waits[0].zip(self.waits[1])
    }

    /// SYN to SYN/ACK: what the acceptor took, as seen here.
    pub(super) fn acceptor_nanos(&self) -> Option<u64> {
        let (syn, syn_ack) = (self.syn?, self.syn_ack?);
        wait(syn.at, syn_ack.at).filter(|_| self.syn_count == 1)
    }

    /// SYN/ACK to ACK: what the opener took, as seen here.
    pub(super) fn opener_nanos(&self) -> Option<u64> {
        let (syn_ack, ack) = (self.syn_ack?, self.ack?);
        wait(syn_ack.at, ack.at).filter(|_| self.syn_ack_count == 1)
    }

    /// It waits for its second packet.
    #[inline]
    pub(super) fn is_asking(&self) -> bool {
        self.syn.is_some() && self.syn_ack.is_none()
    }

    /// Its first or second packet was seen. A capture of one direction holds only one of them.
    pub(super) fn began(&self) -> bool {
        self.syn.is_some() || self.syn_ack.is_some()
    }

    pub(super) fn outcome(&self) -> &'static str {
        match (self.syn, self.syn_ack, self.ack) {
            (_, _, Some(_)) => "established",
            (Some(_), _, _) if self.reset.is_some() => "refused",
            (Some(_), None, _) => "unanswered",
            (Some(_), Some(_), None) => "unfinished",
            _ => "unseen",
        }
    }
}

/// Nobody waits longer for an answer: Linux asks for some two minutes (tcp_syn_retries), RFC 9293 §3.8.3 for three.
pub(super) const LONGEST_WAIT_NANOS: i64 = 600_000_000_000;

/// How long an answer took; none where the clock was set meanwhile.
fn wait(from: Time, to: Time) -> Option<u64> {
    let nanos = to - from;
    (0..=LONGEST_WAIT_NANOS).contains(&nanos).then_some(nanos as u64)
}

/// Whether it asks for a new connection.
pub(super) fn is_opening(tcp: &Tcp) -> bool {
    tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK)
}
