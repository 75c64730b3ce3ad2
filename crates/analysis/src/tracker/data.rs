//! What data tells, and what is said about its meaning at connection level.

use super::connection::Connection;
use super::mappings::Mappings;
use super::one_way::{ClockOffset, Segment};
use super::packet::Packet;
use super::subflow::{Kind as SubflowKind, View};
use crate::event::{Data, Kind, Probe};
use wire::mptcp::{DataNumber, Mapping};
use wire::{Ecn, Flags, Tcp, seq};

impl Connection {
    /// Data on MP_CAPABLE begins at the initial data sequence number + 1 (RFC 8684 §3.1).
    #[cold]
    pub(super) fn learn_first_mapping(&mut self, packet: &Packet, len: u16) {
        let d = packet.direction as usize;
        let view = self.view(packet);
        view.mapped[d] = true;
        view.mappings[d].add(0, i64::from(len), 0);
    }

    /// Notes what a packet says about the meaning of subflow sequence numbers.
    pub(super) fn learn_mapping(&mut self, packet: &Packet, mapping: &Mapping, data_fin: bool) {
        let d = packet.direction as usize;
        let data = self.offset(packet.direction, mapping.data_seq);
        let view = self.subflows[packet.subflow].views[packet.end].as_mut().expect("the end has a view");
        let stream = &mut self.ends[packet.end].as_mut().expect("the site has an end").streams[d];
        let payload = i64::from(mapping.len) - i64::from(data_fin);
        if data_fin && mapping.len > 0 {
            stream.fin.get_or_insert(data + payload);
            self.may_close = true;
        }
        let sequence = &mut view.sequences[d];
        let position = sequence.position(packet.tcp.seq);
        let number = match mapping.data_seq {
            DataNumber::Long(number) => number,
            DataNumber::Short(number) => u64::from(number),
        };
        if mapping.len == 0 {
            view.mappings[d].fall_back(position, data);
            view.fall_back();
            self.fall_back(packet, "infinite mapping");
            return;
        }
        if payload == 0 {
            return;
        }
        let whole = payload == i64::from(packet.observation.frame.payload.len);
        let Some(shift) = view.alignment[d].shift(position, mapping.subflow_seq, number, whole) else { return };
        let start = near(position, i64::from(mapping.subflow_seq) - 1 + shift);
        view.mapped[d] = true;
        view.mappings[d].add(start, start + payload, data);
    }

    /// A packet on an MPTCP connection that says nothing of data sequence numbers. Once bytes came without a mapping, a
    /// receiver speaks so when it has fallen back to TCP (RFC 8684 §3.7).
    pub(super) fn without_signal(&mut self, packet: &Packet, len: u32) {
        if len > 0 {
            self.data_without_signal(packet);
        }
        let data = packet.direction.reverse();
        let d = data as usize;
        let alone = self.is_alone(packet);
        let view = self.view(packet);
        let could_not_place = alone && view.unmapped_bytes[d] > 0 && view.mapped[d] && view.fins == [false; 2];
        if could_not_place && !view.fallen_back && !packet.brief.signals {
            view.fall_back();
            // What was not placed then is data where it stands.
            let pieces = std::mem::take(&mut view.unmapped[d]);
            view.unmapped_bytes[d] = 0;
            view.mappings[d] = Mappings::identity();
            let end = self.ends[packet.end].as_mut().expect("the site has an end");
            let of_data = Packet { direction: data, ..*packet };
            pieces.iter().for_each(|&piece| end.arrive(&of_data, piece));
            self.fall_back(packet, "data came that no mapping covers");
        }
    }

    /// Data that says nothing of data sequence numbers, before any did, or behind all mappings to a peer that is as silent:
    /// the connection has fallen back to TCP (RFC 8684 §3.7). After it fell back such data goes on where the last mapping ends.
    fn data_without_signal(&mut self, packet: &Packet) {
        let (alone, fallen) = (self.is_alone(packet), self.plain);
        let (d, back) = (packet.direction as usize, packet.direction.reverse() as usize);
        let view = self.view(packet);
        if view.fallen_back {
            return;
        }
        let position = view.sequences[d].position(packet.tcp.seq);
        let never = view.mapped == [false; 2];
        let no_more = || view.silent[back] && view.mappings[d].data_offset(position).is_none();
        if fallen {
            view.fall_back();
        } else if alone && view.sequences[d].from_syn && (never || no_more()) {
            view.fall_back();
            self.fall_back(packet, "data came without DSS");
        }
    }

