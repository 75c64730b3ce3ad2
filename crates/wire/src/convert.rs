//! Messages of the 0-RTT TCP Convert Protocol (RFC 8803 §6): what a client and a Transport Converter say before data.
//!
//! A message is a fixed header and TLVs, whose lengths count words of 32 bits and include type and length:
//!
//! ```text
//! | Version (8) = 1 | Total Length (8) | Magic Number (16) = 0x2263 |
//! | Type (8)        | Length (8)       | Value ...                  |
//! ```

use crate::Malformed;
use crate::bytes::be16;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The version that this is.
pub const VERSION: u8 = 1;
/// What every message has after version and length.
pub const MAGIC: u16 = 0x2263;
/// Bytes of the fixed header.
pub const HEADER_BYTES: usize = 4;
/// The longest message.
pub const MOST_BYTES: usize = u8::MAX as usize * WORD;

const WORD: usize = 4;
const NAME: &str = "Convert message";
const CONNECT_BYTES: usize = 20;

/// Why a header cannot be read on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Of another version.
    #[error("{NAME}: version {0} is not supported")]
    Version(u8),
    /// Shorter than itself: the connection is to be reset (§6.1).
    #[error("{NAME}: total length 0 is impossible")]
    Empty,
    /// No header.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// How many bytes the message has whose fixed header this is, with the header.
///
/// # Errors
/// [`Fault`], where it is of another protocol, of another version, or shorter than itself.
pub fn message_len(header: [u8; HEADER_BYTES]) -> Result<usize, Fault> {
    let magic = be16(&header, 2);
    if magic != MAGIC {
        return Err(Malformed::field(NAME, "magic number", magic).into());
    }
    let [version, words, ..] = header;
    match (version, words) {
        (VERSION, 0) => Err(Fault::Empty),
        (VERSION, _) => Ok(usize::from(words) * WORD),
        _ => Err(Fault::Version(version)),
    }
}

/// One element of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tlv<'a> {
    /// A client asks which TCP options can be converted (§6.2.3).
    Info,
    /// A client asks for a connection (§6.2.5).
    Connect {
        /// The server; IPv4 is written as mapped into IPv6.
        remote: SocketAddr,
        /// Options for the SYN to it, as a TCP header has them, padded with zeros.
        options: &'a [u8],
    },
    /// The options of the server's SYN/ACK (§6.2.6).
    ExtendedHeader {
        /// As a TCP header has them.
        options: &'a [u8],
    },
    /// The converter says which TCP options it converts (§6.2.4).
    Supported {
        /// Their kinds.
        kinds: &'a [u8],
    },
    /// What the converter gave out, sent back to it (§6.2.7).
    Cookie {
        /// Whole words.
        cookie: &'a [u8],
    },
    /// Why there will be no connection (§6.2.8).
    Error {
        /// What kind of error.
        code: Code,
        /// What belongs to it, padded with zeros.
        value: &'a [u8],
    },
    /// Another type.
    Unknown {
        /// The type.
        kind: u8,
        /// All after type and length.
        value: &'a [u8],
    },
}

const INFO: u8 = 1;
const CONNECT: u8 = 10;
const EXTENDED_HEADER: u8 = 20;
const SUPPORTED: u8 = 21;
const COOKIE: u8 = 22;
const ERROR: u8 = 30;

impl Tlv<'_> {
    /// Its type (§10.2.2).
    pub fn kind(&self) -> u8 {
        match *self {
            Tlv::Info => INFO,
            Tlv::Connect { .. } => CONNECT,
            Tlv::ExtendedHeader { .. } => EXTENDED_HEADER,
            Tlv::Supported { .. } => SUPPORTED,
            Tlv::Cookie { .. } => COOKIE,
            Tlv::Error { .. } => ERROR,
            Tlv::Unknown { kind, .. } => kind,
        }
    }

    fn emit(&self, into: &mut Vec<u8>) -> Result<(), Malformed> {
        let begin = into.len();
        into.extend([self.kind(), 0]);
        match *self {
            Tlv::Info => into.extend([0, 0]),
            Tlv::Connect { remote, options } => {
                let address = match remote.ip() {
                    IpAddr::V4(address) => address.to_ipv6_mapped(),
                    IpAddr::V6(address) => address,
                };
                into.extend(remote.port().to_be_bytes());
                into.extend(address.octets());
                into.extend(options);
            }
            Tlv::ExtendedHeader { options: after }
            | Tlv::Supported { kinds: after }
            | Tlv::Cookie { cookie: after } => {
                into.extend([0, 0]);
                into.extend(after);
            }
            Tlv::Error { code, value } => {
                into.push(code.0);
                into.extend(value);
            }
            Tlv::Unknown { value, .. } => into.extend(value),
        }
        into.resize(begin + (into.len() - begin).next_multiple_of(WORD), 0);
        into[begin + 1] = words(into.len() - begin)?;
        Ok(())
    }
}

