use crate::Error;
use crate::place::Place;
use crate::single::Single;
use rustix::io::Errno;
use wire::Packet;

/// A device and where it stands.
pub(crate) struct Port {
    pub place: Place,
    pub device: Single,
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
    /// To whom the address belongs.
    Router,
}

/// What passed a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortCounts {
    /// Packets that came from the kernel.
    pub received: u64,
    /// Packets that it took.
    pub sent: u64,
    /// Packets of these that were merged with others.
    pub merged: u64,
    /// Packets for which it had no room.
    pub refused: u64,
    /// Packets that came while the interface was down.
    pub detached: u64,
    /// Packets from the kernel that were meant for the link alone: multicast, and addresses of a link's own.
    pub local: u64,
}

impl Port {
    /// Takes some of what the kernel has sent.
    pub fn receive(&mut self, each: &mut dyn FnMut(Box<Packet>)) -> Result<bool, Error> {
        match self.device.receive(each) {
            Err(error) if is_down(&error) => Ok(false),
            other => other,
        }
    }

    /// Hands over what waits.
    pub fn send(&mut self) -> Result<(), Error> {
        let before = self.out.len() as u64;
        match self.device.send(&mut self.out) {
            Ok(sent) => {
                self.counts.sent += sent.packets;
                self.counts.merged += sent.merged;
                self.counts.refused += sent.refused;
            }
            Err(error) if is_down(&error) => self.counts.detached += before,
            Err(error) => return Err(error),
        }
        self.out.clear();
        Ok(())
    }
}

/// What devices say while their interface is down or gone: that belongs to a run.
fn is_down(error: &Error) -> bool {
    let Error::Device { source, .. } = error else { return false };
    let down = [Errno::IO, Errno::NETDOWN, Errno::BADFD, Errno::NXIO, Errno::NODEV];
    Errno::from_io_error(source).is_some_and(|errno| down.contains(&errno))
}
