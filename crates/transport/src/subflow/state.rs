//! What a subflow is and what can be asked of it.

use super::{Control, Emission, Expired, Piece, Received};
use crate::config;
use crate::congestion::Window;
use crate::scheduler::PathView;
use std::net::SocketAddr;
use wire::{Tcp, TcpOption, Time};

/// State of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Sent a SYN.
    SynSent,
    /// Sent and received a SYN.
    SynReceived,
    /// Open both ways.
    Established,
    /// Sent a FIN.
    FinWait1,
    /// Had it acknowledged.
    FinWait2,
    /// Received a FIN.
    CloseWait,
    /// Both sent a FIN, neither knows the other's was sent after its own arrived.
    Closing,
    /// Received a FIN, then sent one.
    LastAck,
    /// Both FINs are acknowledged; stray segments may come.
    TimeWait,
    /// Over.
    Closed,
}

/// A TCP connection.
#[derive(Debug)]
pub struct Subflow {
    local: SocketAddr,
    remote: SocketAddr,
    state: State,
}

#[allow(unused_variables)]
impl Subflow {
    /// Opens a subflow; `isn` is its initial sequence number, `mtu_bytes` what packets of its interface may hold.
    pub fn connect(
        now: Time,
        settings: &config::Tcp,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
        mtu_bytes: u32,
    ) -> Subflow {
        todo!()
    }

    /// Answers `syn`.
    pub fn accept(
        now: Time,
        settings: &config::Tcp,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
        mtu_bytes: u32,
        syn: &Tcp,
    ) -> Subflow {
        todo!()
    }

    /// A segment of this subflow came in, with `len` bytes of payload.
    pub fn receive(&mut self, now: Time, tcp: &Tcp, len: u32, control: &mut Control) -> Received {
        todo!()
    }

    /// When [`Subflow::timeout`] or [`Subflow::poll`] (pacing) is to be called.
    pub fn deadline(&self) -> Time {
        todo!()
    }

    /// The deadline has come. Call again until it says nothing.
    pub fn timeout(&mut self, now: Time, control: &mut Control) -> Option<Expired> {
        todo!()
    }

    /// New data at the end of the stream; not before it is established, not after [`Subflow::close`].
    pub fn push(&mut self, piece: Piece) {
        todo!()
    }

    /// What to send now: retransmissions, then what was pushed while window and pacing allow, FIN, ACK, probe. It counts
    /// as sent at `now`; [`Subflow::header`] must follow before the next poll.
    pub fn poll(&mut self, now: Time, control: &mut Control) -> Option<Emission> {
        todo!()
    }

    /// The header of `emission` with the connection's own options before the selective acknowledgements, which take what
    /// room is left. `window_bytes` is the window to announce, not scaled. Of `mptcp` what finds no room is left out.
    pub fn header(&mut self, now: Time, emission: &Emission, window_bytes: u64, mptcp: &[TcpOption]) -> Tcp {
        todo!()
    }

    /// Ends this direction after all that was pushed.
    pub fn close(&mut self) {
        todo!()
    }

    /// Gives up: the next poll gives a reset (unless the peer knows nothing of the subflow), and the state is closed.
    pub fn abort(&mut self) {
        todo!()
    }

    /// Nobody reads any more: the peer's FIN is waited for no longer than [`config::Tcp::fin_timeout_ns`].
    pub fn orphan(&mut self, now: Time) {
        todo!()
    }

    /// The next poll gives an ACK even when none is due (window update, signals).
    pub fn acknowledge(&mut self) {
        todo!()
    }

    /// Whether the peer's window is closed and nothing is in flight: runs the persist timer (RFC 9293 §3.8.6.1).
    pub fn probe(&mut self, now: Time, wanted: bool) {
        todo!()
    }

    /// Leaves room for `bytes` of the connection's options (a multiple of 4) in every full segment.
    pub fn reserve_options(&mut self, bytes: u32, control: &mut Control) {
        todo!()
    }

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
        todo!()
    }

    /// Whether data may be pushed: established and this direction not ended.
    pub fn can_send(&self) -> bool {
        todo!()
    }

    /// Payload of a full segment, with the options that go with it taken off.
    pub fn mss_bytes(&self) -> u32 {
        todo!()
    }

    /// How often the SYN, or the SYN/ACK, was sent.
    pub fn syn_transmissions(&self) -> u32 {
        todo!()
    }

    /// Own initial sequence number.
    pub fn isn(&self) -> u32 {
        todo!()
    }

    /// The peer's; 0 before its SYN came.
    pub fn peer_isn(&self) -> u32 {
        todo!()
    }

    /// Segments in flight: sent and neither acknowledged nor taken for lost.
    pub fn in_flight_packets(&self) -> u32 {
        todo!()
    }

    /// Pushed and not yet sent.
    pub fn queued_bytes(&self) -> u64 {
        todo!()
    }

    /// Pushed and not yet sent.
    pub fn queued_packets(&self) -> u32 {
        todo!()
    }

    /// How many more pieces the congestion window would let go now.
    pub fn free_packets(&self, window: &Window) -> u32 {
        todo!()
    }

    /// Smoothed round-trip time; none before the first sample.
    pub fn srtt_ns(&self) -> Option<i64> {
        todo!()
    }

    /// Mean deviation of the round-trip time.
    pub fn rttvar_ns(&self) -> i64 {
        todo!()
    }

    /// Least round-trip time seen.
    pub fn min_rtt_ns(&self) -> Option<i64> {
        todo!()
    }

    /// Retransmission time-out with its back-off.
    pub fn rto_ns(&self) -> i64 {
        todo!()
    }

    /// Retransmission time-outs in a row, without an acknowledgement of anything new.
    pub fn timeouts(&self) -> u32 {
        todo!()
    }

    /// Segments sent again so far, SYN and FIN among them.
    pub fn retransmitted_packets(&self) -> u64 {
        todo!()
    }

    /// Everything below is acknowledged.
    pub fn acked_offset(&self) -> u64 {
        todo!()
    }

    /// Next offset to send that was never sent.
    pub fn next_offset(&self) -> u64 {
        todo!()
    }

    /// Next offset expected from the peer.
    pub fn receive_next(&self) -> u64 {
        todo!()
    }

    /// Bytes that came out of order.
    pub fn out_of_order_bytes(&self) -> u64 {
        todo!()
    }

    /// Whether all that was pushed is acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        todo!()
    }

    /// What was sent and neither acknowledged nor selectively acknowledged, in order.
    pub fn unacknowledged(&self) -> impl Iterator<Item = Piece> + '_ {
        std::iter::empty()
    }

    /// What was pushed and not yet sent, in order.
    pub fn queued(&self) -> impl Iterator<Item = Piece> + '_ {
        std::iter::empty()
    }

    /// Whether the FIN was sent.
    pub fn fin_sent(&self) -> bool {
        todo!()
    }

    /// Whether the peer acknowledged it.
    pub fn fin_acknowledged(&self) -> bool {
        todo!()
    }

    /// Whether the peer's FIN came, in order.
    pub fn fin_received(&self) -> bool {
        todo!()
    }

    /// Whether a time-out's losses are being repaired.
    pub fn in_loss(&self) -> bool {
        todo!()
    }

    /// Rate at which it could send: window over round-trip time with Linux's gain.
    pub fn pacing_bytes_per_second(&self, window: &Window) -> u64 {
        todo!()
    }

    /// What a scheduler sees; the connection says whether it is `backup` or stale.
    pub fn view(&self, subflow: usize, window: &Window) -> PathView {
        todo!()
    }
}
