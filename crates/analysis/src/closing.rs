//! What a metric may know of a connection that is finished.

use crate::Options;
use crate::event::{Happening, Seen};
use std::sync::Arc;
use tables::Direction;
use wire::Time;

/// What a metric may know when it fills its rows.
pub(crate) struct Closing<'a> {
    /// It speaks MPTCP, and did not fall back when it began.
    pub(crate) speaks_mptcp: bool,
    /// Bytes delivered in order to the application.
    pub(crate) delivered_bytes: [u64; 2],
    pub(crate) last_ack: [Option<Time>; 2],
    pub(crate) options: &'a Options,
    /// First packet of the connection at this end.
    pub(crate) start: Time,
    pub(crate) origin: Time,
    pub(crate) captures: &'a [Arc<str>],
    /// The direction that is sent from here; none where the vantage is not known.
    pub(crate) sends: Option<Direction>,
    pub(crate) only_end: bool,
    /// What is to be known of the whole connection this end, or the other, tells: the time that it took; what was delivered.
    pub(crate) tells_time: bool,
    pub(crate) tells_delivered: [bool; 2],
    /// What each subflow carried, where this is the end that tells; and whether so little of it passed here that delays mean
    /// nothing.
    pub(crate) carried: [Option<Vec<u64>>; 2],
    pub(crate) lacks_data: [bool; 2],
}

impl Closing<'_> {
    /// The data of the direction is sent from here.
    pub(crate) fn is_sender(&self, direction: Direction) -> bool {
        self.sends == Some(direction)
    }

    /// The data of the direction arrives here.
    pub(crate) fn is_receiver(&self, direction: Direction) -> bool {
        self.sends == Some(direction.reverse())
    }

    /// There is no better end to say what was sent.
    pub(crate) fn speaks_for_sender(&self, direction: Direction) -> bool {
        self.only_end || self.is_sender(direction)
    }

    /// There is no better end to say what arrived.
    pub(crate) fn speaks_for_receiver(&self, direction: Direction) -> bool {
        self.only_end || self.is_receiver(direction)
    }

    /// There is no better end to say how long it took.
    pub(crate) fn tells_time(&self) -> bool {
        self.tells_time
    }

    /// There is no better end to say what was delivered.
    pub(crate) fn tells_delivered(&self, direction: Direction) -> bool {
        self.tells_delivered[direction as usize]
    }

    /// There is no better end to say what happened.
    pub(crate) fn speaks_for_client(&self) -> bool {
        self.only_end || self.sends == Some(Direction::Up)
    }

    /// Seconds from the first packet of all captures.
    pub(crate) fn seconds(&self, at: Time) -> f64 {
        (at - self.origin) as f64 / 1e9
    }

    /// The capture that holds a packet.
    pub(crate) fn capture(&self, seen: Seen) -> Arc<str> {
        self.captures.get(seen.point.0 as usize).cloned().unwrap_or_else(|| "".into())
    }

    /// Delivered bytes by subflow, where this is the end that can tell.
    pub(crate) fn carried(&self, direction: Direction) -> Option<&[u64]> {
        self.carried[direction as usize].as_deref()
    }

    /// Much of the data went where this end's capture did not look.
    pub(crate) fn lacks_data(&self, direction: Direction) -> bool {
        self.lacks_data[direction as usize]
    }

    /// Bytes delivered in order to the application.
    pub(crate) fn delivered_bytes(&self, direction: Direction) -> u64 {
        self.delivered_bytes[direction as usize]
    }

    /// An event as a row.
    pub(crate) fn event_row(
        &self,
        seen: Seen,
        subflow: Option<u32>,
        direction: Direction,
        happening: &Happening,
    ) -> tables::Event {
        tables::Event {
            connection: 0,
            subflow,
            at_ns: seen.at.as_nanos(),
            at_s: self.seconds(seen.at),
            event: happening.event,
            direction: Some(direction),
            detail: happening.detail,
            address_id: happening.address_id,
            address: happening.address,
            port: happening.port,
            bytes: happening.bytes,
            duration_ms: happening.duration_ms,
            capture: self.capture(seen),
            record: seen.record,
        }
    }

    /// First SYN to the last acknowledgement of the direction's data as seen from here, nanoseconds.
    pub(crate) fn elapsed_nanos(&self, direction: Direction) -> Option<i64> {
        self.last_ack[direction as usize].map(|last| (last - self.start).max(0))
    }
}
