//! A subflow as its connection knows it.

use super::mappings::Mappings;
use super::own_window::OwnWindow;
use super::receive_rtt::ReceiveRtt;
use super::retransmit::Progress;
use super::window::Advertised;
use crate::endpoint::Nic;
use crate::path_manager::Closed;
use crate::subflow::{State, Subflow};
use wire::{Ip, Time};

/// A subflow and what MPTCP adds to it.
pub struct Entry {
    pub tcp: Subflow,
    /// The interface of its local address; none while the host lacks that address.
    pub nic: Option<Nic>,
    pub local_id: u8,
    pub remote_id: u8,
    /// Set on all but the initial subflow.
    pub join: Option<Join>,
    /// The peer has shown that it speaks MPTCP here: from then on nothing of the handshake is sent again.
    pub confirmed: bool,
    /// This end wants it as a backup.
    pub backup: bool,
    /// The peer wants it as a backup.
    pub peer_backup: bool,
    /// Retransmission time-outs since the peer was last heard.
    pub timeouts: u32,
    /// Something came since all that could be sent was.
    pub heard: bool,
    /// Whether the connection's timer found that it makes no progress.
    pub progress: Progress,
    /// What the peer's bytes mean.
    pub mappings: Mappings,
    /// Its receive buffer, if it has one of its own.
    pub own_window: OwnWindow,
    /// The window that it advertised last.
    pub advertised: Advertised,
    /// Bytes below this offset were delivered.
    pub delivered: u64,
    /// Bytes below this offset are in order.
    pub arrived: u64,
    /// The peer acknowledged everything below this offset of ours.
    pub acked: u64,
    /// The keys were sent in the last ACK that did not answer to data: the next may say something else.
    pub keys_sent: bool,
    /// The round-trip time as data that comes in shows it.
    pub receive_rtt: ReceiveRtt,
    /// Our first segment from this offset on carries the infinite mapping, later ones none.
    pub infinite_from: Option<u64>,
    /// The start of a mapping whose checksum was wrong: reported by MP_FAIL until the peer begins again.
    pub failed: Option<u64>,
    /// The peer seems not to know of it.
    pub tell_failed: bool,
    /// Reason for the RST (RFC 8684 §3.6).
    pub reset_reason: Option<u8>,
    /// Its send buffer as the connection's counts it.
    pub counted_bytes: u64,
    /// Bytes that the scheduler gave it.
    pub scheduled_bytes: u64,
    /// It was given all data below this data offset that the peer lacks, where every subflow gets everything.
    pub copied: u64,
    /// Why it ended; reported once.
    pub closed: Option<Closed>,
    /// What it says of its destination is kept.
    pub remembered: bool,
    /// Its 4-tuple is free again.
    pub freed: bool,
    /// Whether this end opened it.
    pub opened_here: bool,
    /// How many joined before it: its index does not say it once that is used anew.
    pub joined: u32,
    /// The header of its next packet.
    pub ip: Ip,
}

/// The handshake of a joined subflow (RFC 8684 §3.2).
#[derive(Clone, Copy, Debug)]
pub struct Join {
    pub local_nonce: u32,
    pub remote_nonce: Option<u32>,
    /// When the third packet is sent again if the fourth has not come.
    pub again: Time,
    /// How often it was sent.
    pub tries: u32,
}

impl Entry {
    /// Of the initial subflow if `join` is none.
    pub fn new(tcp: Subflow, nic: Nic, opened_here: bool, join: Option<Join>) -> Entry {
        let first_window_bytes = tcp.window_grown_bytes();
        let ip = Ip {
            source: tcp.local().ip(),
            destination: tcp.remote().ip(),
            ttl: 64,
            tos: 0,
            id: tcp.isn() as u16,
            dont_fragment: true,
            fragment: None,
        };
        Entry {
            tcp,
            nic: Some(nic),
            local_id: 0,
            remote_id: 0,
            join,
            confirmed: false,
            backup: false,
            peer_backup: false,
            timeouts: 0,
            heard: false,
            progress: Progress::default(),
            mappings: Mappings::default(),
            own_window: OwnWindow::new(first_window_bytes),
            advertised: Advertised { bytes: first_window_bytes, at: 1 },
            delivered: 1,
            arrived: 1,
            acked: 1,
            keys_sent: false,
            receive_rtt: ReceiveRtt::default(),
            infinite_from: None,
            failed: None,
            tell_failed: false,
            reset_reason: None,
            counted_bytes: 0,
            scheduled_bytes: 0,
            copied: 0,
            closed: None,
            remembered: false,
            freed: false,
            opened_here,
            joined: 0,
            ip,
        }
    }

    /// Its send buffer, where that counts in the connection's: with `keeps_first`, that of the first does to the end, as it
    /// stays on the list of subflows (net/mptcp/protocol.h, __mptcp_sync_sndbuf).
    pub fn counting_bytes(&self, keeps_first: bool) -> u64 {
        let counts = self.closed.is_none() || (keeps_first && self.join.is_none());
        if counts { self.tcp.send_buffer_bytes() } else { 0 }
    }

    /// Whether what it says is the third packet of a join.
    pub fn says_join(&self) -> bool {
        self.join.is_some() && self.opened_here && !self.confirmed
    }

    /// Whether data may be given to it: a joined one only once the fourth packet has come (RFC 8684 §3.2).
    pub fn carries_data(&self) -> bool {
        self.closed.is_none() && self.tcp.can_send() && (self.join.is_none() || self.confirmed)
    }

    /// Whether another may have its index: that of the first stays its own.
    pub fn is_free(&self) -> bool {
        self.freed && self.join.is_some()
    }

    /// Whether it is over or about to be.
    pub fn is_over(&self) -> bool {
        self.closed.is_some() || self.tcp.state() == State::Closed
    }
}
