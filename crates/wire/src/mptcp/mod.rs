//! Multipath TCP options, versions 1 (RFC 8684) and 0 (RFC 6824): one file per option.

use crate::Malformed;
use std::net::IpAddr;

/// An MPTCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mptcp<'a> {
    /// MP_CAPABLE, subtype 0 (RFC 8684 §3.1).
    Capable(MpCapable),
    /// MP_JOIN, subtype 1 (RFC 8684 §3.2).
    Join(MpJoin),
    /// DSS, subtype 2 (RFC 8684 §3.3).
    Dss(Dss),
    /// ADD_ADDR, subtype 3 (RFC 8684 §3.4.1; RFC 6824 §3.4.1).
    AddAddr(AddAddr),
    /// REMOVE_ADDR, subtype 4 (RFC 8684 §3.4.2): address identifiers.
    RemoveAddr(RemoveAddr),
    /// MP_PRIO, subtype 5 (RFC 8684 §3.3.8; RFC 6824 §3.3.8).
    Prio(MpPrio),
    /// MP_FAIL, subtype 6 (RFC 8684 §3.7).
    Fail(MpFail),
    /// MP_FASTCLOSE, subtype 7 (RFC 8684 §3.5).
    FastClose(MpFastClose),
    /// MP_TCPRST, subtype 8 (RFC 8684 §3.6).
    TcpRst(MpTcpRst),
    /// MP_EXPERIMENTAL, subtype 15 (RFC 8684 §3.8), and subtypes nobody assigned.
    Other {
        /// Subtype, 0 to 15.
        subtype: u8,
        /// Everything after kind and length, subtype included.
        data: &'a [u8],
    },
}

/// Keys and capabilities of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpCapable {
    /// Protocol version: 0 or 1.
    pub version: u8,
    /// Flags A to H, A being 0x80 (checksum required), C 0x20 (v1: no more subflows to this address), H 0x01 (HMAC).
    pub flags: u8,
    /// Sender's key: absent on a SYN of version 1.
    pub sender_key: Option<u64>,
    /// Receiver's key: on the third packet and the first data.
    pub receiver_key: Option<u64>,
    /// Version 1, with data: its length.
    pub data_len: Option<u16>,
    /// Version 1, with data: its DSS checksum.
    pub checksum: Option<u16>,
}

/// A subflow asks to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpJoin {
    /// On the SYN.
    Syn {
        /// Subflow is a backup.
        backup: bool,
        /// Identifier of the sender's address.
        address_id: u8,
        /// Receiver's token.
        token: u32,
        /// Sender's random number.
        nonce: u32,
    },
    /// On the SYN/ACK.
    SynAck {
        /// Subflow is a backup.
        backup: bool,
        /// Identifier of the sender's address.
        address_id: u8,
        /// Leftmost 64 bits of the HMAC.
        hmac: u64,
        /// Sender's random number.
        nonce: u32,
    },
    /// On the third packet.
    Ack {
        /// Leftmost 160 bits of the HMAC.
        hmac: [u8; 20],
    },
}

/// Data sequence signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// Connection-level acknowledgement.
    pub data_ack: Option<DataNumber>,
    /// What the subflow's bytes mean at connection level.
    pub mapping: Option<Mapping>,
    /// DATA_FIN.
    pub data_fin: bool,
}

/// A data sequence number as sent: all 64 bits or the low 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataNumber {
    /// 8 bytes.
    Long(u64),
    /// 4 bytes.
    Short(u32),
}

/// A range of data sequence numbers laid on a range of subflow sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First data sequence number.
    pub data_seq: DataNumber,
    /// First subflow sequence number, relative to the SYN's.
    pub subflow_seq: u32,
    /// Length; 0 is the infinite mapping (RFC 8684 §3.7). A DATA_FIN counts 1.
    pub len: u16,
    /// Checksum, where the connection uses it.
    pub checksum: Option<u16>,
}

/// A further address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddr {
    /// Option format: 0 (no echo, no HMAC) or 1.
    pub version: u8,
    /// Echo of the peer's ADD_ADDR.
    pub echo: bool,
    /// Identifier of the address.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, where it is not the connection's.
    pub port: Option<u16>,
    /// Rightmost 64 bits of the HMAC.
    pub hmac: Option<u64>,
}

/// Addresses that are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveAddr {
    ids: [u8; 37],
    len: u8,
}

/// Change of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpPrio {
    /// Use as backup only.
    pub backup: bool,
    /// Version 0: whose subflows; absent: this one.
    pub address_id: Option<u8>,
}

/// Checksum failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpFail {
    /// Where the failed mapping began.
    pub data_seq: u64,
}

/// Abrupt end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpFastClose {
    /// Receiver's key.
    pub receiver_key: u64,
}

/// Why a subflow is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpTcpRst {
    /// Flags U, V, W, T, T (0x01) saying that the condition is transient.
    pub flags: u8,
    /// Reason code (RFC 8684 §3.6, figure 15).
    pub reason: u8,
}

impl<'a> Mptcp<'a> {
    /// Reads the option from the bytes after kind and length.
    ///
    /// # Errors
    /// [`Malformed`] when the length fits no form of the subtype.
    pub fn parse(data: &'a [u8]) -> Result<Self, Malformed> {
        let _ = data;
        unimplemented!()
    }
}

impl RemoveAddr {
    /// Address identifiers.
    pub fn ids(&self) -> &[u8] {
        &self.ids[..usize::from(self.len)]
    }
}
