//! MP_JOIN adds a subflow (RFC 8684 §3.2). Length says which of its three forms it is.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----+-+---------------+
//! |     Kind      |  Length = 12  |Subtype|(rsv)|B|   Address ID  |   SYN: figure 5
//! +---------------+---------------+-------+-----+-+---------------+
//! |                   Receiver's Token (32 bits)                  |
//! +---------------------------------------------------------------+
//! |                Sender's Random Number (32 bits)               |
//! +---------------------------------------------------------------+
//!
//! +---------------+---------------+-------+-----+-+---------------+
//! |     Kind      |  Length = 16  |Subtype|(rsv)|B|   Address ID  |   SYN/ACK: figure 6
//! +---------------+---------------+-------+-----+-+---------------+
//! |                Sender's Truncated HMAC (64 bits)              |
//! +---------------------------------------------------------------+
//! |                Sender's Random Number (32 bits)               |
//! +---------------------------------------------------------------+
//!
//! +---------------+---------------+-------+-----------------------+
//! |     Kind      |  Length = 24  |Subtype|      (reserved)       |   ACK: figure 7
//! +---------------+---------------+-------+-----------------------+
//! |                   Sender's HMAC (160 bits)                    |
//! +---------------------------------------------------------------+
//! ```

use crate::Malformed;
use crate::bytes::{be32, be64};
use crate::emit::Writer;

pub(super) const SUBTYPE: u8 = 1;

const BACKUP: u8 = 0x01;

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

impl MpJoin {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Malformed> {
        match data.len() + 2 {
            12 => Ok(MpJoin::Syn {
                backup: data[0] & BACKUP != 0,
                address_id: data[1],
                token: be32(data, 2),
                nonce: be32(data, 6),
            }),
            16 => Ok(MpJoin::SynAck {
                backup: data[0] & BACKUP != 0,
                address_id: data[1],
                hmac: be64(data, 2),
                nonce: be32(data, 10),
            }),
            24 => {
                let mut hmac = [0; 20];
                hmac.copy_from_slice(&data[2..22]);
                Ok(MpJoin::Ack { hmac })
            }
            _ => Err(Malformed::length("MP_JOIN", data.len())),
        }
    }

    pub(super) fn emit(&self, out: &mut Writer) {
        let first = |backup: bool| SUBTYPE << 4 | if backup { BACKUP } else { 0 };
        match self {
            MpJoin::Syn { backup, address_id, token, nonce } => {
                out.put(&[first(*backup), *address_id]);
                out.put(&token.to_be_bytes());
                out.put(&nonce.to_be_bytes());
            }
            MpJoin::SynAck { backup, address_id, hmac, nonce } => {
                out.put(&[first(*backup), *address_id]);
                out.put(&hmac.to_be_bytes());
                out.put(&nonce.to_be_bytes());
            }
            MpJoin::Ack { hmac } => {
                out.put(&[first(false), 0]);
                out.put(hmac);
            }
        }
    }
}
