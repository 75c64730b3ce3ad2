use crate::Error;
use crate::device::Device;
use crate::place::Place;
use wire::Packet;

/// A device and where it stands.
pub(crate) struct Port {
    pub place: Place,
    pub device: Device,
    /// Its number among what captures see.
    pub point: Option<u32>,
    pub entry: Entry,
    // Boxes are what is carried.
    #[allow(clippy::vec_box)]
    pub out: Vec<Box<Packet>>,
    pub counts: PortCounts,
}

/// Where what comes in at a port goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    /// Up a path.
    Path(usize),
    /// Up a link.
    Link(usize),
    /// Down the link behind which the destination is.
    Router,
}

/// What passed a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets that came from the kernel.
    pub received: u64,
    /// Frames in which they came: fewer where super-frames were cut.
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
    /// Packets that it had no room for, or that came while the interface was down.
    pub refused: u64,
}

impl Port {
    /// Takes a frame that the kernel has sent, if there is one.
    pub fn receive(&mut self, each: &mut dyn FnMut(Box<Packet>)) -> Result<bool, Error> {
        let received = self.device.receive(each)?;
        self.counts.received_frames += u64::from(received);
        Ok(received)
    }

    /// Hands over what waits.
    pub fn send(&mut self) -> Result<(), Error> {
        let sent = self.device.send(&mut self.out)?;
        self.counts.sent += sent.packets;
        self.counts.sent_frames += sent.frames;
        self.counts.refused += sent.refused;
        Ok(())
    }

    /// What passed it.
    pub fn into_counts(self) -> (Place, PortCounts) {
        let (missed, malformed) = (self.device.dropped(), self.device.malformed());
        (self.place, PortCounts { missed, malformed, ..self.counts })
    }
}
