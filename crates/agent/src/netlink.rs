//! Netlink: requests, answers, attributes (RFC 3549; linux/netlink.h, linux/genetlink.h).

use netlink_sys::{Socket, SocketAddr};
use std::io::{Error, Result};

const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const HEADER_BYTES: usize = 16;
/// Two bits of an attribute's type say that it holds others, and the order of its bytes.
const KIND: u16 = 0x3fff;
/// As much as the kernel puts into one answer.
const ANSWER_BYTES: usize = 1 << 16;

/// A socket that asks the kernel one thing after the other.
pub struct Asking {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Asking {
    /// Of a family of netlink.
    pub fn new(protocol: isize) -> Result<Asking> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Asking { socket, buffer: Vec::with_capacity(ANSWER_BYTES) })
    }

    /// Asks for all there is; gives the bodies of the answers.
    pub fn dump(&mut self, kind: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.ask(kind, DUMP, body)
    }

    /// Orders something, or asks for one thing.
    pub fn order(&mut self, kind: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.ask(kind, ACK, body)
    }

    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut request = Vec::with_capacity(HEADER_BYTES + body.len());
        request.extend(((HEADER_BYTES + body.len()) as u32).to_ne_bytes());
        request.extend(kind.to_ne_bytes());
        request.extend((REQUEST | flags).to_ne_bytes());
        request.extend([0; 8]);
        request.extend(body);
        self.socket.send(&request, 0)?;
        let mut found = Vec::new();
        loop {
            self.buffer.clear();
            self.socket.recv(&mut self.buffer, 0)?;
            let mut rest = self.buffer.as_slice();
            while let Some(header) = rest.get(..HEADER_BYTES) {
                let length = u32_at(header, 0) as usize;
                let Some(body) = rest.get(HEADER_BYTES..length) else { break };
                match u16_at(header, 4) {
                    NLMSG_DONE => return Ok(found),
                    NLMSG_ERROR => {
                        let errno = (u32_at(body, 0) as i32).wrapping_neg();
                        return if errno == 0 { Ok(found) } else { Err(Error::from_raw_os_error(errno)) };
                    }
                    _ => found.push(body.to_vec()),
                }
                rest = rest.get(aligned(length)..).unwrap_or_default();
            }
        }
    }
}

/// Adds an attribute.
pub fn put(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = 4 + value.len();
    out.extend((length as u16).to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len() + aligned(length) - length, 0);
}

/// The attributes that there are, by kind.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes.get(..4)?, 0));
        let (kind, value) = (u16_at(bytes, 2) & KIND, bytes.get(4..length)?);
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The value of the first attribute of a kind.
pub fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|&(found, _)| found == kind).map(|(_, value)| value)
}

fn aligned(length: usize) -> usize {
    (length + 3) & !3
}

/// A number in the host's order; 0 beyond the end: structures grow from kernel to kernel.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u16::from_ne_bytes(*chunk))
}

/// As [`u16_at`].
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u32::from_ne_bytes(*chunk))
}

/// As [`u16_at`].
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u64::from_ne_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_aligned() {
        let mut out = Vec::new();
        put(&mut out, 1, &[7]);
        put(&mut out, 2 | 0x8000, &9_u32.to_ne_bytes());
        assert_eq!(out.len(), 16);
        assert_eq!(attribute(&out, 1), Some([7].as_slice()));
        assert_eq!(attribute(&out, 2).map(|value| u32_at(value, 0)), Some(9));
        // What is cut short ends there.
        assert_eq!(attributes(&out[..10]).count(), 1);
    }
}
