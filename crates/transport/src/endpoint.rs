//! All connections of a host.

use crate::Config;
use crate::path_manager::Closed;
use crate::scheduler::PathView;
use std::net::{IpAddr, SocketAddr};
use wire::{Packet, Time};

/// An interface of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nic(pub u32);

/// A connection of an endpoint. Never used again for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// What an endpoint tells its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer opened a connection to a port that listens.
    Accepted {
        /// The port.
        port: u16,
    },
    /// The connection can carry data.
    Connected,
    /// There is something to read.
    Readable,
    /// There is room to write again.
    Writable,
    /// The peer sent all it had: after what is readable nothing comes.
    Finished,
    /// The peer acknowledged all that was written and the end of it.
    Delivered,
    /// The connection is over; nothing more comes of it.
    Closed(Outcome),
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both directions were finished and acknowledged.
    Complete,
    /// It could not be opened or went on without an answer.
    Failed(Closed),
    /// This end aborted it.
    Aborted,
}

/// What can be seen of a connection, for the `state` table.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Whether it speaks MPTCP; a connection that fell back does not.
    pub mptcp: bool,
    /// Bytes written by the application and not yet acknowledged at connection level.
    pub unacknowledged_bytes: u64,
    /// The peer's window in bytes.
    pub peer_window_bytes: u64,
    /// Bytes that this end's receive buffer holds out of order.
    pub out_of_order_bytes: u64,
    /// The receive buffer.
    pub receive_buffer_bytes: u64,
    /// Every subflow.
    pub subflows: Vec<SubflowSnapshot>,
}

/// What can be seen of a subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowSnapshot {
    /// Local end.
    pub local: SocketAddr,
    /// Remote end.
    pub remote: SocketAddr,
    /// What the scheduler sees; none unless it is established.
    pub path: Option<PathView>,
    /// Retransmission time-out with its back-off.
    pub timeout_ns: i64,
    /// Retransmission time-outs in a row.
    pub backoffs: u32,
    /// Segments that were sent again so far.
    pub retransmitted_packets: u64,
    /// Bytes that the scheduler gave it so far.
    pub scheduled_bytes: u64,
}

/// All connections of a host. Addresses come and go with [`Endpoint::address_up`] and [`Endpoint::address_down`].
pub struct Endpoint {}

impl Endpoint {
    /// An endpoint whose keys, random numbers and initial sequence numbers come from `seed`.
    pub fn new(config: Config, seed: u64) -> Endpoint {
        let _ = (config, seed);
        todo!()
    }

    /// The host has `address` on `nic`, whose packets hold at most `mtu_bytes`.
    pub fn address_up(&mut self, now: Time, nic: Nic, address: IpAddr, mtu_bytes: u32) {
        let _ = (now, nic, address, mtu_bytes);
        todo!()
    }

    /// The host has `address` no more.
    pub fn address_down(&mut self, now: Time, address: IpAddr) {
        let _ = (now, address);
        todo!()
    }

    /// Accepts connections to `port` on all addresses.
    pub fn listen(&mut self, port: u16) {
        let _ = port;
        todo!()
    }

    /// Opens a connection from `local`, one of the host's addresses, to `remote`. Port 0 of `local` means any free one.
    pub fn connect(&mut self, now: Time, local: SocketAddr, remote: SocketAddr) -> ConnectionId {
        let _ = (now, local, remote);
        todo!()
    }

    /// Writes up to `bytes`; says how many the send buffer took. [`Event::Writable`] follows when it took fewer.
    pub fn write(&mut self, now: Time, connection: ConnectionId, bytes: u64) -> u64 {
        let _ = (now, connection, bytes);
        todo!()
    }

    /// Reads up to `bytes` that are in order; says how many there were. Not reading closes the window.
    pub fn read(&mut self, now: Time, connection: ConnectionId, bytes: u64) -> u64 {
        let _ = (now, connection, bytes);
        todo!()
    }

    /// Nothing more is written: ends this direction after all that was (DATA_FIN, FIN).
    pub fn finish(&mut self, now: Time, connection: ConnectionId) {
        let _ = (now, connection);
        todo!()
    }

    /// Gives the connection up at once (MP_FASTCLOSE, RST).
    pub fn abort(&mut self, now: Time, connection: ConnectionId) {
        let _ = (now, connection);
        todo!()
    }

    /// A packet came in by `nic`. Packets for nobody are answered with a reset, or ignored when they are no TCP.
    pub fn handle(&mut self, now: Time, nic: Nic, packet: &Packet) {
        let _ = (now, nic, packet);
        todo!()
    }

    /// Writes the next packet to send to `packet` and says by which interface it goes; none: nothing to send now.
    pub fn transmit(&mut self, now: Time, packet: &mut Packet) -> Option<Nic> {
        let _ = (now, packet);
        todo!()
    }

    /// When [`Endpoint::timeout`] is to be called.
    pub fn deadline(&self) -> Time {
        todo!()
    }

    /// The deadline has come.
    pub fn timeout(&mut self, now: Time) {
        let _ = now;
        todo!()
    }

    /// The next thing that the host should know.
    pub fn event(&mut self) -> Option<(ConnectionId, Event)> {
        todo!()
    }

    /// What can be seen of a connection; none when it is over.
    pub fn snapshot(&self, connection: ConnectionId) -> Option<Snapshot> {
        let _ = connection;
        todo!()
    }
}
