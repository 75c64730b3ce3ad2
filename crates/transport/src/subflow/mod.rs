//! A TCP connection (RFC 9293): for MPTCP one subflow, for plain TCP all there is.
//!
//! Offsets in the stream are 64-bit, from the initial sequence number: 0 is the SYN, 1 the first byte of data,
//! which is also what the subflow sequence number of a DSS mapping counts.

mod ack;
mod ack_timeout;
mod clock;
mod compression;
mod deferral;
mod ecn;
mod expire;
mod handshake;
mod header;
mod inbound;
mod output;
mod phase;
mod queue;
mod receive;
mod repair;
mod scaling;
mod segment_size;
mod send_buffer;
mod send_window;
mod state;
mod timers;
mod too_big;
mod view;

pub use state::{State, Subflow};
pub(crate) use too_big::cut;

use crate::congestion::{Congestion, Window};
use std::ops::Range;

/// What a subflow knows of its connection: the windows, their controller, and which of them is its own.
pub struct Control<'a> {
    /// The connection's controller.
    pub congestion: &'a mut dyn Congestion,
    /// A window per subflow of the connection.
    pub windows: &'a mut [Window],
    /// This subflow's place among them.
    pub index: usize,
}

/// How wide a window a subflow may tell the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The receive buffer of which the window may take all, as far as the connection knows,
    pub buffer_bytes: u64,
    /// but for what the application has not read.
    pub unread_bytes: u64,
    /// The window that was announced last: rcv_wnd.
    pub advertised_bytes: u64,
}

/// A piece of the connection's data given to a subflow to send: becomes one segment, so at most
/// [`Subflow::mss_bytes`] long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of its first byte in the connection's data, from 0.
    pub data_offset: u64,
    /// Bytes; 0 only for a DATA_FIN alone, which takes no room in the subflow.
    pub len: u32,
    /// Whether the connection's data ends after it (DATA_FIN).
    pub data_fin: bool,
    /// Whether its segment says so where there is no more to send for now: PSH.
    pub push: bool,
}

impl Piece {
    /// Offset after its last byte.
    #[inline]
    pub fn end(&self) -> u64 {
        self.data_offset + u64::from(self.len)
    }
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
    /// The piece that it carries: always for [`Kind::Data`], for [`Kind::Fin`] when data goes with it.
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
    /// Ends this direction; the last piece goes with it where it can.
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
    /// The peer's window in bytes, scaled, beyond `acked`.
    pub window_bytes: u64,
    /// The window as TCP keeps it: a narrower one counts only with something else that is new.
    pub kept_window_bytes: u64,
    /// Its ACK is not due at once, or only where the window gets no narrower before data was read.
    pub waits_for_reader: bool,
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