    /// The subflow of a packet is all that there was of the connection: others were never opened.
    fn is_alone(&self, packet: &Packet) -> bool {
        let was_opened = |view: &View| view.handshake.ack.is_some() || !view.handshake.began();
        let mut others = self.subflows.iter().enumerate().filter(|(index, _)| *index != packet.subflow);
        self.subflows[packet.subflow].kind == SubflowKind::Initial
            && others.all(|(_, other)| !other.views.iter().flatten().any(|view| was_opened(view)))
    }

    pub(super) fn fall_back(&mut self, packet: &Packet, why: &'static str) {
        self.plain = true;
        if self.fallback.is_none() {
            self.fallback = Some(why);
            self.fell_back = Some((packet.seen, packet.subflow, packet.direction));
        }
    }

    pub(super) fn data(&mut self, packet: &Packet, len: u32, fin: bool) {
        let dir = packet.direction;
        let d = dir as usize;
        let subflow = &mut self.subflows[packet.subflow];
        let is_stray = subflow.kind == SubflowKind::Stray;
        let view = subflow.views[packet.end].as_mut().expect("the end has a view");
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        let sequence = &mut view.sequences[d];
        let start = sequence.position(packet.tcp.seq) + i64::from(packet.tcp.flags.has(Flags::SYN));
        let probe = probe(sequence.acked(), sequence.window_bytes, start, len);
        if probe == Some(Probe::KeepAlive) {
            end.emit(packet.event(dir, Kind::Data(Data { bytes: len, packets: 1, probe, ..Data::default() })));
            return;
        }
        let room = payload_room(sequence.mss_bytes, packet.tcp);
        let merged = len > room.merged_above;
        let packet_bytes = if merged { room.bytes } else { len };
        let mut pieces = Pieces::default();
        let novelty = sequence.sent(packet.seen.at, start, len, packet_bytes, fin, |from, to| pieces.add(from, to));
        if len == 0 {
            return;
        }
        view.merged[d] |= merged;
        let packets = if merged { len.div_ceil(room.bytes) } else { 1 };
        sequence.sizes.add(len, packets, merged);
        let data = Data {
            bytes: len,
            packets,
            new_bytes: novelty.new_bytes,
            resent_packets: if merged {
                novelty.resent_bytes.div_ceil(room.bytes)
            } else {
                u32::from(novelty.resent_bytes > 0)
            },
            fills_gap: novelty.fills_gap,
            lost_before: novelty.lost_before,
            apart_nanos: novelty.apart_nanos,
            merged,
            marked: packet.observation.frame.ip.ecn() == Ecn::CongestionExperienced,
            probe,
            offset: start,
            data_offset: if end.lists_segments { view.mappings[d].data_offset(start) } else { None },
        };
        end.emit(packet.event(dir, Kind::Data(data)));
        let in_flight_bytes = sequence.in_flight_bytes();
        let window_bytes = sequence.window_bytes;
        end.emit(packet.event(dir, Kind::Flight { in_flight_bytes, window_bytes }));
        let from_syn = sequence.from_syn;
        for &(from, to) in pieces.as_slice().iter().filter(|_| !is_stray) {
            let mapped = view.mappings[d].map(from, to, |data, len| end.arrive(packet, (data, data + len)));
            let unmapped = (to - from) as u64 - mapped;
            if unmapped > 0 {
                view.unmapped_bytes[d] += unmapped;
                view.keep_unmapped(d, from, to);
            }
        }
        let apart = if from_syn { Some(0) } else { self.apart(packet) };
        if let Some(apart) = apart
            && let Some(mut one_way) = self.one_way.take()
        {
            let (flow, start) = ((packet.subflow, dir), start + apart);
            if novelty.resent_bytes > 0 {
                one_way.passed_again(flow, packet.end, (start, start + i64::from(len)));
            } else {
                let stamp = packet.brief.timestamps.map(|(value, _)| value);
                let segment = Segment { position: start, at: packet.seen.at, stamp };
                one_way.passed(flow, packet.end, segment, || ClockOffset::between(&self.subflows));
            }
            self.one_way = Some(one_way);
        }
    }

