use transport::Nic;
use wire::{CaptureDirection, Packet, Time};

/// Observes every packet that passes an interface of a host, in the order in which they pass.
pub trait Tap {
    /// A packet passed.
    fn passed(&mut self, at: Time, nic: Nic, direction: CaptureDirection, packet: &Packet);
}

/// No tap.
impl Tap for () {
    #[inline]
    fn passed(&mut self, _: Time, _: Nic, _: CaptureDirection, _: &Packet) {}
}
