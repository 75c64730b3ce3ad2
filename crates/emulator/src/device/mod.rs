//! Devices: where the kernel of a namespace hands packets to us and takes them.

mod memory;
mod packet;
pub(crate) mod pool;
mod tun;

pub use tun::Tun;

use crate::Error;
use crate::offload::{Group, Header, Segments, split};
use memory::Memory;
use rustix::io::{Errno, read, readv, write, writev};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use wire::{Body, L4, Original, Packet};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// What Ethernet frames come from: a MAC address that nobody was given.
const OURS: [u8; 6] = [0x02, 0, 0, 0, 0, 1];

/// What passes a device at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// Packets, none longer than the MTU, with their checksums.
    None,
    /// The kernel hands over GSO packets and packets without checksums, and takes packets without checksums.
    Split,
    /// It takes GSO packets too.
    #[default]
    SplitAndMerge,
}

/// What became of packets that were handed to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets that it took.
    pub packets: u64,
    /// Frames in which it took them: fewer where packets were merged.
    pub frames: u64,
    /// Bytes of these frames, without headers that merging saved.
    pub bytes: u64,
    /// Packets that it had no room for or did not want: the interface was down.
    pub refused: u64,
}

/// The kernel's end of an interface.
#[derive(Debug)]
pub struct Device {
    name: String,
    fd: OwnedFd,
    offload: Offload,
    /// Of an Ethernet: who gets what is sent.
    peer: Option<[u8; 6]>,
    /// Whether the kernel takes datagrams merged.
    datagrams: bool,
    memory: Memory,
    /// Frames that were no IP packets.
    malformed: u64,
    /// What is written: headers, or a packet.
    out: Vec<u8>,
}

impl Device {
    /// A TUN device in the namespace of the calling thread, made where there is none of that name. It ends with this
    /// unless it is persistent.
    ///
    /// # Errors
    /// Without the right to, or when another process has it.
    pub fn tun(name: &str, offload: Offload) -> Result<Device, Error> {
        let (tun, datagrams) = Tun::open_with(name, offload)?;
        Ok(Device::new(name, tun.into(), offload, None, datagrams))
    }

    /// One end of a veth pair, in the namespace of the calling thread; `peer` is the other's MAC address. What the
    /// kernel hands over depends on the offloads of that end: GSO packets are cut here also with [`Offload::None`].
    ///
    /// # Errors
    /// Without the right to, or when there is no such interface.
    pub fn packet(name: &str, peer: [u8; 6], offload: Offload) -> Result<Device, Error> {
        let failed = |source| Error::Device { device: name.into(), attempt: "open a packet socket at it", source };
        let socket = packet::open(name).map_err(failed)?;
        Ok(Device::new(name, socket, offload, Some(peer), false))
    }

    fn new(name: &str, fd: OwnedFd, offload: Offload, peer: Option<[u8; 6]>, datagrams: bool) -> Device {
        let (memory, out) = (Memory::default(), Vec::new());
        Device { name: name.into(), fd, offload, peer, datagrams, memory, malformed: 0, out }
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many frames that were no IP packets were thrown away.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// How many frames the kernel dropped because they were not fetched in time, since this was asked last; [`None`] for
    /// a TUN device, where the interface counts them.
    pub fn dropped(&self) -> Option<u64> {
        self.peer.and_then(|_| packet::dropped(&self.fd).ok())
    }

    /// Takes one frame from the kernel and gives its packets, none longer than the MTU, to `each`; says whether there
    /// was one.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn receive(&mut self, each: &mut dyn FnMut(Box<Packet>)) -> Result<bool, Error> {
        let mut memory = self.memory.take();
        let original = Arc::get_mut(&mut memory).expect("nobody else has it");
        let (mut header, mut ethernet) = ([0; Header::LEN], [0; ETHERNET]);
        let before = self.before();
        let received = match before {
            0 => read(&self.fd, original.room()),
            Header::LEN => readv(&self.fd, &mut [&mut header[..], original.room()].map(IoSliceMut::new)),
            _ => readv(&self.fd, &mut [&mut header[..], &mut ethernet, original.room()].map(IoSliceMut::new)),
        };
        let len = match received {
            Ok(len) => len.saturating_sub(before),
            Err(error) => {
                self.memory.give_back(memory);
                return match error {
                    Errno::AGAIN | Errno::INTR | Errno::NETDOWN => Ok(false),
                    error => Err(self.failed("read from it", error)),
                };
            }
        };
        let header = Header::read(header).map(|header| header.without(before.saturating_sub(Header::LEN)));
        let mut memory = self.memory.settle(memory, len);
        if header.and_then(|header| take_apart(&mut memory, len, header, each)).is_none() {
            self.malformed += 1;
        }
        self.memory.lend(memory);
        Ok(true)
    }

