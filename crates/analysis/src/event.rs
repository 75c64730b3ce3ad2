//! What the tracker tells the metrics.

use std::net::IpAddr;
use tables::Direction;
use wire::{Observation, PointId, Time};

/// Something that a packet showed, at one end of a connection.
///
/// Metrics are inlined where an event of a known kind is emitted, and what is not inlined takes a copy: an event whose address
/// goes elsewhere lies in memory, and each metric asks again of which kind it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEvent<'a> {
    /// The packet that showed it.
    pub(crate) seen: Seen,
    /// Index of the subflow in its connection, in the order of discovery.
    pub(crate) subflow: usize,
    /// The direction that it concerns: of the data, also where an acknowledgement showed it.
    pub(crate) direction: Direction,
    pub(crate) kind: Kind<'a>,
}

/// When a packet was seen, and where to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) point: PointId,
    pub(crate) record: u64,
}

impl Seen {
    pub(crate) fn of(observation: &Observation) -> Seen {
        Seen { at: observation.at, point: observation.point, record: observation.record }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    /// A packet, whatever it carries.
    Packet,
    /// A packet with payload.
    Data(Data),
    /// What is in flight on the subflow or the window changed.
    Flight { in_flight_bytes: u64, window_bytes: Option<u64> },
    /// The receiver reported a segment that came twice (DSACK), of some that came after a gap (SACK), or of both.
    Sacked { twice: bool, gap: bool },
    /// A round-trip time sample, nanoseconds.
    Rtt { nanos: u64 },
    /// A segment arrived with this many bytes that no subflow had brought before.
    Arrived { bytes: u64 },
    /// The receiver acknowledged on the subflow this many bytes that it had acknowledged on no other before.
    Confirmed { bytes: u64 },
    /// A segment's new bytes came in order at connection level. `seen` is the segment's arrival.
    InOrder { offset: i64, bytes: u32, delay_nanos: u64 },
    /// Data was in order up to here, by arrival at this end; bytes are those added.
    Progress { bytes: u64 },
    /// The receiver acknowledged data at connection level; bytes are those added.
    DataAcked { bytes: u64 },
    /// Bytes under new subflow sequence numbers whose data sequence numbers had been sent before; those of them that this
    /// subflow itself had brought first.
    Reinjected { bytes: u64, own_bytes: u64 },
    /// Something to list.
    Happened(&'a Happening),
}

/// A segment with payload.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Data {
    /// Payload.
    pub(crate) bytes: u32,
    /// Packets that it stands for: more than one where an offload merged them.
    pub(crate) packets: u32,
    /// Bytes never seen before at this end.
    pub(crate) new_bytes: u32,
    /// Packets that bytes seen before stand for.
    pub(crate) resent_packets: u32,
    /// The new bytes lie below the highest seen before.
    pub(crate) fills_gap: bool,
    /// So late that, at the sender, they were lost before the capture and sent again.
    pub(crate) lost_before: bool,
    /// How long after the segment before it what is sent again had left first; 0: not known.
    pub(crate) apart_nanos: u64,
    /// Larger than the maximum segment size.
    pub(crate) merged: bool,
    /// A queue marked it (CE).
    pub(crate) marked: bool,
    pub(crate) probe: Option<Probe>,
    /// Where its first byte lies in the subflow, and, looked up only where segments are listed, in the connection.
    pub(crate) offset: i64,
    pub(crate) data_offset: Option<i64>,
}

impl Data {
    /// Brings bytes of the stream: a keep-alive does not.
    #[inline(always)]
    pub(crate) fn has_payload(&self) -> bool {
        self.bytes > 0 && self.probe != Some(Probe::KeepAlive)
    }

    /// Bytes sent again. What a zero-window probe brings again is no sign of loss; tcptrace leaves it out too.
    #[inline(always)]
    pub(crate) fn resent_bytes(&self) -> u32 {
        if self.probe.is_none() { self.bytes - self.new_bytes } else { 0 }
    }
}

/// Segments that carry no news on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    ZeroWindow,
    KeepAlive,
}

/// An event as the table `events` holds it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Happening {
    pub(crate) event: &'static str,
    pub(crate) detail: Option<&'static str>,
    pub(crate) address_id: Option<u8>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) port: Option<u16>,
    pub(crate) bytes: Option<u64>,
    pub(crate) duration_ms: Option<f64>,
    /// The sender had closed the connection.
    pub(crate) by_closer: bool,
}

impl Happening {
    pub(crate) fn new(event: &'static str) -> Self {
        Happening { event, ..Happening::default() }
    }
}
