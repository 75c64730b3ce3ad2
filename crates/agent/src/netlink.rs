//! Netlink: requests, answers, attributes (RFC 3549; linux/netlink.h, linux/genetlink.h).

use netlink_sys::{Socket, SocketAddr};
use std::io::{Error, ErrorKind, Result};
use std::net::IpAddr;

const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
/// Of what is made: only if it is not there yet.
const CREATE: u16 = 0x600;
const DUMP: u16 = 0x300;
/// Of a dump during which something changed: it may be incomplete.
const DUMP_INTERRUPTED: u16 = 0x10;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_OVERRUN: u16 = 4;
const HEADER_BYTES: usize = 16;
/// Two bits of an attribute's type say that it holds others, and the order of its bytes.
const KIND: u16 = 0x3fff;
/// As much as the kernel puts into one answer.
const ANSWER_BYTES: usize = 1 << 16;
/// How often what could not be had whole is asked for.
const TRIES: u32 = 10;

/// A socket that asks the kernel one thing after the other.
pub struct Asking {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Asking {
    /// Of a family of netlink.
    pub fn new(protocol: isize) -> Result<Asking> {
        let refused = |error: Error| Error::new(error.kind(), format!("netlink cannot be used: {error}"));
        let mut socket = Socket::new(protocol).map_err(refused)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Asking { socket, buffer: Vec::with_capacity(ANSWER_BYTES), sequence: 0 })
    }

    /// Has the kernel leave out of a list what its request does not ask for (since Linux 4.20; before, all comes).
    pub fn strict(self) -> Asking {
        // A kernel that cannot leave anything out gives more, which does no harm.
        let _ = self.socket.set_netlink_get_strict_chk(true);
        self
    }

    /// Asks for all there is; gives the bodies of the answers. What changed meanwhile or did not fit is asked for again: half a
    /// list says that the rest is gone.
    ///
    /// # Errors
    /// The kernel refuses, or never gives a whole list.
    pub fn dump(&mut self, kind: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        for _ in 0..TRIES {
            match self.ask(kind, DUMP, body) {
                Err(error) if is_passing(&error) => {}
                done => return done,
            }
        }
        Err(Error::new(ErrorKind::Interrupted, "the kernel's list changed every time it was read"))
    }

    /// Orders something, or asks for one thing.
    ///
    /// # Errors
    /// The kernel refuses, or its answer was lost.
    pub fn order(&mut self, kind: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.ask(kind, ACK, body)
    }

    /// Makes something.
    ///
    /// # Errors
    /// It is there already, or the kernel refuses.
    pub fn create(&mut self, kind: u16, body: &[u8]) -> Result<()> {
        self.ask(kind, ACK | CREATE, body).map(drop)
    }

    /// Asks for one thing each, all at once; gives the index and the body of each that there is. As many answers as the
    /// socket has room for, a hundred.
    ///
    /// # Errors
    /// The kernel refuses, or an answer was lost.
    pub fn each(
        &mut self,
        kind: u16,
        bodies: impl Iterator<Item = impl AsRef<[u8]>>,
        mut found: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let first = self.sequence.wrapping_add(1);
        let mut requests = Vec::new();
        bodies.for_each(|body| self.put(&mut requests, kind, 0, body.as_ref()));
        let mut left = self.sequence.wrapping_sub(first).wrapping_add(1);
        if left > 0 {
            self.socket.send(&requests, 0)?;
        }
        while left > 0 {
            self.buffer.clear();
            self.socket.recv(&mut self.buffer, 0)?;
            let (sequence, kind) = (u32_at(&self.buffer, 8), u16_at(&self.buffer, 4));
            let at = sequence.wrapping_sub(first) as usize;
            // Answers to what was given up do not count.
            if sequence.wrapping_sub(first) > self.sequence.wrapping_sub(first) {
                continue;
            }
            let body = self.buffer.get(HEADER_BYTES..u32_at(&self.buffer, 0) as usize).unwrap_or_default();
            left -= 1;
            match kind {
                NLMSG_ERROR => match Error::from_raw_os_error((u32_at(body, 0) as i32).wrapping_neg()) {
                    // ESTALE: another socket has its addresses now.
                    error if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(116) => {}
                    error => return Err(error),
                },
                _ => found(at, body),
            }
        }
        Ok(())
    }

