//! What acknowledgements tell: of a subflow's sequence numbers, and of a connection's data.

use super::connection::Connection;
use super::packet::Packet;
use super::stream::Stream;
use crate::event::Kind;
use wire::mptcp::Dss;
use wire::seq;

/// What a segment holds that is not known to hold less.
const ETHERNET_MSS_BYTES: i64 = 1460;

impl Connection {
    pub(super) fn acknowledgement(&mut self, packet: &Packet) {
        let of_data = packet.direction.reverse();
        let d = of_data as usize;
        let view = self.subflows[packet.subflow].views[packet.end].as_mut().expect("the end has a view");
        let end = self.ends[packet.end].as_mut().expect("the site has an end");

        let sequence = &mut view.sequences[d];
        let position = sequence.position(packet.tcp.ack);
        if !sequence.may_acknowledge(position) {
            view.stray += 1;
            return;
        }
        let acknowledged = sequence.acknowledged(packet.seen.at, position);
        self.may_close |= acknowledged.newly.is_some() && sequence.fin.is_some();
        let shift = view.window_shifts[packet.direction as usize];
        let window_bytes = shift.map(|shift| u64::from(packet.tcp.window) << shift);
        let window_changed = window_bytes != sequence.window_bytes;
        sequence.window_bytes = window_bytes;
        if let Some(bytes) = window_bytes {
            sequence.windows.add(bytes, position);
        }

        if let Some((from, to)) = acknowledged.newly {
            let to = sequence.fin.map_or(to, |fin| to.min(fin));
            let mut confirmed = 0;
            let mut last_data = None;
            view.mappings[d].map(from, to, |data, len| {
                confirmed += end.streams[d].confirm(data, data + len, packet.subflow);
                last_data = Some(data + len);
            });
            view.mappings[d].forget(to);
            if confirmed > 0 {
                end.emit(packet.event(of_data, Kind::Confirmed { bytes: confirmed }));
            }
            if self.plain
                && let Some(data) = last_data
            {
                let bytes = end.streams[d].data_ack(data, packet.seen.at);
                end.data_acked(packet, of_data, bytes);
            }
        }
        if let Some(nanos) = acknowledged.rtt_nanos {
            let bytes = acknowledged.newly.map_or(0, |(from, to)| to - from);
            let delayed = bytes <= sequence.mss_bytes.map_or(ETHERNET_MSS_BYTES, i64::from);
            view.signs.answer(packet.direction, nanos, delayed);
            if acknowledged.of_data {
                end.emit(packet.event(of_data, Kind::Rtt { nanos }));
            }
        }
        if window_changed || acknowledged.newly.is_some() {
            let in_flight_bytes = sequence.in_flight_bytes();
            end.emit(packet.event(of_data, Kind::Flight { in_flight_bytes, window_bytes }));
        }
        // The same block again comes with every acknowledgement, whatever it is sent for; with one that brings more, a gap is left.
        let blocks = packet.brief.sack.as_slice();
        let sacked = blocks.first().copied();
        if sacked.is_some() && (sacked != sequence.sacked || acknowledged.newly.is_some()) {
            let reported = reported(blocks, packet.tcp.ack, sacked != sequence.sacked);
            sequence.sacked = sacked;
            end.emit(packet.event(of_data, reported));
        }
    }

    pub(super) fn data_ack(&mut self, packet: &Packet, dss: &Dss) {
        let Some(number) = dss.data_ack else { return };
        let of_data = packet.direction.reverse();
        let offset = self.offset(of_data, number);
        let view = self.subflows[packet.subflow].views[packet.end].as_mut().expect("the end has a view");
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        let stream = &mut end.streams[of_data as usize];
        let shift = view.window_shifts[packet.direction as usize];
        if !stream.may_acknowledge(offset, shift.map(|shift| i64::from(packet.tcp.window) << shift)) {
            view.stray += 1;
            return;
        }
        let bytes = stream.data_ack(offset, packet.seen.at);
        self.may_close |= stream.fin.is_some();
        end.data_acked(packet, of_data, bytes);
        if self.over_at.is_none() && end.streams.iter().all(Stream::is_closed) {
            self.over_at = Some(packet.seen.at);
        }
    }
}

/// What blocks tell of (RFC 2883 §4): the first came twice where it lies below the acknowledgement, or in the second; the others
/// never do. Where it is the same as before, nothing came twice once more.
fn reported(blocks: &[(u32, u32)], acknowledged: u32, is_new: bool) -> Kind<'static> {
    let mut beyond = blocks.iter().map(|&(_, end)| seq::diff(end, acknowledged) > 0);
    let is_in =
        |inner: (u32, u32), outer: (u32, u32)| seq::diff(inner.0, outer.0) >= 0 && seq::diff(outer.1, inner.1) >= 0;
    let is_in_second = matches!(*blocks, [first, second, ..] if is_in(first, second));
    let twice = is_new && (beyond.clone().next() == Some(false) || is_in_second);
    Kind::Sacked { twice, gap: beyond.any(|beyond| beyond) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(blocks: &[(u32, u32)], is_new: bool) -> (bool, bool) {
        match reported(blocks, 5000, is_new) {
            Kind::Sacked { twice, gap } => (twice, gap),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_gap_is_seen_behind_what_came_twice() {
        assert_eq!(of(&[(6000, 7000)], true), (false, true));
        assert_eq!(of(&[(4000, 5000)], true), (true, false));
        assert_eq!(of(&[(4000, 5000), (6000, 7000)], true), (true, true));
        assert_eq!(of(&[(6000, 7000), (8000, 9000)], true), (false, true));
        assert_eq!(of(&[(4000, 5000), (6000, 7000)], false), (false, true), "reported before");
    }

    #[test]
    fn what_came_twice_beyond_a_gap_lies_in_the_second_block() {
        assert_eq!(of(&[(6000, 7000), (6000, 9000)], true), (true, true));
        assert_eq!(of(&[(7000, 8000), (6000, 9000)], true), (true, true));
        assert_eq!(of(&[(6000, 9000), (7000, 8000)], true), (false, true));
        assert_eq!(of(&[(6000, 7000), (7000, 8000)], true), (false, true));
        assert_eq!(of(&[(u32::MAX - 9, 3), (u32::MAX - 9, 9)], true), (true, false), "it lies below after a wrap");
    }
}
