use crate::{Error, Tun};
use std::os::fd::{AsFd, BorrowedFd};
use wire::{Frame, Packet};

/// More than any IP packet.
const BUFFER_BYTES: usize = 1 << 16;

/// A TUN device that carries packets one by one.
#[derive(Debug)]
pub(crate) struct Single {
    tun: Tun,
    buffer: Vec<u8>,
    out: Vec<u8>,
}

/// What became of packets that were handed over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub packets: u64,
    pub merged: u64,
    pub refused: u64,
}

impl Single {
    pub fn new(tun: Tun) -> Single {
        Single { tun, buffer: vec![0; BUFFER_BYTES], out: Vec::new() }
    }

    pub fn receive(&mut self, each: &mut dyn FnMut(Box<Packet>)) -> Result<bool, Error> {
        let Some(bytes) = self.tun.read(&mut self.buffer)? else { return Ok(false) };
        if let Ok(frame) = Frame::parse(bytes, bytes.len() as u32) {
            let start = bytes.len() - (frame.payload.len as usize).min(bytes.len());
            each(Box::new(Packet { frame, body: Some(bytes[start..].into()) }));
        }
        Ok(true)
    }

    pub fn send(&mut self, packets: &mut Vec<Box<Packet>>) -> Result<Sent, Error> {
        let mut sent = Sent::default();
        for packet in packets.drain(..) {
            self.out.clear();
            let passed = packet.emit(&mut self.out, None).is_ok() && self.tun.write(&self.out)?;
            sent.packets += u64::from(passed);
            sent.refused += u64::from(!passed);
        }
        Ok(sent)
    }
}

impl AsFd for Single {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}
