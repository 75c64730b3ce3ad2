use crate::Error;
use crate::device::Device;
use crate::port_name::PortName;
use network::Entry;
use rustix::io::Errno;
use wire::{Packet, Time};

/// A network card that holds its interrupts back for so long merges what comes meanwhile: the hosts of simulations look at it
/// after as long. What coalesced wake-ups of the thread bring together was farther apart on the link.
const TOGETHER_NS: i64 = 100_000;

/// A device and where it stands.
pub(crate) struct Port {
    pub port_name: PortName,
    pub device: Device,
    /// Its number among what captures see.
    pub point: Option<u32>,
    /// Where what comes in there goes.
    pub entry: Entry,
    #[expect(clippy::vec_box, reason = "packets travel in boxes")]
    pub out: Vec<Box<Packet>>,
    /// Where in it a row of packets ends that came together, and may be merged; the last ends where it does.
    ends: Vec<usize>,
    /// When the first of the last row came.
    first: Time,
    pub counts: PortCounts,
}

/// What came of taking a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Frame,
    Nothing,
    Gone,
}

/// What passed a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets that came from the kernel.
    pub received: u64,
    /// Frames in which they came: fewer where GSO packets were cut.
    pub received_frames: u64,
    /// Frames that the kernel dropped before they could be taken; none where its interface counts them (TUN).
    pub missed: Option<u64>,
    /// Packets of these that were for the link alone, and went nowhere.
    pub local: u64,
    /// Frames that were no IP packets.
    pub malformed: u64,
    /// Packets that the kernel took.
    pub sent: u64,
    /// Frames in which it took them: fewer where packets were merged.
    pub sent_frames: u64,
    /// Packets that it had no room for, or that came while the interface was down or gone.
    pub refused: u64,
}

impl Port {
    pub fn new(port_name: PortName, device: Device, point: Option<u32>, entry: Entry) -> Port {
        let (out, ends, first) = (Vec::new(), Vec::new(), Time::default());
        Port { port_name, device, point, entry, out, ends, first, counts: PortCounts::default() }
    }

    /// A packet comes that was due then.
    pub fn add(&mut self, due: Time, packet: Box<Packet>) {
        if self.out.is_empty() {
            self.first = due;
        } else if due - self.first >= TOGETHER_NS {
            self.first = due;
            self.ends.push(self.out.len());
        }
        self.out.push(packet);
    }

    /// Takes a frame that the kernel has sent; says whether there was one, or that there is no interface any more.
    pub fn receive(&mut self, each: &mut dyn FnMut(Box<Packet>)) -> Result<Received, Error> {
        match self.device.receive(each) {
            Ok(false) => Ok(Received::Nothing),
            Ok(true) => {
                self.counts.received_frames += 1;
                Ok(Received::Frame)
            }
            Err(error) if is_gone(&error) => Ok(Received::Gone),
            Err(error) => Err(error),
        }
    }

    /// Hands over what waits.
    pub fn send(&mut self) -> Result<(), Error> {
        let mut from = 0;
        for end in std::mem::take(&mut self.ends) {
            let mut row = self.out.drain(..end - from).collect();
            self.hand_over(&mut row)?;
            from = end;
        }
        let mut row = std::mem::take(&mut self.out);
        self.hand_over(&mut row)?;
        self.out = row;
        Ok(())
    }

    #[expect(clippy::vec_box, reason = "packets travel in boxes")]
    fn hand_over(&mut self, row: &mut Vec<Box<Packet>>) -> Result<(), Error> {
        match self.device.send(row) {
            Ok(sent) => {
                self.counts.sent += sent.packets;
                self.counts.sent_frames += sent.frames;
                self.counts.refused += sent.refused;
            }
            Err(error) if is_gone(&error) => {
                self.counts.refused += row.len() as u64;
                row.clear();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What passed it.
    pub fn into_counts(self) -> (PortName, PortCounts) {
        let (missed, malformed) = (self.device.dropped(), self.device.malformed());
        (self.port_name, PortCounts { missed, malformed, ..self.counts })
    }
}

/// Whether somebody removed the interface: what is sent to it is lost.
fn is_gone(error: &Error) -> bool {
    let Error::Device { source, .. } = error else { return false };
    matches!(Errno::from_io_error(source), Some(Errno::BADFD | Errno::NXIO | Errno::NODEV))
}
