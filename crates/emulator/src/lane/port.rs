use crate::Error;
use crate::device::Device;
use crate::place::Place;
use rustix::io::Errno;
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
    /// Packets that it had no room for, or that came while the interface was down or gone.
    pub refused: u64,
}

impl Port {
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
        match self.device.send(&mut self.out) {
            Ok(sent) => {
                self.counts.sent += sent.packets;
                self.counts.sent_frames += sent.frames;
                self.counts.refused += sent.refused;
            }
            Err(error) if is_gone(&error) => {
                self.counts.refused += self.out.len() as u64;
                self.out.clear();
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What passed it.
    pub fn into_counts(self) -> (Place, PortCounts) {
        let (missed, malformed) = (self.device.dropped(), self.device.malformed());
        (self.place, PortCounts { missed, malformed, ..self.counts })
    }
}

/// Whether somebody removed the interface: what is sent to it is lost.
fn is_gone(error: &Error) -> bool {
    let Error::Device { source, .. } = error else { return false };
    matches!(Errno::from_io_error(source), Some(Errno::BADFD | Errno::NXIO | Errno::NODEV))
}
