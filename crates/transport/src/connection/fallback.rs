//! What happens when MPTCP cannot go on: options are stripped, or what they say of the payload is wrong
//! (RFC 8684 §3.7).

use super::open::reason;
use super::{Connection, Mode};
use crate::subflow::State;
use wire::mptcp::DataNumber;

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
        if !self.linear || self.entries[i].join.is_some() {
            return self.refuse(i, reason::MIDDLEBOX);
        }
        self.speak_plainly(i);
        let entry = &mut self.entries[i];
        entry.mappings.continue_without(entry.delivered, self.receive.next());
    }

    /// The checksum of the mapping at `place` is wrong.
    #[cold]
    #[inline(never)]
    pub(super) fn broken(&mut self, i: usize, place: u64) {
        let others = self.others_carry(i);
        // Where everything begins again, so does what is missing before it.
        let place = if others { place } else { place.min(self.receive.next()) };
        self.entries[i].failed = Some(self.agreed.receiving().number(place));
        if others {
            self.refuse(i, reason::MIDDLEBOX);
        } else {
            // What follows is no data until the peer says where it goes on.
            self.discarding = true;
            self.tell_failed(i);
        }
    }

    /// There is another subflow now: one that failed while it was the only one is done without.
    pub(super) fn do_without_failed(&mut self) {
        if std::mem::take(&mut self.discarding) {
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
        if !self.discarding {
            self.discarding = true;
            self.entries[i].failed = Some(self.agreed.receiving().number(self.receive.next()));
        }
        self.tell_failed(i);
        // On a subflow that always was the only one, what lies before it arrived.
        if self.linear
            && let Some(place) = self.agreed.sending().place(DataNumber::Long(data_seq), self.send.una())
        {
            self.send.acknowledged(place, 0);
        }
        self.begin_again(i);
    }

    /// The peer's infinite mapping: from `offset` on, subflow `i` is its data from `place` on.
    #[cold]
    #[inline(never)]
    pub(super) fn mapped_infinitely(&mut self, i: usize, offset: u64, place: u64) {
        self.entries[i].mappings.continue_without(offset, place);
        (self.entries[i].failed, self.entries[i].tell_failed) = (None, false);
        self.discarding = false;
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
        self.plain_base = (from, self.send.una());
        self.speak_plainly(i);
    }

    /// The connection is TCP from now on, and subflow `i` all there is of it.
    fn speak_plainly(&mut self, i: usize) {
        (self.mode, self.plain) = (Mode::Plain, i);
        self.send.bind();
        self.entries[i].tcp.allow_all();
        for (other, entry) in self.entries.iter_mut().enumerate() {
            if other != i && entry.tcp.state() != State::Closed {
                entry.tcp.abort();
            }
        }
    }
}
