use wire::{CaptureDirection, Packet, Time};

/// What sees the packets of the client and the server: capture writers, the analysis, a test.
pub trait Observer {
    /// A packet passed one of [`Simulation::points`](crate::Simulation::points), given by its index there. At each host
    /// times grow from packet to packet.
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet);
}

/// Nobody looks.
impl Observer for () {
    #[inline]
    fn passed(&mut self, _: Time, _: usize, _: CaptureDirection, _: &Packet) {}
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
pub(crate) struct Site {
    /// The point that its first interface is.
    first: usize,
    /// How many of its interfaces are.
    count: usize,
    /// Time of the last packet. Hosts answer at once in virtual time, but of packets of one time nobody can tell which
    /// came first: each is a nanosecond after the one before it at least.
    last: Time,
}

impl Site {
    /// Of a host whose first interface is the point `first`, and of which the first `count` are observed.
    pub fn new(first: usize, count: usize) -> Site {
        Site { first, count, last: Time::from_nanos(i64::MIN) }
    }
}

/// Tells an observer what passes a host that is observed.
pub(crate) struct Tap<'a, O> {
    pub observer: &'a mut O,
    pub site: Option<&'a mut Site>,
}

impl<O: Observer> host::Tap for Tap<'_, O> {
    #[inline]
    fn passed(&mut self, at: Time, nic: transport::Nic, direction: CaptureDirection, packet: &Packet) {
        let Some(site) = self.site.as_mut().filter(|site| (nic.0 as usize) < site.count) else { return };
        site.last = at.max(site.last + 1);
        self.observer.passed(site.last, site.first + nic.0 as usize, direction, packet);
    }
}
