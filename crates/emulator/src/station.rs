use crate::{Clock, Error, Tun};
use host::{Host, blank};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::net::IpAddr;
use std::ops::ControlFlow;
use transport::Nic;
use wire::{CaptureDirection, Frame, Packet, Time};

/// Packets that are taken from a device before the host may send again.
const BATCH: usize = 64;
/// More than any IP packet.
const BUFFER_BYTES: usize = 1 << 16;

/// Observes the bytes of every packet at the devices, in the order in which they pass.
pub trait Tap {
    /// A packet passed the device of this number, as its host sees it.
    fn passed(&mut self, at: Time, device: usize, direction: CaptureDirection, bytes: &[u8]);
}

/// No tap.
impl Tap for () {
    fn passed(&mut self, _: Time, _: usize, _: CaptureDirection, _: &[u8]) {}
}

/// A host at TUN devices, in real time. Payload leaves it as bytes, and what comes in keeps its bytes.
pub struct Station {
    host: Host,
    clock: Clock,
    devices: Vec<(Tun, Nic)>,
    /// Where peers were last heard, for interfaces of several devices.
    heard: Vec<(IpAddr, usize)>,
    /// What comes in, and what goes out.
    buffer: Vec<u8>,
    out: Vec<u8>,
}

impl Station {
    /// A host whose interface [`Nic`] has the devices that name it: one that has several sends where it last heard the
    /// peer.
    pub fn new(host: Host, clock: Clock, devices: Vec<(Tun, Nic)>) -> Station {
        Station { host, clock, devices, heard: Vec::new(), buffer: vec![0; BUFFER_BYTES], out: Vec::new() }
    }

    /// The host.
    pub fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Runs until `steer`, which is called after everything that happened, says that it is enough, or `until` has come;
    /// says whether it was enough.
    ///
    /// # Errors
    /// What the machine refuses.
    pub fn run(
        &mut self,
        until: Time,
        tap: &mut impl Tap,
        mut steer: impl FnMut(Time, &mut Host) -> ControlFlow<()>,
    ) -> Result<bool, Error> {
        loop {
            self.receive(tap)?;
            let now = self.clock.now();
            if self.host.deadline() <= now {
                self.host.timeout(now);
            }
            let enough = steer(now, &mut self.host).is_break();
            self.send(tap)?;
            if enough || now >= until {
                return Ok(enough);
            }
            self.wait(until)?;
        }
    }

    fn receive(&mut self, tap: &mut impl Tap) -> Result<(), Error> {
        for device in 0..self.devices.len() {
            for _ in 0..BATCH {
                let (tun, nic) = &self.devices[device];
                let Some(bytes) = tun.read(&mut self.buffer)? else { break };
                let now = self.clock.now();
                tap.passed(now, device, CaptureDirection::Inbound, bytes);
                let Ok(frame) = Frame::parse(bytes, bytes.len() as u32) else { continue };
                // Nothing is padded here: the payload is what ends the packet.
                let start = bytes.len() - (frame.payload.len as usize).min(bytes.len());
                let packet = Packet { frame, body: Some(bytes[start..].into()) };
                self.host.handle(now, *nic, &packet, &mut ());
                match self.heard.iter_mut().find(|(peer, _)| *peer == frame.ip.source) {
                    Some((_, heard)) => *heard = device,
                    None => self.heard.push((frame.ip.source, device)),
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, tap: &mut impl Tap) -> Result<(), Error> {
        let mut packet = blank();
        loop {
            let now = self.clock.now();
            let Some(nic) = self.host.transmit(now, &mut packet, &mut ()) else { return Ok(()) };
            let Some(device) = self.device(nic, packet.frame.ip.destination) else { continue };
            self.out.clear();
            packet.emit(&mut self.out, None).expect("a host sends what can be written");
            tap.passed(now, device, CaptureDirection::Outbound, &self.out);
            // What the kernel has no room for is lost, as in any queue.
            self.devices[device].0.write(&self.out)?;
        }
    }

    fn device(&self, nic: Nic, peer: IpAddr) -> Option<usize> {
        let of_nic = |device: &usize| self.devices[*device].1 == nic;
        let heard = self.heard.iter().find(|(known, _)| *known == peer).map(|(_, device)| *device);
        heard.filter(of_nic).or_else(|| (0..self.devices.len()).find(of_nic))
    }

    /// Sleeps until a packet or the host's deadline comes.
    fn wait(&self, until: Time) -> Result<(), Error> {
        let nanos = (self.host.deadline().min(until) - self.clock.now()).max(0);
        let timeout = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        let mut ready: Vec<PollFd> = self.devices.iter().map(|(tun, _)| PollFd::new(tun, PollFlags::IN)).collect();
        match poll(&mut ready, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(Error::Wait(error.into())),
        }
    }
}
