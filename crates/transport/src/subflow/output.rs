//! What to send next.

use super::phase::Phase;
use super::state::{Due, State, Subflow, whole};
use super::timers::Repair;
use super::{Control, Emission, Kind, Piece};
use crate::congestion::Window;
use crate::recovery::pacing;
use crate::recovery::scoreboard::Record;
use wire::Time;

/// What a buffer of MPTCP holds at most, in whole segments: GSO_LEGACY_MAX_SIZE less MAX_TCP_HEADER and one
/// (sk_setup_caps, tcp_xmit_size_goal).
pub(super) const BUFFER_BYTES: u32 = 65_536 - 256 - 1;
const NOTHING: Piece = Piece { data_offset: 0, len: 0, data_fin: false, push: false };

impl Subflow {
    /// What to send now: retransmissions, then what was pushed while window and pacing allow, FIN, ACK, probe. It counts
    /// as sent at `now`; its header must be written before the next poll. `nagle`: a short segment waits until no other is on
    /// its way.
    pub fn poll(&mut self, now: Time, nagle: bool, control: &mut Control) -> Option<Emission> {
        if self.due.has(Due::RESET) || self.due.has(Due::REFUSAL) {
            return Some(self.poll_reset(control));
        }
        match self.state {
            State::Closed => return None,
            State::SynSent | State::SynReceived => return self.poll_syn(now),
            _ => {}
        }
        if self.has_data()
            && let Some(emission) = self.poll_data(now, nagle, control)
        {
            self.acknowledges(now, emission.len);
            return Some(emission);
        }
        let emission = self.poll_signal()?;
        self.acknowledges(now, 0);
        Some(emission)
    }

    #[cold]
    #[inline(never)]
    fn poll_reset(&mut self, control: &mut Control) -> Emission {
        if self.due.take(Due::RESET) {
            self.mirror(control);
            return bare(Kind::Reset, self.next);
        }
        self.due.clear(Due::REFUSAL);
        bare(Kind::Reset, self.refusal)
    }

    /// Whether [`Subflow::poll`] may give something.
    #[inline]
    pub fn has_something(&self) -> bool {
        // What is deferred waits for an ACK or for more data. Where there is pacing, a poll also sets its timer.
        let sends =
            || !self.unit.is_deferred() || self.queue.first().is_some_and(|piece| piece.len == 0) || self.paces();
        !self.due.is_empty() || self.flight.waiting() > 0 || !self.queue.is_empty() && sends()
    }

    /// Whether something may be due that takes room in the stream.
    #[inline]
    fn has_data(&self) -> bool {
        let signals = self.due.has(Due::TAIL) || self.due.has(Due::FIN) || self.due.has(Due::FAST);
        signals || !self.queue.is_empty() || self.flight.waiting() > 0 || self.timers.pace < Time::MAX
    }

    /// What to send again without knowing that it was lost, once [`Subflow::poll`] gave nothing and the connection has
    /// nothing new for this subflow either (RFC 6675 §4 NextSeg, rules 3 and 4).
    #[inline]
    pub fn poll_guess(&mut self, now: Time, control: &mut Control) -> Option<Emission> {
        if !self.guesses() || self.in_flight_packets() >= self.window_packets(control) || self.is_paced(now) {
            return None;
        }
        let emission = self.send_guess(now, control)?;
        self.acknowledges(now, emission.len);
        Some(emission)
    }

    /// Whether [`Subflow::poll_guess`] may give something.
    #[inline]
    pub fn guesses(&self) -> bool {
        self.recovery.phase() == Phase::Recovery && self.sack && !self.settings.rack
    }

