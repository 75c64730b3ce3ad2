//! A segment came in (RFC 9293 §3.10.7.4, RFC 5961, RFC 7323 §5.3).

use super::header::TIMESTAMPS_BYTES;
use super::inbound::{AckDue, Circumstances, HEADER_BYTES};
use super::state::{Due, State, Subflow};
use super::{Control, Received, Room};
use wire::{Brief, Flags, Tcp, Time, seq};

/// The widest window there is (RFC 7323 §2.3): nothing lies further ahead.
const WIDEST_WINDOW: i64 = 1 << 30;
/// Segments without payload that are not acceptable are answered no more often, or two ends could go on for ever
/// (Linux's `tcp_invalid_ratelimit`).
const ANSWER_INTERVAL_NS: i64 = 500_000_000;

impl Subflow {
    /// A segment of this subflow came in, with `len` bytes of payload, for which there is `room`; its options are read already.
    pub fn receive(
        &mut self,
        now: Time,
        tcp: &Tcp,
        said: &Brief,
        len: u32,
        room: Room,
        control: &mut Control,
    ) -> Received {
        match self.state {
            State::Closed => return Received::default(),
            State::SynSent => return self.receive_first(now, tcp, control),
            _ => {}
        }
        let (mut start, mut len) = (self.inbound.offset(tcp.seq), len);
        if tcp.flags.has(Flags::SYN) {
            // What it carries was taken.
            let taken = self.inbound.syn_bytes();
            start += i64::from(taken);
            len -= len.min(taken);
        }
        let end = start + i64::from(len);
        let is_old = self.clock.is_old(now, said.timestamps.map(|(peer, _)| peer));
        if !self.is_acceptable(tcp, said, is_old, start, end) {
            if !tcp.flags.has(Flags::RST) {
                self.receive_unacceptable(now, tcp, is_old, start, len);
            }
            return Received::default();
        }
        self.last_heard = now;
        if tcp.flags.has(Flags::RST) {
            return self.receive_reset(now, start, control);
        }
        let crossed = self.state == State::SynReceived && start == 0;
        if tcp.flags.has(Flags::SYN) && !crossed {
            // RFC 5961 §4.2
            self.answer(now, 0);
            return Received::default();
        }
        if !tcp.flags.has(Flags::ACK) {
            return Received::default();
        }
        let mut received = Received { acceptable: true, ..Received::default() };
        if self.state == State::SynReceived {
            if tcp.ack != self.isn.wrapping_add(1) {
                self.refuse(tcp.ack);
                return Received::default();
            }
            self.establish(now, said.timestamps.map(|(_, echo)| echo), control);
            received.established = true;
        }
        if start <= self.inbound.acked as i64 && !is_old {
            self.clock.hear(now, said.timestamps.map(|(peer, _)| peer));
        }
        let acked_before = self.acked;
        if !self.acknowledged(now, tcp, len, said, control) {
            return Received::default();
        }
        (received.acked, received.in_order) = (self.acked, self.inbound.next..self.inbound.next);
        // Of an ACK that others overtook, what its window still allows.
        let overtaken = i64::from(seq::diff(self.isn.wrapping_add(self.acked as u32), tcp.ack)).max(0);
        let is_syn = tcp.flags.has(Flags::SYN);
        let window_bytes = if is_syn { u64::from(tcp.window) } else { self.scaling.advertised_bytes(tcp.window) };
        received.window_bytes = window_bytes.saturating_sub(overtaken as u64);
        if overtaken == 0 {
            let news = received.established || self.acked > acked_before || len > 0;
            self.send_window.update(start, news, window_bytes);
        }
        received.kept_window_bytes = self.send_window.bytes();
        if self.accept_cwr(tcp.flags, len) {
            self.due.set(Due::ACK);
        }
        if len > 0 || tcp.flags.has(Flags::FIN) {
            let compresses = self.sack && self.settings.ack_compression && self.settings.delayed_ack_ns.is_some();
            let of_each = if self.clock.is_used() { TIMESTAMPS_BYTES } else { 0 };
            let at = Circumstances {
                now,
                room,
                rto_ns: self.rto.timeout_ns(),
                sack: self.sack,
                compresses,
                ends_write: tcp.flags.has(Flags::PSH) || tcp.flags.has(Flags::FIN),
                options_bytes: (tcp.options.as_bytes().len() as u32).saturating_sub(of_each),
                header_bytes: HEADER_BYTES + of_each,
                srtt_ns: self.rto.srtt_ns(),
                ticks: self.ticks,
            };
            self.receive_data(&at, start, end, tcp.flags.has(Flags::FIN), &mut received);
        }
        self.advance(now);
        self.mirror(control);
        received
    }

    /// RFC 9293 §3.10.7.4, first; RFC 7323 §5.3, R1: others came before that were sent later if it `is_old`.
    fn is_acceptable(&self, tcp: &Tcp, said: &Brief, is_old: bool, start: i64, end: i64) -> bool {
        if tcp.flags.has(Flags::RST) {
            return start >= self.inbound.acked as i64 && start - (self.inbound.next as i64) < WIDEST_WINDOW;
        }
        if is_old && !self.is_overtaken(tcp, said, start, end) {
            return false;
        }
        if self.state == State::SynReceived && tcp.flags.has(Flags::SYN.with(Flags::ACK)) && start == 0 {
            // The SYN of a simultaneous open, acknowledged.
            return tcp.ack == self.isn.wrapping_add(1);
        }
        // As Linux does, what was not acknowledged yet counts as part of the window, so that late ACKs are heard.
        end + i64::from(tcp.flags.has(Flags::FIN)) >= self.inbound.acked as i64
            && start - (self.inbound.next as i64) < WIDEST_WINDOW
    }

