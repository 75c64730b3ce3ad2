//! What one end of a connection saw.

use super::packet::Packet;
use super::stream::{InOrder, Stream};
use crate::Options;
use crate::event::{FlowEvent, Kind, Seen};
use crate::metrics::{Metric, Metrics};
use tables::Direction;
use wire::Time;

/// What one end of a connection saw.
pub(crate) struct End {
    pub(crate) streams: [Stream; 2],
    pub(crate) metrics: Metrics,
    /// The last acknowledgement of new data, per direction of the data.
    pub(crate) last_ack: [Option<Time>; 2],
    pub(crate) first: Seen,
    /// Segments are listed, with their offsets.
    pub(super) lists_segments: bool,
}

impl End {
    pub(super) fn new(options: &Options, first: Seen, whole: bool) -> Self {
        let mut streams: [Stream; 2] = Default::default();
        if whole {
            streams.iter_mut().for_each(Stream::begin);
        }
        End {
            streams,
            metrics: Metrics::new(options, first.at),
            last_ack: [None; 2],
            first,
            lists_segments: options.samples,
        }
    }

    /// Inlined, so that of the metrics only those remain that the kind of event concerns.
    #[inline(always)]
    pub(super) fn emit(&mut self, event: FlowEvent) {
        self.metrics.on(&event);
    }

    pub(super) fn data_acked(&mut self, packet: &Packet, of_data: Direction, bytes: u64) {
        if bytes > 0 {
            self.last_ack[of_data as usize] = Some(packet.seen.at);
            self.emit(packet.event(of_data, Kind::DataAcked { bytes }));
        }
    }

    /// Data arrived under subflow sequence numbers not seen before.
    pub(super) fn arrive(&mut self, packet: &Packet, range: (i64, i64)) {
        let direction = packet.direction;
        let (stream, metrics) = (&mut self.streams[direction as usize], &mut self.metrics);
        let before = stream.in_order();
        let new = stream.arrive(
            range,
            packet.seen,
            packet.subflow,
            |InOrder { seen, subflow, offset, bytes, delay_nanos }| {
                metrics.on(&FlowEvent { seen, subflow, direction, kind: Kind::InOrder { offset, bytes, delay_nanos } });
            },
        );
        let progress = (stream.in_order() - before).max(0) as u64;
        let reinjected = (range.1 - range.0) as u64 - new;
        if new > 0 {
            self.emit(packet.event(direction, Kind::Arrived { bytes: new }));
        }
        if progress > 0 {
            self.emit(packet.event(direction, Kind::Progress { bytes: progress }));
        }
        if reinjected > 0 {
            let own = self.streams[direction as usize].brought(range, packet.subflow);
            let own_bytes = own.saturating_sub(new).min(reinjected);
            self.emit(packet.event(direction, Kind::Reinjected { bytes: reinjected, own_bytes }));
        }
    }
}