fn words(bytes: usize) -> Result<u8, Malformed> {
    u8::try_from(bytes / WORD).map_err(|_| Malformed::field(NAME, "length in bytes", bytes as u32))
}

/// Writes a message.
///
/// # Errors
/// It would be longer than [`MOST_BYTES`].
pub fn message(tlvs: &[Tlv<'_>]) -> Result<Vec<u8>, Malformed> {
    let [high, low] = MAGIC.to_be_bytes();
    let mut bytes = vec![VERSION, 0, high, low];
    for tlv in tlvs {
        tlv.emit(&mut bytes)?;
    }
    bytes[1] = words(bytes.len())?;
    Ok(bytes)
}

/// The elements of a message, from what follows its fixed header; after one that is malformed there is no other. None comes
/// twice (§6.2.1).
pub fn tlvs(bytes: &[u8]) -> impl Iterator<Item = Result<Tlv<'_>, Malformed>> {
    let mut rest = bytes;
    let mut seen = Vec::new();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let read = split(rest).and_then(|(tlv, after)| {
            rest = after;
            if seen.contains(&tlv[0]) {
                return Err(Malformed::field(NAME, "second TLV of type", tlv[0]));
            }
            seen.push(tlv[0]);
            parse(tlv)
        });
        if read.is_err() {
            rest = &[];
        }
        Some(read)
    })
}

fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    if bytes.len() < WORD {
        return Err(Malformed::short(NAME, WORD, bytes.len()));
    }
    let length = usize::from(bytes[1]) * WORD;
    if length == 0 {
        return Err(Malformed::field(NAME, "length of a TLV", 0u32));
    }
    bytes.split_at_checked(length).ok_or_else(|| Malformed::short(NAME, length, bytes.len()))
}

/// Reads one, which has at least a word.
fn parse(tlv: &[u8]) -> Result<Tlv<'_>, Malformed> {
    Ok(match tlv[0] {
        INFO if tlv.len() > WORD => return Err(Malformed::field(NAME, "length of Info", tlv[1])),
        INFO => Tlv::Info,
        CONNECT => {
            let Some((fixed, options)) = tlv.split_at_checked(CONNECT_BYTES) else {
                return Err(Malformed::short(NAME, CONNECT_BYTES, tlv.len()));
            };
            let mut address = [0; 16];
            address.copy_from_slice(&fixed[4..]);
            let address = Ipv6Addr::from(address).to_canonical();
            Tlv::Connect { remote: SocketAddr::new(address, be16(fixed, 2)), options }
        }
        EXTENDED_HEADER => Tlv::ExtendedHeader { options: &tlv[4..] },
        SUPPORTED => {
            let kinds = &tlv[4..];
            let padding = kinds.iter().rev().take_while(|&&kind| kind == 0).count();
            Tlv::Supported { kinds: &kinds[..kinds.len() - padding] }
        }
        COOKIE => Tlv::Cookie { cookie: &tlv[4..] },
        ERROR => Tlv::Error { code: Code(tlv[2]), value: &tlv[3..] },
        kind => Tlv::Unknown { kind, value: &tlv[2..] },
    })
}

/// What an Error TLV says (§6.2.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u8);

impl Code {
    /// The value lists the versions that are.
    pub const UNSUPPORTED_VERSION: Code = Code(0);
    /// The value repeats the message.
    pub const MALFORMED_MESSAGE: Code = Code(1);
    /// The value repeats the message.
    pub const UNSUPPORTED_MESSAGE: Code = Code(2);
    /// The value is a byte that is 0, and the cookie to use from now on.
    pub const MISSING_COOKIE: Code = Code(3);
    /// The client may not.
    pub const NOT_AUTHORIZED: Code = Code(32);
    /// The value lists the kinds of the options.
    pub const UNSUPPORTED_TCP_OPTION: Code = Code(33);
    /// The converter has no room for another connection.
    pub const RESOURCE_EXCEEDED: Code = Code(64);
    /// The converter's network does not work.
    pub const NETWORK_FAILURE: Code = Code(65);
    /// The server answered with a reset.
    pub const CONNECTION_RESET: Code = Code(96);
    /// The value is the code of the ICMP message.
    pub const DESTINATION_UNREACHABLE: Code = Code(97);

    /// Its name in the registry (§10.2.3), if it has one.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Code::UNSUPPORTED_VERSION => "Unsupported Version",
            Code::MALFORMED_MESSAGE => "Malformed Message",
            Code::UNSUPPORTED_MESSAGE => "Unsupported Message",
            Code::MISSING_COOKIE => "Missing Cookie",
            Code::NOT_AUTHORIZED => "Not Authorized",
            Code::UNSUPPORTED_TCP_OPTION => "Unsupported TCP Option",
            Code::RESOURCE_EXCEEDED => "Resource Exceeded",
            Code::NETWORK_FAILURE => "Network Failure",
            Code::CONNECTION_RESET => "Connection Reset",
            Code::DESTINATION_UNREACHABLE => "Destination Unreachable",
            Code(_) => return None,
        })
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().unwrap_or("Unknown"), self.0)
    }
}
