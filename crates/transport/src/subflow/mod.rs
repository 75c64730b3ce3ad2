//! A TCP connection (RFC 9293): for MPTCP one subflow, for plain TCP all there is.
//!
//! Places in the stream are 64-bit offsets from the initial sequence number: 0 is the SYN, 1 the first byte of data,
//! which is also what the subflow sequence number of a DSS mapping counts.

use crate::config;
use crate::congestion::{Congestion, Window};
use crate::scheduler::PathView;
use std::net::SocketAddr;
use std::ops::Range;
use wire::{Options, Tcp, Time};

/// The windows of a connection, its controller, and which of them is this subflow's.
pub struct Control<'a> {
    /// The connection's controller.
    pub congestion: &'a mut dyn Congestion,
    /// A window per subflow of the connection.
    pub windows: &'a mut [Window],
    /// This subflow's place among them.
    pub index: usize,
}

/// A piece of the connection's data given to a subflow to send: becomes one segment, so at most
/// [`Subflow::mss_bytes`] long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Place of its first byte in the connection's data, from 0.
    pub data_offset: u64,
    /// Bytes; 0 only for a DATA_FIN alone, which takes no place in the subflow.
    pub len: u32,
    /// Whether the connection's data ends after it (DATA_FIN).
    pub data_fin: bool,
}

/// A segment that a subflow wants to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte (for an ACK: of the next one to come).
    pub offset: u64,
    /// Bytes of payload.
    pub len: u32,
    /// The piece that it carries, for [`Kind::Data`].
    pub piece: Option<Piece>,
    /// Whether these bytes were sent before.
    pub retransmission: bool,
}

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Opens the subflow.
    Syn,
    /// Answers a SYN.
    SynAck,
    /// Acknowledges, or updates the window.
    Ack,
    /// Carries data (and acknowledges).
    Data,
    /// Ends this direction.
    Fin,
    /// Refuses or aborts.
    Reset,
    /// Asks for an answer with nothing new: keep-alive (RFC 9293 §3.8.4) or zero-window probe (§3.8.6.1).
    Probe,
}

/// What a segment that came in did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Whether the segment was acceptable (RFC 9293 §3.10.7.4): otherwise everything else is empty.
    pub acceptable: bool,
    /// It completed the handshake.
    pub established: bool,
    /// Bytes that are now in order and were not before, without SYN and FIN.
    pub in_order: Range<u64>,
    /// Everything below this offset is acknowledged by the peer.
    pub acked: u64,
    /// The peer's window in bytes, scaled.
    pub window_bytes: u64,
    /// The peer's FIN came in order now.
    pub finished: bool,
    /// The peer reset the subflow.
    pub reset: bool,
}

/// What a timer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// The retransmission timer: the whole flight counts as lost. How often in a row it did.
    Timeout(u32),
    /// Nobody answers: the subflow is given up.
    GivenUp,
    /// TIME-WAIT, or waiting for a FIN, ended.
    Closed,
}

// The contract of `Subflow`, which stands in state.rs, input.rs, output.rs:
//
// pub fn connect(now: Time, settings: &config::Tcp, local: SocketAddr, remote: SocketAddr, isn: u32, mtu_bytes: u32) -> Subflow
// pub fn accept(now: Time, settings: &config::Tcp, local: SocketAddr, remote: SocketAddr, isn: u32, mtu_bytes: u32, syn: &Tcp) -> Subflow
//
// pub fn receive(&mut self, now: Time, tcp: &Tcp, len: u32, control: &mut Control) -> Received
// pub fn deadline(&self) -> Time
// pub fn timeout(&mut self, now: Time, control: &mut Control) -> Option<Expired>
//
// pub fn push(&mut self, piece: Piece)                      // new data at the end of the stream; not before established
// pub fn poll(&mut self, now: Time, control: &mut Control) -> Option<Emission>
//     // what to send now, retransmissions first, then pushed pieces while cwnd (and pacing) allow, then ACK, FIN
//     // records it as sent at `now`; the caller must then build it:
// pub fn header(&mut self, now: Time, emission: &Emission, window_bytes: u64, mptcp: &[TcpOption]) -> Tcp
//     // ports, numbers, flags, window (scaled), options: MSS, SACK permitted, timestamps, window scale on SYNs; the
//     // connection's `mptcp` options; SACK blocks in what room is left
//
// pub fn close(&mut self)        // FIN after all that was pushed
// pub fn abort(&mut self)        // RST on the next poll, then closed
// pub fn acknowledge(&mut self)  // the next poll gives an ACK even if none is due (window update, signals)
// pub fn probe(&mut self, wanted: bool)   // peer's window is closed and nothing is in flight: run the persist timer
// pub fn free(&mut self) -> ...  // read receive side facts
//
// pub fn view(&self, window: &Window) -> PathView  etc.: getters
