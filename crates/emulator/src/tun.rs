use crate::Error;
use rustix::ioctl::{self, Opcode, Setter, opcode};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

const PATH: &str = "/dev/net/tun";
/// `O_NONBLOCK`, the same on all that Rust builds for but MIPS and SPARC.
const NONBLOCK: i32 = 0o4000;
/// `TUNSETIFF` (linux/if_tun.h).
const SET_INTERFACE: Opcode = opcode::write::<i32>(b'T', 202);
/// Bytes of an interface's name with its final zero.
const NAME_BYTES: usize = 16;
/// IP packets.
const IFF_TUN: u16 = 0x0001;
/// No header before them. Without `IFF_VNET_HDR` none is longer than the MTU or lacks its checksum.
const IFF_NO_PI: u16 = 0x1000;

/// `struct ifreq` (linux/if.h), of which `TUNSETIFF` uses name and flags.
#[repr(C)]
struct Request {
    name: [u8; NAME_BYTES],
    flags: u16,
    rest: [u8; 22],
}

/// A TUN device: IP packets to and from the kernel, one by one, without offloads.
#[derive(Debug)]
pub struct Tun {
    name: String,
    file: File,
}

impl Tun {
    /// Attaches to the device, which is made where there is none of that name. It ends with this unless it is
    /// persistent.
    ///
    /// # Errors
    /// Without the right to, or when another process has it.
    pub fn open(name: &str) -> Result<Tun, Error> {
        let failed = |attempt, source| Error::Device { device: name.into(), attempt, source };
        let mut request = Request { name: [0; NAME_BYTES], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
        if name.len() >= NAME_BYTES {
            return Err(failed("attach to it", ErrorKind::InvalidInput.into()));
        }
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        let file = OpenOptions::new().read(true).write(true).custom_flags(NONBLOCK).open(PATH);
        let file = file.map_err(|source| failed("open /dev/net/tun", source))?;
        attach(&file, request).map_err(|source| failed("attach to it", source))?;
        Ok(Tun { name: name.into(), file })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next packet that the kernel sent, none if there is none now. What `buffer` has no room for is lost.
    ///
    /// # Errors
    /// When the device is gone or down.
    pub fn read<'a>(&self, buffer: &'a mut [u8]) -> Result<Option<&'a [u8]>, Error> {
        match (&self.file).read(buffer) {
            Ok(len) => Ok(Some(&buffer[..len])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(self.failed("read from it", error)),
        }
    }

    /// Hands a packet to the kernel; says whether there was room for it.
    ///
    /// # Errors
    /// When the device is gone or down, or `packet` is no IP packet.
    pub fn write(&self, packet: &[u8]) -> Result<bool, Error> {
        match (&self.file).write(packet) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(self.failed("write to it", error)),
        }
    }

    fn failed(&self, attempt: &'static str, source: io::Error) -> Error {
        Error::Device { device: self.name.clone(), attempt, source }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[allow(unsafe_code)]
fn attach(file: &File, request: Request) -> io::Result<()> {
    // SAFETY: TUNSETIFF reads and writes a struct ifreq, 40 bytes at most, which Request is, and keeps no pointer to it.
    unsafe { ioctl::ioctl(file, Setter::<SET_INTERFACE, Request>::new(request)) }.map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_size_of_an_ifreq() {
        assert_eq!(size_of::<Request>(), 40);
    }

    #[test]
    fn a_name_that_is_too_long_is_refused() {
        let error = Tun::open("a-name-of-16-byt").unwrap_err();
        assert!(error.to_string().starts_with("a-name-of-16-byt: cannot attach to it"), "{error}");
    }
}
