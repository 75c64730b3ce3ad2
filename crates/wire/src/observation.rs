use crate::{Frame, Time};

/// A frame that passed a point at a time. Everything that mptcplab measures is made of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// When.
    pub at: Time,
    /// Where.
    pub point: PointId,
    /// Its direction, if the observer knew.
    pub direction: Option<CaptureDirection>,
    /// The number of the packet in its capture, from 1, as Wireshark counts.
    pub record: u64,
    /// Bytes of the IP packet that were captured.
    pub captured: u32,
    /// What passed.
    pub frame: Frame,
}

/// Seen from the host at the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureDirection {
    /// Arriving at the host.
    Inbound,
    /// Leaving the host.
    Outbound,
}

/// Index of a [`Point`] in its list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointId(pub u32);

/// Where frames are observed: an interface in a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// The capture that it belongs to (a file's name), one capture being one host.
    pub capture: String,
    /// Number of the capture; points with the same number stand at the same host.
    pub site: u32,
    /// The interface's name, empty where the capture has none.
    pub interface: String,
}
