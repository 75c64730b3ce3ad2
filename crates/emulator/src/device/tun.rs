use super::Offload;
use crate::Error;
use crate::offload::Header;
use rustix::io::Errno;
use rustix::ioctl::{self, IntegerSetter, Opcode, Setter, opcode};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

const PATH: &str = "/dev/net/tun";
/// `O_NONBLOCK`, the same on all that Rust builds for but MIPS and SPARC.
const NONBLOCK: i32 = 0o4000;
/// `TUNSETIFF` (linux/if_tun.h).
const SET_INTERFACE: Opcode = opcode::write::<i32>(b'T', 202);
/// `TUNSETOFFLOAD`: what may come before it is cut or summed.
const SET_OFFLOAD: Opcode = opcode::write::<u32>(b'T', 208);
/// `TUNSETVNETHDRSZ`.
const SET_HEADER_SIZE: Opcode = opcode::write::<i32>(b'T', 216);
/// Bytes of an interface's name with its final zero.
const NAME_BYTES: usize = 16;
/// IP packets.
const IFF_TUN: u16 = 0x0001;
/// No header before them. Without `IFF_VNET_HDR` none is longer than the MTU or lacks its checksum.
const IFF_NO_PI: u16 = 0x1000;
/// A `virtio_net_hdr` before them.
const IFF_VNET_HDR: u16 = 0x4000;
/// `TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6`, `TUN_F_TSO_ECN`.
const TCP_OFFLOADS: usize = 0x01 | 0x02 | 0x04 | 0x08;
/// `TUN_F_USO4`, `TUN_F_USO6`; since Linux 6.2.
const UDP_OFFLOADS: usize = 0x20 | 0x40;

/// `struct ifreq` (linux/if.h), of which `TUNSETIFF` uses name and flags.
#[repr(C)]
struct Request {
    name: [u8; NAME_BYTES],
    flags: u16,
    rest: [u8; 22],
}

/// A TUN device: IP packets to and from the kernel.
#[derive(Debug)]
pub struct Tun {
    name: String,
    file: File,
}

impl Tun {
    /// Attaches to the device, which is made where there is none of that name. It ends with this unless it is
    /// persistent. Packets pass one by one, without offloads.
    ///
    /// # Errors
    /// Without the right to, or when another process has it.
    pub fn open(name: &str) -> Result<Tun, Error> {
        Tun::open_with(name, Offload::None).map(|(tun, _)| tun)
    }

    /// The same with offloads; says also whether the kernel takes datagrams merged.
    pub(super) fn open_with(name: &str, offload: Offload) -> Result<(Tun, bool), Error> {
        let failed = |attempt, source| Error::Device { device: name.into(), attempt, source };
        let has_header = if offload == Offload::None { 0 } else { IFF_VNET_HDR };
        let mut request = Request { name: [0; NAME_BYTES], flags: IFF_TUN | IFF_NO_PI | has_header, rest: [0; 22] };
        if name.len() >= NAME_BYTES {
            return Err(failed("attach to it", ErrorKind::InvalidInput.into()));
        }
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        let file = OpenOptions::new().read(true).write(true).custom_flags(NONBLOCK).open(PATH);
        let file = file.map_err(|source| failed("open /dev/net/tun", source))?;
        attach(&file, request).map_err(|source| failed("attach to it", source))?;
        let datagrams = match offload {
            Offload::None => false,
            _ => set_offloads(&file).map_err(|source| failed("set its offloads", source))?,
        };
        Ok((Tun { name: name.into(), file }, datagrams))
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

impl From<Tun> for OwnedFd {
    fn from(tun: Tun) -> OwnedFd {
        tun.file.into()
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn attach(file: &File, request: Request) -> io::Result<()> {
    // SAFETY: TUNSETIFF reads and writes a struct ifreq, 40 bytes at most, which Request is, and keeps no pointer to it.
    unsafe { ioctl::ioctl(file, Setter::<SET_INTERFACE, Request>::new(request)) }.map_err(io::Error::from)
}

/// Says whether datagrams are among them.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn set_offloads(file: &File) -> io::Result<bool> {
    let size = Header::LEN as i32;
    // SAFETY: TUNSETVNETHDRSZ reads an int and keeps no pointer to it.
    unsafe { ioctl::ioctl(file, Setter::<SET_HEADER_SIZE, i32>::new(size)) }?;
    let set = |offloads| {
        // SAFETY: TUNSETOFFLOAD takes an integer; no memory is touched.
        unsafe { ioctl::ioctl(file, IntegerSetter::<SET_OFFLOAD>::new_usize(offloads)) }
    };
    match set(TCP_OFFLOADS | UDP_OFFLOADS) {
        Err(Errno::INVAL) => set(TCP_OFFLOADS).map(|()| false),
        result => result.map(|()| true),
    }
    .map_err(io::Error::from)
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
