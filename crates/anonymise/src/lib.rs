//! Captures made fit to publish: other addresses and keys, no payload, and MPTCP still valid.
//!
//! All captures of one network are first learnt, so that one tells what another needs, and then written. What is
//! measured of both is the same, addresses, tokens and keys aside.

mod addresses;
mod connections;
mod options;
mod packet;
mod secret;
mod sums;

use std::io::{self, Write};

use capture::{Error, Network, Reader, Writer};
use wire::Frame;

use connections::{Connections, Current};

pub use secret::Secret;

/// What was done to captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets, as many as there were.
    pub packets: u64,
    /// Tokens and HMACs that were made anew and are valid as before.
    pub remade: u64,
    /// Tokens and HMACs whose keys no capture holds, or that were wrong before: other numbers stand in their place.
    pub replaced: u64,
    /// Bytes of payload that were left out.
    pub payload_bytes: u64,
    /// Whether the capture ended before its end; what was written ends there, too.
    pub cut: bool,
}

/// Why a capture was not written.
#[derive(Debug)]
pub enum Failure {
    /// It cannot be read.
    Read(Error),
    /// What it is written to does not take it.
    Write(io::Error),
    /// The caller stopped it.
    Stopped,
}

/// So many packets are handled between looks at who watches.
const STRIDE: u64 = 1 << 14;

/// Knows the connections of captures, and what their addresses and keys become.
pub struct Anonymiser {
    secret: Secret,
    addresses: addresses::Addresses,
    connections: Connections,
}

impl Anonymiser {
    /// The same secret makes the same of the same.
    pub fn new(secret: Secret) -> Anonymiser {
        Anonymiser { addresses: addresses::Addresses::default(), connections: Connections::default(), secret }
    }

    /// Takes from a capture what others may need: keys, and whose they are. `goes_on` is asked now and then.
    ///
    /// # Errors
    /// [`Failure`]. A capture that is cut ends there.
    pub fn learn(&mut self, mut capture: Reader, mut goes_on: impl FnMut() -> bool) -> Result<(), Failure> {
        let mut current = Current::default();
        while let Some(packet) = capture.next().map_err(Failure::Read)? {
            if packet.record.is_multiple_of(STRIDE) && !goes_on() {
                return Err(Failure::Stopped);
            }
            if let Network::Ip { offset, .. } = packet.network()
                && let Ok(frame) = Frame::parse(&packet.data[offset..], packet.original_len - offset as u32)
            {
                self.connections.learn(&mut current, &frame);
            }
        }
        Ok(())
    }

    /// Writes a capture that was learnt, packet by packet, as pcapng.
    ///
    /// # Errors
    /// [`Failure`], with the sink's errors.
    pub fn write(
        &mut self,
        mut capture: Reader,
        sink: impl Write,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Counts, Failure> {
        let mut writer = Writer::new(sink, "").map_err(Failure::Write)?;
        let (mut counts, mut current, mut described) = (Counts::default(), Current::default(), 0);
        let mut bytes = Vec::new();
        while let Some(packet) = capture.next().map_err(Failure::Read)? {
            if packet.record.is_multiple_of(STRIDE) && !goes_on() {
                return Err(Failure::Stopped);
            }
            bytes.clear();
            bytes.extend_from_slice(packet.data);
            let written = packet::anonymise(self, &mut current, &packet, &mut bytes, &mut counts);
            let (interface, at, direction, len) = (packet.interface, packet.at, packet.direction, packet.original_len);
            for interface in &capture.interfaces()[described..] {
                writer.describe(interface).map_err(Failure::Write)?;
                described += 1;
            }
            let result = writer.packet(interface, at, direction, len, &bytes[..written]);
            result.map_err(Failure::Write)?;
        }
        for interface in &capture.interfaces()[described..] {
            writer.describe(interface).map_err(Failure::Write)?;
        }
        let drops: Vec<_> = capture.interfaces().iter().map(|interface| interface.drops).collect();
        writer.finish_known(&drops).map_err(Failure::Write)?;
        counts.cut = capture.cut().is_some();
        Ok(counts)
    }
}
