//! What happens when MPTCP cannot go on: options are stripped, or what they say of the payload is wrong
//! (RFC 8684 §3.7).

use super::open::reason;
use super::{Connection, Mode};
use crate::subflow::State;
use wire::mptcp::DataNumber;

/// How a connection stands to plain TCP: whether it may still go on as that, and once it is, how its subflow's bytes lie.
///
/// A connection begins one-to-one: there is one subflow, and its bytes are the connection's. A further subflow, or a mapping that
/// says otherwise, ends that for good, and with it the way back to TCP half-way. While it is discarding, what comes is no data until
/// the peer says by an infinite mapping where it goes on, or until another subflow takes over. [`begin`](Fallback::begin) comes last,
/// when the connection's mode turns plain; before it, the subflow is the initial one.
pub(super) struct Fallback {
    /// Plain TCP's subflow.
    subflow: usize,
    /// Which offset of the subflow is which data offset of what we send.
    base: (u64, u64),
    /// After a fallback half-way, what comes before the infinite mapping is no data.
    discarding: bool,
    /// There never was but one subflow, whose bytes are the connection's one for one, in both directions.
    one_to_one: bool,
}

impl Fallback {
    /// Of a connection that begins.
    pub fn new() -> Fallback {
        Fallback { subflow: 0, base: (1, 0), discarding: false, one_to_one: true }
    }

    /// Plain TCP's subflow.
    #[inline]
    pub fn subflow(&self) -> usize {
        self.subflow
    }

    /// Subflow `i` is all there is of the connection.
    fn begin(&mut self, i: usize) {
        self.subflow = i;
    }

    /// What the subflow sends from `offset` on is the data from `data_offset` on.
    fn send_from(&mut self, offset: u64, data_offset: u64) {
        self.base = (offset, data_offset);
    }

    /// The data offset of ours that ends at `offset` of plain TCP's subflow; none before its data begins.
    #[inline]
    pub fn data_offset(&self, offset: u64) -> Option<u64> {
        let (base, data_offset) = self.base;
        offset.checked_sub(base).map(|beyond| data_offset + beyond)
    }

    /// Whether there never was but one subflow, whose bytes are the connection's.
    #[inline]
    pub fn is_one_to_one(&self) -> bool {
        self.one_to_one
    }

    /// From now on bytes of a subflow are not the connection's one for one.
    pub fn diverge(&mut self) {
        self.one_to_one = false;
    }

    /// The peer maps `offset` of the only subflow to `data_offset`.
    #[inline]
    pub fn note_mapping(&mut self, offset: u64, data_offset: u64) {
        self.one_to_one &= offset == data_offset + 1;
    }

    /// Whether what comes is no data.
    #[inline]
    pub fn is_discarding(&self) -> bool {
        self.discarding
    }

    /// What comes is no data from now on; says whether that is new.
    fn discard(&mut self) -> bool {
        !std::mem::replace(&mut self.discarding, true)
    }

    /// What comes is data again; says whether it was none.
    fn stop_discarding(&mut self) -> bool {
        std::mem::take(&mut self.discarding)
    }
}

impl Connection {
    /// No more MPTCP from the very start: the peer, or the way to it, does not do it.
    pub(super) fn fall_back(&mut self, i: usize) {
        self.speak_plainly(i);
        self.entries[i].mappings.continue_without(1, 0);
        self.with(i, |entry, control| entry.tcp.reserve_options(0, control));
    }

    /// The options of subflow `i` are stripped half-way. While the subflow's bytes are the connection's, one for one,
    /// both go on as TCP; otherwise the connection can only do without this subflow. Linux draws the line there too
    /// (`allow_infinite_fallback` in net/mptcp/protocol.c).
    #[cold]
    #[inline(never)]
    pub(super) fn stripped(&mut self, i: usize) {
        if !self.fallback.is_one_to_one() || self.entries[i].join.is_some() {
            return self.refuse(i, reason::MIDDLEBOX);
        }
        self.speak_plainly(i);
        let entry = &mut self.entries[i];
        entry.mappings.continue_without(entry.delivered, self.receive.next());
    }

    /// The checksum of the mapping at `data_offset` is wrong.
    #[cold]
    #[inline(never)]
    pub(super) fn broken(&mut self, i: usize, data_offset: u64) {
        let others = self.others_carry(i);
        // Where everything begins again, so does what is missing before it.
        let data_offset = if others { data_offset } else { data_offset.min(self.receive.next()) };
        self.entries[i].failed = Some(self.agreed.receiving().number(data_offset));
        if others {
            self.refuse(i, reason::MIDDLEBOX);
        } else {
            // What follows is no data until the peer says where it goes on.
            self.fallback.discard();
            self.tell_failed(i);
        }
    }

    /// There is another subflow now: one that failed while it was the only one is done without.
    pub(super) fn do_without_failed(&mut self) {
        if self.fallback.stop_discarding() {
            for i in 0..self.entries.len() {
                if self.entries[i].failed.is_some() && !self.entries[i].is_over() {
                    self.refuse(i, reason::MIDDLEBOX);
                }
            }
        }
    }

    /// Asks for an ACK with MP_FAIL.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_failed(&mut self, i: usize) {
        let entry = &mut self.entries[i];
        entry.tell_failed = entry.failed.is_some();
        entry.tcp.acknowledge();
    }

    /// The peer could not use what we sent. Others may do without this subflow; if it is the only one, both directions go
    /// on as TCP from what failed, and say so to each other by the infinite mapping.
    #[cold]
    #[inline(never)]
    pub(super) fn peer_failed(&mut self, i: usize, data_seq: u64) {
        if self.others_carry(i) {
            return self.refuse(i, reason::MIDDLEBOX);
        }
        if self.fallback.discard() {
            self.entries[i].failed = Some(self.agreed.receiving().number(self.receive.next()));
        }
        self.tell_failed(i);
        // On a subflow that always was the only one, what lies before it arrived.
        if self.fallback.is_one_to_one()
            && let Some(data_offset) = self.agreed.sending().data_offset(DataNumber::Long(data_seq), self.send.una())
        {
            self.send.acknowledged(data_offset, 0);
        }
        self.begin_again(i);
    }

    /// The peer's infinite mapping: from `offset` on, subflow `i` is its data from `data_offset` on.
    #[cold]
    #[inline(never)]
    pub(super) fn mapped_infinitely(&mut self, i: usize, offset: u64, data_offset: u64) {
        self.entries[i].mappings.continue_without(offset, data_offset);
        (self.entries[i].failed, self.entries[i].tell_failed) = (None, false);
        self.fallback.stop_discarding();
        if self.mode == Mode::Multipath {
            self.begin_again(i);
        }
    }

    /// What we send begins again at what is acknowledged, after all that subflow `i` was given before.
    fn begin_again(&mut self, i: usize) {
        self.send.rewind();
        let tcp = &self.entries[i].tcp;
        let from = tcp.next_offset() + tcp.queued_bytes();
        self.entries[i].infinite_from = Some(from);
        self.fallback.send_from(from, self.send.una());
        self.speak_plainly(i);
    }

    /// The connection is TCP from now on, and subflow `i` all there is of it.
    fn speak_plainly(&mut self, i: usize) {
        self.mode = Mode::Plain;
        self.fallback.begin(i);
        self.send.bind();
        self.entries[i].tcp.allow_all();
        for (other, entry) in self.entries.iter_mut().enumerate() {
            if other != i && entry.tcp.state() != State::Closed {
                entry.tcp.abort();
            }
        }
    }
}