    /// Hands over packets in order and leaves none. Those in a row that cutting a GSO packet would give are merged into
    /// one.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn send(&mut self, packets: &mut Vec<Box<Packet>>) -> Result<Sent, Error> {
        let mut sent = Sent::default();
        let mut rest = &packets[..];
        while !rest.is_empty() {
            let group = match self.offload {
                Offload::SplitAndMerge => Group::first_of(rest, self.datagrams),
                _ => Group::of_one(rest),
            };
            rest = &rest[group.len()..];
            let written = match self.before() {
                0 => self.write_bare(group.first())?,
                before => self.write(before, &group)?,
            };
            match written {
                Some(bytes) => {
                    sent.packets += group.len() as u64;
                    sent.frames += 1;
                    sent.bytes += bytes as u64;
                }
                None => sent.refused += group.len() as u64,
            }
        }
        packets.drain(..).for_each(pool::give);
        Ok(sent)
    }

    /// Writes a packet with nothing before it; gives its length if the kernel took it.
    fn write_bare(&mut self, packet: &Packet) -> Result<Option<usize>, Error> {
        if let Some(bytes) = packet.unchanged() {
            return self.is_taken(write(&self.fd, bytes));
        }
        self.out.clear();
        match packet.emit(&mut self.out, None) {
            Ok(()) => self.is_taken(write(&self.fd, &self.out)),
            Err(_) => Ok(None),
        }
    }

    /// The same with `before` bytes of headers.
    fn write(&mut self, before: usize, group: &Group) -> Result<Option<usize>, Error> {
        let packet = group.first();
        self.out.clear();
        self.out.resize(before, 0);
        let mut slices = Vec::with_capacity(4);
        let mut header = Header::default();
        if let Some(bytes) = packet.unchanged() {
            slices.push(IoSlice::new(bytes));
        } else if self.offload != Offload::None && group.has_all_bytes() {
            match group.write(&mut self.out, &mut slices) {
                Some(written) => header = written,
                None => return Ok(None),
            }
        } else if packet.emit(&mut self.out, None).is_err() {
            return Ok(None);
        }
        if let Some((room, link)) = self.out[..before].split_first_chunk_mut() {
            *room = header.behind(link.len()).bytes();
            if let Some(peer) = self.peer {
                link.copy_from_slice(&ethernet(peer, packet.frame.ip.source.is_ipv4()));
            }
        }
        slices.insert(0, IoSlice::new(&self.out));
        let mut written = writev(&self.fd, &slices);
        // A packet socket takes what is longer than the MTU as a GSO packet alone. Nobody cuts it on its way.
        if written == Err(Errno::MSGSIZE)
            && let Some(segments) = group.nearly_whole()
        {
            header.segments = Some(segments);
            let bytes = slices.iter().map(|slice| slice.len()).sum::<usize>() - before;
            header.headers = (bytes - packet.frame.payload.len as usize) as u16;
            let long = header.behind(before - Header::LEN).bytes();
            slices.splice(..1, [IoSlice::new(&long), IoSlice::new(&self.out[Header::LEN..])]);
            written = writev(&self.fd, &slices);
        }
        Ok(self.is_taken(written)?.map(|len| len - before))
    }

    fn is_taken(&self, written: Result<usize, Errno>) -> Result<Option<usize>, Error> {
        match written {
            Ok(len) => Ok(Some(len)),
            Err(
                Errno::AGAIN | Errno::INTR | Errno::NOBUFS | Errno::IO | Errno::NETDOWN | Errno::INVAL | Errno::MSGSIZE,
            ) => Ok(None),
            Err(error) => Err(self.failed("write to it", error)),
        }
    }

    /// Bytes before the IP header.
    fn before(&self) -> usize {
        match (self.peer, self.offload) {
            (Some(_), _) => Header::LEN + ETHERNET,
            (None, Offload::None) => 0,
            (None, _) => Header::LEN,
        }
    }

    fn failed(&self, attempt: &'static str, error: Errno) -> Error {
        Error::Device { device: self.name.clone(), attempt, source: error.into() }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The Ethernet header of an IP packet.
fn ethernet(peer: [u8; 6], is_v4: bool) -> [u8; ETHERNET] {
    let mut header = [0; ETHERNET];
    header[..6].copy_from_slice(&peer);
    header[6..12].copy_from_slice(&OURS);
    header[12..].copy_from_slice(if is_v4 { &[0x08, 0x00] } else { &[0x86, 0xdd] });
    header
}

/// Gives the packets of a frame to `each`; [`None`] if it is no IP packet.
fn take_apart(memory: &mut Arc<Original>, len: usize, header: Header, each: &mut dyn FnMut(Box<Packet>)) -> Option<()> {
    let original = Arc::get_mut(memory)?;
    let frame = original.read(len, header.unsummed.is_none()).ok()?;
    let is_known = matches!(frame.l4, L4::Tcp(_) | L4::Udp { .. }) && frame.ip.fragment.is_none();
    match (header.segments, header.unsummed) {
        (Some(Segments { size, .. }), _) if is_known => {
            split(memory, &frame, size, each);
            return Some(());
        }
        (Some(_), _) => return None,
        (None, Some(unsummed)) if !is_known => original.complete(unsummed),
        (None, _) => {}
    }
    let mut packet = pool::take();
    packet.frame = frame;
    packet.body = Some(Body::part(memory, memory.headers().len()..memory.bytes().len()));
    each(packet);
    Some(())
}
