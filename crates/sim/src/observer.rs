use wire::{Direction, Packet, Time};

/// What sees the packets of the client and the server: capture writers, the analysis, a test.
pub trait Observer {
    /// A packet passed one of [`Simulation::points`](crate::Simulation::points), given by its place there. Times never
    /// go back.
    fn passed(&mut self, at: Time, point: usize, direction: Direction, packet: &Packet);
}

/// Nobody looks.
impl Observer for () {
    #[inline]
    fn passed(&mut self, _: Time, _: usize, _: Direction, _: &Packet) {}
}

/// Where packets are seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// `client` or `server`.
    pub host: &'static str,
    /// The interface: for the client the path's name.
    pub interface: String,
}

/// A host's interfaces as points.
pub(crate) struct Tap<'a, O> {
    pub observer: &'a mut O,
    /// The point that its first interface is.
    pub first: usize,
}

impl<O: Observer> host::Tap for Tap<'_, O> {
    #[inline]
    fn passed(&mut self, at: Time, nic: transport::Nic, direction: Direction, packet: &Packet) {
        self.observer.passed(at, self.first + nic.0 as usize, direction, packet);
    }
}
