//! What can be asked of a subflow.

use super::Piece;
use super::inbound::LEAST_SEGMENT_BYTES;
use super::phase::Phase;
use super::state::{Due, State, Subflow, whole};
use crate::congestion::Window;
use crate::memory::Memory;
use crate::recovery::scoreboard::Scoreboard;
use crate::scheduler::PathView;
use std::net::SocketAddr;
use wire::Time;

impl Subflow {
    /// State.
    pub fn state(&self) -> State {
        self.state
    }

    /// Local end.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Remote end.
    pub fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// Whether the handshake is over and the subflow is not closed.
    pub fn is_established(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed)
    }

    /// Whether data may be pushed: established and this direction not ended.
    pub fn can_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.due.has(Due::FIN)
    }

    /// How long ago this end's clock showed what the peer echoes; nothing if it never did.
    pub fn echoed_ns(&self, now: Time, echo: u32) -> Option<i64> {
        self.clock.since_ns(now, echo)
    }

    /// Payload of a full segment, with the options that go with it taken off.
    #[inline]
    pub fn mss_bytes(&self) -> u32 {
        self.segment_size.payload()
    }

    /// How often the SYN, or the SYN/ACK, was sent.
    pub fn syn_transmissions(&self) -> u32 {
        self.syn.transmissions()
    }

    /// Own initial sequence number.
    pub fn isn(&self) -> u32 {
        self.isn
    }

    /// The peer's; 0 before its SYN came.
    pub fn peer_isn(&self) -> u32 {
        self.inbound.isn
    }

    /// Segments in flight: sent and neither acknowledged nor taken for lost.
    pub fn in_flight_packets(&self) -> u32 {
        // Without selective ACKs, each duplicate says that one arrived.
        self.flight.pipe().saturating_sub(self.newreno.duplicates())
    }

    /// Pushed and not yet sent.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Pushed and not yet sent.
    pub fn queued_packets(&self) -> u32 {
        self.queue.len()
    }

    /// How many more pieces the congestion window would let go now.
    pub fn free_packets(&self, window: &Window) -> u32 {
        whole(window.cwnd_packets).saturating_sub(self.in_flight_packets() + self.queued_packets())
    }

    /// Smoothed round-trip time; none before the first sample.
    pub fn srtt_ns(&self) -> Option<i64> {
        self.rto.srtt_ns()
    }

    /// Mean deviation of the round-trip time.
    pub fn rttvar_ns(&self) -> i64 {
        self.rto.rttvar_ns()
    }

    /// Least round-trip time seen.
    pub fn min_rtt_ns(&self) -> Option<i64> {
        self.rto.min_rtt_ns()
    }

    /// Retransmission time-out with its back-off.
    pub fn rto_ns(&self) -> i64 {
        self.rto.timeout_ns()
    }

    /// When the timer was to end that waits for an answer (icsk_timeout); none: nothing is waited for.
    pub fn answer_deadline(&self) -> Option<Time> {
        let first = self.timers.asked().min(self.timers.persist());
        (first < Time::MAX).then_some(first)
    }

    /// Retransmission time-outs in a row, without an acknowledgement of anything new.
    pub fn timeouts(&self) -> u32 {
        self.timeouts.count()
    }

    /// Segments sent again so far, SYN and FIN among them.
    pub fn retransmitted_packets(&self) -> u64 {
        self.retransmitted
    }

    /// Everything below is acknowledged.
    pub fn acked_offset(&self) -> u64 {
        self.acked
    }

    /// Next offset to send that was never sent.
    pub fn next_offset(&self) -> u64 {
        self.next
    }

    /// Next offset expected from the peer.
    pub fn receive_next(&self) -> u64 {
        self.inbound.next
    }

    /// How far the window has grown with the segments that came.
    pub fn window_grown_bytes(&self) -> u64 {
        self.inbound.grown_bytes
    }

    /// Whether an ACK is to leave at once.
    pub fn owes_ack(&self) -> bool {
        self.due.has(Due::ACK)
    }

    /// Whether an ACK waits for a second segment that the peer may not have.
    pub fn ack_waits_in_vain(&self) -> bool {
        !self.owes_ack() && self.inbound.waits_in_vain()
    }

    /// Its receive buffer.
    pub fn memory(&self) -> &Memory {
        &self.inbound.memory
    }

    /// So much was read in a round trip (net/ipv4/tcp_input.c, tcp_rcvbuf_grow).
    pub fn grow_memory(&mut self, read: u64) {
        let ahead = self.inbound.span_bytes();
        self.inbound.memory.grow(read, ahead);
    }

    /// Payload of the peer's full segments, as seen.
    pub fn segment_bytes(&self) -> u64 {
        u64::from(self.inbound.segment_bytes.max(LEAST_SEGMENT_BYTES))
    }

    /// By how many bits the windows that it announces are shifted.
    pub fn window_shift(&self) -> u8 {
        self.scaling.own_shift()
    }

    /// Bytes that came out of order.
    pub fn out_of_order_bytes(&self) -> u64 {
        self.inbound.out_of_order_bytes()
    }

    /// Whether any of what was pushed left.
    pub fn has_sent(&self) -> bool {
        self.next > 1
    }

    /// Whether all that was pushed is acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.queue.is_empty() && self.flight.is_empty()
    }

    /// What was sent and not acknowledged, in order. Also what was selectively acknowledged: the peer may hold it back
    /// until the subflow is in order.
    pub fn unacknowledged(&self) -> impl Iterator<Item = Piece> + '_ {
        self.flight.records().filter(|record| record.piece.len > 0).map(|record| record.piece)
    }

    /// What was pushed and not yet sent, in order.
    pub fn queued(&self) -> impl Iterator<Item = Piece> + '_ {
        self.queue.pieces().copied()
    }

    /// What is in flight.
    pub fn flight(&self) -> &Scoreboard {
        &self.flight
    }

    /// Whether the FIN was sent.
    pub fn fin_sent(&self) -> bool {
        self.fin_at.is_some()
    }

    /// Whether the peer acknowledged it.
    pub fn fin_acknowledged(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.acked > fin)
    }

    /// Whether the peer's FIN came, in order.
    pub fn fin_received(&self) -> bool {
        self.inbound.finished
    }

    /// Bytes that the peer's window of this subflow lets be sent.
    pub fn window_room_bytes(&self) -> u64 {
        self.send_window.room_bytes(self.next)
    }

    /// Whether the peer's window of this subflow lets nothing go and nothing is in flight.
    pub fn is_window_closed(&self) -> bool {
        let bytes = self.queue.first().map_or(self.mss_bytes(), |piece| piece.len);
        self.flight.is_empty() && self.window_room_bytes() < u64::from(bytes)
    }

    /// Whether something is out of order, or was sent again (not TCP_CA_Open).
    pub(super) fn is_disordered(&self) -> bool {
        !self.recovery.is_open() || self.flight.sacked() > 0 || !self.flight.is_clean()
    }

    /// Whether no losses are being repaired.
    pub fn is_calm(&self) -> bool {
        self.recovery.is_open()
    }

    /// Whether a time-out's losses are being repaired.
    pub fn in_loss(&self) -> bool {
        self.recovery.phase() == Phase::Loss
    }

    /// Rate at which it could send, as of the last ACK: what its controller paces at, else window over round-trip time with
    /// Linux's gain; of whole segments, options that take data's place included.
    pub fn pacing_bytes_per_second(&self) -> u64 {
        let reserved_bytes = self.segment_size.reserved();
        if reserved_bytes == 0 {
            return self.pacing.rate();
        }
        let mss_bytes = u64::from(self.mss_bytes());
        self.pacing.rate().saturating_mul(mss_bytes + u64::from(reserved_bytes)) / mss_bytes
    }

    /// What a scheduler sees; the connection adds whether it is `backup` or stale.
    #[inline(always)] // written where it goes rather than copied there
    pub fn view(&self, subflow: usize, window: &Window) -> PathView {
        PathView {
            subflow,
            joined: 0,
            srtt_ns: self.srtt_ns(),
            rttvar_ns: self.rttvar_ns(),
            cwnd_packets: whole(window.cwnd_packets),
            ssthresh_packets: window.ssthresh_packets,
            in_flight_packets: self.in_flight_packets(),
            queued_bytes: self.queue.bytes(),
            unacknowledged_packets: self.flight.len(),
            send_buffer_bytes: self.send_buffer_bytes,
            pacing_bytes_per_second: self.pacing_bytes_per_second(),
            mss_bytes: self.mss_bytes(),
            backup: false,
            stale: false,
            in_loss: self.in_loss(),
        }
    }
}
