//! What hosts compute from the keys of a connection: with SHA-1 in version 0 (RFC 6824 §3.1, §3.2), with SHA-256 in
//! version 1 (RFC 8684 §3.1, §3.2).

use crate::bytes::{be32, be64};
use crate::emit::Writer;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// Names the connection of the host that has `key`: leftmost 32 bits of the key's hash (RFC 8684 §3.2, RFC 6824 §3.2).
pub fn token(version: u8, key: u64) -> u32 {
    match version {
        0 => be32(&Sha1::digest(key.to_be_bytes()), 0),
        _ => be32(&Sha256::digest(key.to_be_bytes()), 0),
    }
}

/// Initial data sequence number of the host that has `key`: rightmost 64 bits of the key's hash (RFC 8684 §3.1,
/// RFC 6824 §3.1).
/// Its first byte of data has the number after this one.
pub fn initial_data_seq(version: u8, key: u64) -> u64 {
    match version {
        0 => last(&Sha1::digest(key.to_be_bytes())),
        _ => last(&Sha256::digest(key.to_be_bytes())),
    }
}

/// A host's key and its random number in the handshake of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Key, from MP_CAPABLE.
    pub key: u64,
    /// Random number, from MP_JOIN.
    pub nonce: u32,
}

/// HMAC of the MP_JOIN on a SYN/ACK (RFC 8684 §3.2): leftmost 64 bits.
pub fn join_syn_ack_hmac(version: u8, sender: Party, receiver: Party) -> u64 {
    let hmac = join_ack_hmac(version, sender, receiver);
    be64(&hmac, 0)
}

/// HMAC of the MP_JOIN on the third packet (RFC 8684 §3.2): leftmost 160 bits.
pub fn join_ack_hmac(version: u8, sender: Party, receiver: Party) -> [u8; 20] {
    let key = keys(sender.key, receiver.key);
    let mut message = [0; 8];
    message[..4].copy_from_slice(&sender.nonce.to_be_bytes());
    message[4..].copy_from_slice(&receiver.nonce.to_be_bytes());
    let mut leftmost = [0; 20];
    match version {
        0 => leftmost.copy_from_slice(&hmac_sha1(&key, &message)),
        _ => leftmost.copy_from_slice(&hmac_sha256(&key, &message)[..20]),
    }
    leftmost
}

/// HMAC of an ADD_ADDR (RFC 8684 §3.4.1): rightmost 64 bits. Version 0 has none.
pub fn add_addr_hmac(sender_key: u64, receiver_key: u64, address_id: u8, address: IpAddr, port: Option<u16>) -> u64 {
    last(&whole_add_addr_hmac(sender_key, receiver_key, address_id, address, port))
}

/// The same, but the leftmost 64 bits: what Linux sent until commit 12555a2d97e5 of May 2020.
pub fn add_addr_hmac_leftmost(
    sender_key: u64,
    receiver_key: u64,
    address_id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> u64 {
    be64(&whole_add_addr_hmac(sender_key, receiver_key, address_id, address, port), 0)
}

fn whole_add_addr_hmac(sender: u64, receiver: u64, address_id: u8, address: IpAddr, port: Option<u16>) -> [u8; 32] {
    let mut message = [0; 1 + 16 + 2];
    let mut writer = Writer::new(&mut message);
    writer.put(&[address_id]);
    match address {
        IpAddr::V4(address) => writer.put(&address.octets()),
        IpAddr::V6(address) => writer.put(&address.octets()),
    }
    // An absent port counts as 0.
    writer.put(&port.unwrap_or(0).to_be_bytes());
    let len = writer.finish("ADD_ADDR").expect("an IPv6 address and a port fit");
    hmac_sha256(&keys(sender, receiver), &message[..len])
}

fn keys(sender: u64, receiver: u64) -> [u8; 16] {
    (u128::from(sender) << 64 | u128::from(receiver)).to_be_bytes()
}

fn hmac_sha1(key: &[u8; 16], message: &[u8]) -> [u8; 20] {
    let hmac = Hmac::<Sha1>::new_from_slice(key).expect("an HMAC takes keys of any length");
    hmac.chain_update(message).finalize().into_bytes().into()
}

fn hmac_sha256(key: &[u8; 16], message: &[u8]) -> [u8; 32] {
    let hmac = Hmac::<Sha256>::new_from_slice(key).expect("an HMAC takes keys of any length");
    hmac.chain_update(message).finalize().into_bytes().into()
}

fn last(hash: &[u8]) -> u64 {
    be64(hash, hash.len() - 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_0_tokens_and_initial_data_sequence_numbers() {
        // The MPTCP model of ns-3 by LIP6, src/internet/test/mptcp-crypto-test.cc.
        for (key, hash, data_seq) in [
            (0xf3f3_4a78_b51c_7f6a, 0x2e8e_47c1, 0x1c22_2054_6f84_6ced),
            (0x3afd_8e52_bf2a_6944, 0x068c_e332, 0xc669_2252_fd10_b0cb),
        ] {
            assert_eq!(token(0, key), hash);
            assert_eq!(initial_data_seq(0, key), data_seq);
        }
    }

    #[test]
    fn hmac_sha256_of_linux() {
        // Linux, net/mptcp/crypto_test.c: the characters themselves are the bytes.
        for (key, message, expected) in [
            ("0b0b0b0b0b0b0b0b", "48692054", "8385e24fb4235ac37556b6b886db106284a1da671699f46db1f235ec622dcafa"),
            ("aaaaaaaaaaaaaaaa", "dddddddd", "2c5e219164ff1dca1c4a92318d847bb6b9d44492984e1eb71aff9022f71046e9"),
            ("0102030405060708", "cdcdcdcd", "e73b9ba9969969cefb04aa0d6df18ec2fcc075b6f23b4d8c4da736a5dbbc6e7d"),
        ] {
            let key = key.as_bytes();
            let hmac = hmac_sha256(key.try_into().unwrap(), message.as_bytes());
            assert_eq!(hex(&hmac), expected);

            // The same through the join: two keys, two random numbers.
            let party = |at: usize| Party { key: be64(key, at * 8), nonce: be32(message.as_bytes(), at * 4) };
            assert_eq!(hex(&join_ack_hmac(1, party(0), party(1))), expected[..40]);
            assert_eq!(hex(&join_syn_ack_hmac(1, party(0), party(1)).to_be_bytes()), expected[..16]);
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