    /// What to add to a packet's position, at an end that did not see the SYN, to have one that both ends share; None where
    /// the other end, by which both count, has shown nothing yet.
    #[cold]
    fn apart(&self, packet: &Packet) -> Option<i64> {
        let [here, there] = [packet.end, 1 - packet.end].map(|end| self.subflows[packet.subflow].views[end].as_ref());
        let d = packet.direction as usize;
        match (here, there) {
            (Some(here), Some(there)) if packet.end == 1 || there.sequences[d].from_syn => {
                there.sequences[d].base().map(|_| there.sequences[d].apart(&here.sequences[d]))
            }
            (_, None) if packet.end == 1 => None,
            _ => Some(0),
        }
    }

    /// A packet without data or FIN: a zero-window probe or keep-alive of today's kernels shows by its old sequence number.
    pub(super) fn bare(&mut self, packet: &Packet) {
        let dir = packet.direction;
        let view = self.view(packet);
        // Before any data, the SYN's number is the last that was acknowledged.
        let begun = view.handshake.ack.is_some().then_some(0);
        let sequence = &mut view.sequences[dir as usize];
        sequence.bare(packet.tcp.seq);
        // After the FIN nothing is kept alive: an ACK from before it, overtaken by it, looks the same.
        if !sequence.from_syn || sequence.fin.is_some() || sequence.in_flight_bytes() > 0 {
            return;
        }
        let position = sequence.position(packet.tcp.seq);
        if sequence.acked().or(begun) == Some(position + 1) {
            let probe = if sequence.window_bytes == Some(0) { Probe::ZeroWindow } else { Probe::KeepAlive };
            let event = packet.event(dir, Kind::Data(Data { probe: Some(probe), ..Data::default() }));
            self.end(packet).emit(event);
        }
    }
}

/// The new pieces of a segment: nearly always one.
#[derive(Default)]
struct Pieces {
    first: Option<(i64, i64)>,
    all: Vec<(i64, i64)>,
}

impl Pieces {
    fn add(&mut self, from: i64, to: i64) {
        match self.first {
            None => self.first = Some((from, to)),
            Some(first) => {
                if self.all.is_empty() {
                    self.all.push(first);
                }
                self.all.push((from, to));
            }
        }
    }

    fn as_slice(&self) -> &[(i64, i64)] {
        if self.all.is_empty() { self.first.as_slice() } else { &self.all }
    }
}

/// How much payload a packet of the path can hold.
struct Room {
    bytes: u32,
    merged_above: u32,
}

/// RFC 6691: the MSS counts no options, so they take from the payload.
fn payload_room(mss_bytes: Option<u16>, tcp: &Tcp) -> Room {
    // Without the handshake, only what no common MTU holds is merged for certain.
    const JUMBO_FRAME: u32 = 9000;
    const ETHERNET_MSS: u32 = 1460;
    let options = tcp.options.wire_len();
    match mss_bytes {
        Some(mss) => Room { bytes: u32::from(mss).saturating_sub(options).max(1), merged_above: u32::from(mss) },
        None => Room { bytes: ETHERNET_MSS - options, merged_above: JUMBO_FRAME },
    }
}

/// Segments that carry no news on purpose: one byte into a closed window, or the last byte once more.
fn probe(acked: Option<i64>, window_bytes: Option<u64>, start: i64, len: u32) -> Option<Probe> {
    if len != 1 {
        return None;
    }
    match (window_bytes, acked) {
        (Some(0), _) => Some(Probe::ZeroWindow),
        (_, Some(acked)) if start == acked - 1 => Some(Probe::KeepAlive),
        _ => None,
    }
}

/// The number nearest to `position` that equals `value` modulo 2³²: subflow sequence numbers of mappings wrap around.
fn near(position: i64, value: i64) -> i64 {
    position + i64::from(seq::diff(value as u32, position as u32))
}