    /// Whether an old segment is an ACK that says nothing new and was overtaken not long ago: what its options say counts
    /// (net/ipv4/tcp_input.c, tcp_disordered_ack_check).
    #[cold]
    #[inline(never)]
    fn is_overtaken(&self, tcp: &Tcp, said: &Brief, start: i64, end: i64) -> bool {
        let is_next = is_pure_ack(tcp, start, end) && start == self.inbound.next as i64;
        let is_repeated = tcp.ack == self.isn.wrapping_add(self.acked as u32);
        let changes_window = self.send_window.takes(start, self.scaling.advertised_bytes(tcp.window));
        let replay_ns = self.rto.timeout_ns() * 6 / 5; // tcp_tsval_replay
        let is_late = said.timestamps.is_some_and(|(peer, _)| self.clock.is_late_by(peer, replay_ns));
        is_next && is_repeated && !changes_window && is_late
    }

    /// A segment that is not acceptable, and no reset, begins at `start`.
    #[cold]
    #[inline(never)]
    fn receive_unacceptable(&mut self, now: Time, tcp: &Tcp, is_old: bool, start: i64, len: u32) {
        let is_behind = start < self.inbound.next as i64;
        if is_behind && is_pure_ack(tcp, start, start + i64::from(len)) && is_old {
            // Not worth an answer (SKB_DROP_REASON_TCP_RFC7323_PAWS_ACK).
            return;
        }
        if self.state == State::SynReceived && tcp.flags.has(Flags::SYN) && start == 0 {
            // Our SYN/ACK was lost.
            self.due.set(Due::SYN);
            return;
        }
        if len > 0 && start > 0 {
            self.inbound.came_again(start as u64..start as u64 + u64::from(len));
        }
        self.answer(now, len);
    }

    /// RFC 5961 §3.2: only one exactly in order is believed.
    #[cold]
    #[inline(never)]
    fn receive_reset(&mut self, now: Time, start: i64, control: &mut Control) -> Received {
        if start != self.inbound.next as i64 {
            self.answer(now, 0);
            return Received::default();
        }
        let reset = !matches!(self.state, State::Closing | State::LastAck | State::TimeWait);
        self.shut();
        self.mirror(control);
        Received { acceptable: true, reset, ..Received::default() }
    }

    fn receive_data(&mut self, at: &Circumstances, start: i64, end: i64, fin: bool, received: &mut Received) {
        match self.state {
            State::Established | State::FinWait1 | State::FinWait2 => {}
            // It all came before, and our ACK was lost (RFC 9293 §3.10.7.4, eighth).
            state => {
                if state == State::TimeWait {
                    self.timers.set_linger(at.now + self.settings.time_wait_ns);
                }
                self.due.set(Due::ACK);
                return;
            }
        }
        if end + i64::from(fin) > self.inbound.next as i64 {
            let marks = self.ecn.take_mark();
            if marks > 0 {
                self.inbound.hurry_acks(marks);
            }
        }
        let arrival = self.inbound.arrive(at, start.max(1) as u64..end.max(1) as u64, fin);
        received.waits_for_reader = arrival.ack != AckDue::Now;
        match arrival.ack {
            AckDue::No => {}
            AckDue::By(time) => self.timers.ack = self.timers.ack.min(time),
            AckDue::Now | AckDue::Read => self.due.set(Due::ACK),
        }
        (received.in_order, received.finished) = (arrival.in_order, arrival.finished);
        if arrival.finished {
            self.state = match self.state {
                State::Established => State::CloseWait,
                State::FinWait1 if !self.fin_acknowledged() => State::Closing,
                _ => State::TimeWait,
            };
        }
    }

    /// What acknowledged FINs and TIME-WAIT bring.
    fn advance(&mut self, now: Time) {
        if self.fin_acknowledged() {
            self.state = match self.state {
                State::FinWait1 => State::FinWait2,
                State::Closing => State::TimeWait,
                State::LastAck => return self.shut(),
                state => state,
            };
        }
        if self.timers.linger() == Time::MAX {
            match self.state {
                State::TimeWait => self.timers.set_linger(now + self.settings.time_wait_ns),
                State::FinWait2 if self.orphaned => self.timers.set_linger(now + self.settings.fin_timeout_ns),
                _ => {}
            }
        }
    }

    /// An ACK for a segment that is not acceptable.
    #[cold]
    #[inline(never)]
    pub(super) fn answer(&mut self, now: Time, len: u32) {
        if len > 0 || now - self.last_answer >= ANSWER_INTERVAL_NS {
            self.last_answer = now;
            self.due.set(Due::ACK);
        }
    }

    /// Everything ends here.
    #[cold]
    #[inline(never)]
    pub(super) fn shut(&mut self) {
        (self.state, self.timers, self.due) = (State::Closed, super::timers::Timers::NONE, Due::default());
    }
}

/// Whether a segment from offset `start` to `end` takes no sequence numbers.
fn is_pure_ack(tcp: &Tcp, start: i64, end: i64) -> bool {
    tcp.flags.has(Flags::ACK) && !tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::FIN) && start == end
}