    /// A segment leaves, with an ACK in it, and with `len` bytes of data.
    #[inline(always)] // every packet passes here
    fn acknowledges(&mut self, now: Time, len: u32) {
        self.due.clear(Due::ACK);
        self.timers.ack = Time::MAX;
        self.inbound.acknowledged();
        if len > 0
            && let Some(timeout) = &mut self.inbound.timeout
        {
            timeout.sent_data(now, self.ticks);
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_syn(&mut self, now: Time) -> Option<Emission> {
        if !self.due.take(Due::SYN) {
            return None;
        }
        let kind = if self.state == State::SynSent { Kind::Syn } else { Kind::SynAck };
        let retransmission = self.syn.send(now);
        self.retransmitted += u64::from(retransmission);
        self.next = 1;
        if !self.timers.awaits(Repair::Retransmit) {
            self.arm_retransmit(now);
        }
        Some(Emission { kind, offset: 0, len: 0, piece: None, retransmission })
    }

    /// Segments that take room in the stream.
    fn poll_data(&mut self, now: Time, nagle: bool, control: &mut Control) -> Option<Emission> {
        if self.due.take(Due::TAIL)
            && let Some(emission) = self.send_tail_probe(now, control)
        {
            return Some(emission);
        }
        let first_len = self.queue.first().map(|piece| piece.len);
        if first_len == Some(0) {
            return self.queue.pop().map(|piece| Emission { piece: Some(piece), ..bare(Kind::Data, self.next) });
        }
        if self.due.take(Due::FAST)
            && let Some(at) = self.flight.next_lost()
        {
            return Some(self.resend(now, at, control));
        }
        let cwnd_packets = self.window_packets(control);
        let room = self.in_flight_packets() < cwnd_packets;
        if room && self.is_paced(now) {
            return None;
        }
        if room {
            if !self.recovery.is_only_new()
                && let Some(at) = self.flight.next_lost()
            {
                return Some(self.resend(now, at, control));
            }
            if first_len.is_some_and(|len| u64::from(len) <= self.window_room_bytes())
                && !(nagle && self.holds_short())
                && !self.defers(now, cwnd_packets)
            {
                return self.send_new(now, control);
            }
        }
        // The window does not hold a FIN back, as in Linux.
        if first_len.is_none() && self.due.has(Due::FIN) {
            return Some(self.send(now, NOTHING, true, control));
        }
        None
    }

    /// Whether what waits is short, and another short segment is not acknowledged (RFC 9293 §3.7.4, in Minshall's variant:
    /// net/ipv4/tcp_output.c, tcp_nagle_check).
    fn holds_short(&self) -> bool {
        self.queue.len() == 1
            && self.short_until > self.acked
            && self.queue.first().is_some_and(|piece| piece.len < self.mss_bytes())
    }

    fn poll_signal(&mut self) -> Option<Emission> {
        if self.due.take(Due::ACK) {
            return Some(bare(Kind::Ack, self.next));
        }
        // RFC 9293 §3.8.4: a byte before the next one, which the peer must acknowledge.
        self.due.take(Due::PROBE).then(|| bare(Kind::Probe, self.next.wrapping_sub(1)))
    }

    /// Whether pacing holds the next segment; then the timer says until when.
    fn is_paced(&mut self, now: Time) -> bool {
        let held = self.paces() && self.pacing.holds(now) && (!self.queue.is_empty() || self.flight.waiting() > 0);
        self.timers.pace = if held { self.pacing.release() } else { Time::MAX };
        held
    }

    pub(super) fn paces(&self) -> bool {
        self.settings.pacing || self.delivery.is_some()
    }

    fn send_new(&mut self, now: Time, control: &mut Control) -> Option<Emission> {
        let piece = self.queue.pop()?;
        let fin = self.due.has(Due::FIN) && self.queue.is_empty();
        Some(self.send(now, piece, fin, control))
    }

    /// Data is about to be sent: where nothing is in flight, the time without is a pause, and after a long one the window
    /// begins anew (RFC 5681 §4.1). Says whether it did.
    #[inline]
    pub fn resume(&mut self, now: Time, control: &mut Control) -> bool {
        self.flight.is_empty() && now != self.last_sent && self.pause_ended(now, control)
    }

    #[inline(never)] // mostly something is in flight
    fn pause_ended(&mut self, now: Time, control: &mut Control) -> bool {
        let idle_ns = now - self.last_sent;
        self.last_sent = now;
        // A controller by rate has means of its own.
        let restart = self.settings.slow_start_after_idle && self.delivery.is_none() && idle_ns > self.rto.timeout_ns();
        control.congestion.resumed(control.index, now, idle_ns, restart);
        if restart {
            self.begin_anew(idle_ns, control);
            self.restarts = Some((idle_ns, 1));
        }
        restart
    }

    /// Upstream Linux begins anew with each buffer that MPTCP fills before the first leaves (tcp_skb_entail,
    /// tcp_slow_start_after_idle_check), and not only once.
    pub fn filled(&mut self, control: &mut Control) {
        let Some((idle_ns, done)) = self.restarts else { return };
        let goal_packets = BUFFER_BYTES / self.mss_bytes();
        let filled = self.queue.together(u32::MAX).div_ceil(goal_packets.max(1));
        for _ in done..filled {
            self.begin_anew(idle_ns, control);
        }
        self.restarts = Some((idle_ns, done.max(filled)));
    }

    fn begin_anew(&mut self, idle_ns: i64, control: &mut Control) {
        let (window, first) = (&mut control.windows[control.index], self.settings.initial_window_packets);
        self.usage.restart(self.last_sent, window, idle_ns, self.rto.timeout_ns(), first);
    }

    /// All that may leave now has left, while a writer waits or not.
    #[inline]
    pub fn rest(&mut self, now: Time, waits: bool, window: &mut Window) {
        if self.usage.take_sent() {
            self.validate(now, waits, window);
        }
    }

    /// A window that was not filled for a time-out comes down (tcp_cwnd_validate).
    fn validate(&mut self, now: Time, waits: bool, window: &mut Window) {
        let long = self.usage.validate(now, self.flight.len(), self.rto.timeout_ns(), waits, window);
        // A controller by rate has means of its own.
        let may = long && self.settings.slow_start_after_idle && self.delivery.is_none();
        if may && !self.is_disordered() && !self.is_reducing() {
            self.usage.come_down(window, self.settings.initial_window_packets);
        }
    }

    /// Sends for the first time.
    fn send(&mut self, now: Time, mut piece: Piece, fin: bool, control: &mut Control) -> Emission {
        self.resume(now, control);
        self.restarts = None;
        piece.push |= self.ends_unit();
        if self.delivery.is_some() {
            self.note_sending(now, self.next, control);
        }
        let record = Record::new(now, self.next, piece, fin);
        self.flight.sent(record);
        self.next = record.end();
        if piece.len < self.mss_bytes() {
            self.short_until = self.next;
        }
        if fin {
            self.due.clear(Due::FIN);
            self.fin_at = Some(self.next - 1);
            self.state = if self.state == State::CloseWait { State::LastAck } else { State::FinWait1 };
            self.mirror(control);
        }
        self.timers.set_persist(Time::MAX);
        self.sent_new(now, self.flight.len() == 1);
        let full = self.in_flight_packets() >= self.window_packets(control);
        self.usage.sent(full, self.flight.len(), self.acked, self.next);
        self.left(now, &record)
    }

    fn resend(&mut self, now: Time, at: usize, control: &mut Control) -> Emission {
        self.undo.resent(now);
        self.resend_as(now, at, false, control)
    }

    fn resend_as(&mut self, now: Time, at: usize, rescue: bool, control: &mut Control) -> Emission {
        let record = self.flight.resend(at, now, rescue);
        if self.delivery.is_some() {
            self.note_sending(now, record.offset, control);
        }
        self.retransmitted += 1;
        if at == 0 && !self.timers.awaits(Repair::Reorder) {
            self.arm_retransmit(now);
        }
        Emission { retransmission: true, ..self.left(now, &record) }
    }

    /// For a controller by rate.
    #[inline(never)] // few have one
    fn note_sending(&mut self, now: Time, offset: u64, control: &mut Control) {
        let Some((delivery, controller)) = self.delivery.as_mut().zip(control.congestion.by_rate()) else { return };
        let idle = self.flight.is_empty();
        if idle && delivery.is_limited() {
            let window = &mut control.windows[control.index];
            self.pacing.set_rate(controller.restarted(control.index, window, now));
        }
        delivery.sent(now, offset, idle);
    }

    /// Nothing is left to send.
    pub fn ran_dry(&mut self, window: &Window) {
        let in_flight = self.in_flight_packets();
        if let Some(delivery) = &mut self.delivery
            && self.queue.is_empty()
            && self.flight.waiting() == 0
            && in_flight < whole(window.cwnd_packets)
        {
            delivery.limit(in_flight);
        }
    }

    #[inline(always)] // every segment with data passes here
    fn left(&mut self, now: Time, record: &Record) -> Emission {
        self.last_sent = now;
        if self.is_reducing() {
            self.prr.sent();
        }
        if self.paces() {
            let rate = self.pacing_bytes_per_second();
            // What is sent again goes by itself.
            let single = self.delivery.is_none() || record.transmissions > 1;
            let burst = if single { 1 } else { pacing::burst_packets(rate, self.mss_bytes()) };
            self.pacing.sent(now, record.piece.len, rate, burst);
        }
        let kind = if record.fin { Kind::Fin } else { Kind::Data };
        let piece = (record.piece.len > 0).then_some(record.piece);
        Emission { kind, offset: record.offset, len: record.piece.len, piece, retransmission: false }
    }

    /// RFC 8985 §7.3: new data if there is some, else the last segment, whatever the window says.
    #[cold]
    #[inline(never)]
    fn send_tail_probe(&mut self, now: Time, control: &mut Control) -> Option<Emission> {
        let fits = |piece: &Piece| piece.len > 0 && u64::from(piece.len) <= self.window_room_bytes();
        let new = self.queue.first().is_some_and(fits);
        let emission = if new {
            self.send_new(now, control)?
        } else {
            let at = self.flight.last_unsacked()?;
            // Not counted by what takes losses back, as there was none (tcp_send_loss_probe).
            self.resend_as(now, at, false, control)
        };
        self.tlp.sent(self.next, !new);
        self.arm_retransmit(now);
        Some(emission)
    }

    #[inline(never)] // only after losses
    fn send_guess(&mut self, now: Time, control: &mut Control) -> Option<Emission> {
        // Rule 3
        if let Some(at) = self.flight.next_unsure() {
            return Some(self.resend(now, at, control));
        }
        // Rule 4, once a recovery
        if !self.settings.rescue_retransmission || !self.recovery.take_rescue() {
            return None;
        }
        let at = self.flight.last_unsacked()?;
        self.undo.resent(now);
        Some(self.resend_as(now, at, true, control))
    }
}

fn bare(kind: Kind, offset: u64) -> Emission {
    Emission { kind, offset, len: 0, piece: None, retransmission: false }
}