    /// Adds a request.
    fn put(&mut self, out: &mut Vec<u8>, kind: u16, flags: u16, body: &[u8]) {
        self.sequence = self.sequence.wrapping_add(1);
        let length = HEADER_BYTES + body.len();
        out.reserve(length);
        out.extend((length as u32).to_ne_bytes());
        out.extend(kind.to_ne_bytes());
        out.extend((REQUEST | flags).to_ne_bytes());
        out.extend(self.sequence.to_ne_bytes());
        out.extend([0; 4]);
        out.extend(body);
    }

    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut request = Vec::new();
        self.put(&mut request, kind, flags, body);
        self.socket.send(&request, 0)?;
        let mut answers = Answers { sequence: self.sequence, found: Vec::new(), is_whole: true };
        loop {
            self.buffer.clear();
            self.socket.recv(&mut self.buffer, 0)?;
            if let Some(end) = answers.take(&self.buffer) {
                return end.map(|()| answers.found);
            }
        }
    }
}

/// Whether the same may well succeed at once.
fn is_passing(error: &Error) -> bool {
    // ENOBUFS: the socket had no room for an answer.
    error.kind() == ErrorKind::Interrupted || error.raw_os_error() == Some(105)
}

/// What comes upon one request.
struct Answers {
    sequence: u32,
    found: Vec<Vec<u8>>,
    is_whole: bool,
}

impl Answers {
    /// Takes what was received; says how it ended, if it has.
    fn take(&mut self, mut rest: &[u8]) -> Option<Result<()>> {
        while let Some(header) = rest.get(..HEADER_BYTES) {
            let length = u32_at(header, 0) as usize;
            let body = rest.get(HEADER_BYTES..length)?;
            rest = rest.get(aligned(length)..).unwrap_or_default();
            // Answers to what was given up do not count.
            if u32_at(header, 8) != self.sequence {
                continue;
            }
            self.is_whole &= u16_at(header, 6) & DUMP_INTERRUPTED == 0;
            match u16_at(header, 4) {
                // Of a dump DONE has an error, too.
                NLMSG_DONE | NLMSG_ERROR => {
                    let errno = (u32_at(body, 0) as i32).wrapping_neg();
                    return Some(match errno {
                        0 if self.is_whole => Ok(()),
                        0 => Err(ErrorKind::Interrupted.into()),
                        _ => Err(Error::from_raw_os_error(errno)),
                    });
                }
                NLMSG_OVERRUN => return Some(Err(ErrorKind::Interrupted.into())),
                _ => self.found.push(body.to_vec()),
            }
        }
        None
    }
}

/// Hears that something has changed, and not what.
pub struct Hearing(Socket);

impl Hearing {
    /// Of groups of a family of netlink.
    pub fn new(protocol: isize, groups: &[u32]) -> Result<Hearing> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        groups.iter().try_for_each(|&group| socket.add_membership(group))?;
        socket.set_non_blocking(true)?;
        Ok(Hearing(socket))
    }

    /// Whether anything came since. What could not be held came, too.
    pub fn heard(&self) -> bool {
        let mut heard = false;
        let mut buffer = Vec::with_capacity(ANSWER_BYTES);
        loop {
            buffer.clear();
            match self.0.recv(&mut buffer, 0) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return heard,
                Err(error) if !is_passing(&error) => return true,
                _ => heard = true,
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

/// The address that an attribute holds; none where it is as long as none.
pub fn ip_address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
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

    fn message(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let mut out = ((HEADER_BYTES + body.len()) as u32).to_ne_bytes().to_vec();
        out.extend(kind.to_ne_bytes());
        out.extend(flags.to_ne_bytes());
        out.extend(sequence.to_ne_bytes());
        out.extend([0; 4]);
        out.extend(body);
        out
    }

    fn answers() -> Answers {
        Answers { sequence: 7, found: Vec::new(), is_whole: true }
    }

    #[test]
    fn half_a_list_is_none() {
        let whole = [message(30, 2, 7, b"abcd"), message(NLMSG_DONE, 2, 7, &[0; 4])].concat();
        let mut taken = answers();
        assert!(matches!(taken.take(&whole), Some(Ok(()))));
        assert_eq!(taken.found, [b"abcd"]);
        let cut = [message(30, 2 | DUMP_INTERRUPTED, 7, b"abcd"), message(NLMSG_DONE, 2, 7, &[0; 4])].concat();
        assert!(answers().take(&cut).unwrap().is_err_and(|error| is_passing(&error)));
        let refused = message(NLMSG_DONE, 2, 7, &(-1_i32).to_ne_bytes());
        assert_eq!(answers().take(&refused).unwrap().unwrap_err().raw_os_error(), Some(1));
        assert!(answers().take(&message(NLMSG_OVERRUN, 0, 7, &[])).unwrap().is_err());
    }

    #[test]
    fn answers_to_others_do_not_count() {
        let mut taken = answers();
        assert!(taken.take(&[message(30, 2, 6, b"abcd"), message(NLMSG_DONE, 2, 6, &[0; 4])].concat()).is_none());
        assert!(taken.found.is_empty());
        // What is cut short ends there.
        assert!(taken.take(&message(NLMSG_DONE, 2, 7, &[0; 4])[..18]).is_none());
    }

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
