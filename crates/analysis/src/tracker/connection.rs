//! A connection: its subflows, and what each end of it saw. Every packet passes through [`Connection::packet`].

use super::{
    data_space::DataSpace,
    limbo::Identity,
    mappings::Mappings,
    signals::reset_reason,
    stream::{InOrder, Stream},
    subflow::{Addresses, Alignment, Kind as SubflowKind, Subflow, View},
    vantage::Evidence,
};
use crate::Options;
use crate::event::{Data, FlowEvent, Happening, Kind, Probe, Seen};
use crate::metrics::{Metric, Metrics, one_way::OneWay};
use rustc_hash::FxHashMap;
use tables::Direction;
use wire::mptcp::{DataNumber, Dss, MpCapable, Mptcp, crypto};
use wire::{Flags, Observation, Tcp, TcpOption, Time, seq};

/// A connection on its way. Arrays are indexed by [`Direction`], or by end where they hold [`End`]s and views.
pub(crate) struct Connection {
    pub(crate) first: Seen,
    pub(crate) last: Seen,
    /// Version of MPTCP; none for plain TCP.
    pub(crate) version: Option<u8>,
    pub(crate) midway: bool,
    pub(crate) fallback: Option<&'static str>,
    /// Options are cut that would tell whether it speaks MPTCP.
    pub(super) unknown: bool,
    /// Packets whose options are cut.
    pub(super) cut_options: u64,
    /// Carries data as plain TCP does.
    pub(super) plain: bool,
    pub(crate) keys: [Option<u64>; 2],
    pub(crate) tokens: [Option<u32>; 2],
    pub(crate) checksums: Option<bool>,
    pub(crate) fast_closed: bool,
    pub(super) spaces: [DataSpace; 2],
    /// Upper halves of data sequence numbers under which the tracker knows the connection: the latest, and all.
    pub(super) known_halves: [Option<u32>; 2],
    pub(super) listed_halves: Vec<(u32, Direction)>,
    /// What else the tracker knows it by.
    pub(super) identity: Option<Identity>,
    /// The tracker should look at tokens and data sequence numbers again.
    pub(super) has_news: bool,
    pub(crate) subflows: Vec<Subflow>,
    /// Joins by who asked and with which random number.
    pub(super) joins: FxHashMap<(Direction, u32), usize>,
    pub(crate) ends: [Option<End>; 2],
    /// Where several captures are given.
    pub(super) one_way: Option<Box<OneWay>>,
    /// Two sites stand at the same end.
    pub(super) same_end: bool,
    /// Which end each site stands at, and whether a clear handshake says so.
    sites: Vec<Site>,
    /// Something ended: it is worth looking whether the connection did.
    pub(super) may_close: bool,
    pub(super) closing: bool,
}

/// What one end of a connection saw.
pub(crate) struct End {
    pub(crate) streams: [Stream; 2],
    pub(super) evidence: Evidence,
    pub(crate) metrics: Metrics,
    /// The last acknowledgement of new data, per direction of the data.
    pub(crate) last_ack: [Option<Time>; 2],
    pub(crate) first: Seen,
    /// Room to work in: segments that a packet brought in order.
    in_order: Vec<InOrder>,
}

/// Where a capture stands.
#[derive(Clone, Copy, Debug)]
struct Site {
    site: u32,
    end: usize,
    sure: bool,
}

/// A packet on its way through a connection.
pub(super) struct Packet<'a> {
    pub(super) observation: &'a Observation,
    pub(super) tcp: &'a Tcp,
    pub(super) subflow: usize,
    pub(super) end: usize,
    pub(super) direction: Direction,
    pub(super) seen: Seen,
}

/// Options of a packet that its data needs.
#[derive(Default)]
struct Signals {
    dss: Option<Dss>,
    capable: Option<MpCapable>,
    reset_reason: Option<&'static str>,
}

impl End {
    fn new(options: &Options, first: Seen, whole: bool) -> Self {
        let mut streams: [Stream; 2] = Default::default();
        if whole {
            streams.iter_mut().for_each(Stream::begin);
        }
        End {
            streams,
            evidence: Evidence::default(),
            metrics: Metrics::new(options, first.at),
            last_ack: [None; 2],
            first,
            in_order: Vec::new(),
        }
    }

    /// Inlined, so that of the metrics only those remain that the kind of event concerns.
    #[inline(always)]
    fn emit(&mut self, event: FlowEvent) {
        self.metrics.on(&event);
    }
}

impl Packet<'_> {
    #[inline(always)]
    fn event(&self, direction: Direction, kind: Kind) -> FlowEvent {
        FlowEvent { seen: self.seen, subflow: self.subflow, direction, kind }
    }
}

impl Connection {
    pub(super) fn new(first: Seen, version: Option<u8>, midway: bool) -> Self {
        Connection {
            first,
            last: first,
            version,
            midway,
            fallback: None,
            unknown: false,
            cut_options: 0,
            plain: version.is_none(),
            keys: [None; 2],
            tokens: [None; 2],
            checksums: None,
            fast_closed: false,
            spaces: Default::default(),
            known_halves: [None; 2],
            listed_halves: Vec::new(),
            identity: None,
            has_news: false,
            subflows: Vec::new(),
            joins: FxHashMap::default(),
            ends: [None, None],
            one_way: None,
            same_end: false,
            sites: Vec::new(),
            may_close: false,
            closing: false,
        }
    }

    /// The end that a site stands at: the one that a clear handshake says; else the other one, where this subflow was seen
    /// at another site already, or where the handshake shows another side near.
    pub(super) fn end_of_site(&mut self, site: u32, subflow: usize, near: Option<(Direction, bool)>) -> usize {
        if let Some(known) = self.sites.iter().find(|known| known.site == site) {
            return known.end;
        }
        let known = self.ends[0].as_ref().and_then(|end| end.evidence.vantage());
        let other_is_near = near.zip(known).is_some_and(|((near, _), known)| near != known.sends);
        let clear = known.is_some() && near.is_some_and(|(_, clear)| clear);
        let end = usize::from(other_is_near || !clear && self.subflows[subflow].views[0].is_some());
        self.sites.push(Site { site, end, sure: clear });
        end
    }

    /// Whether a site has shown the connection before.
    pub(super) fn knows(&self, site: u32) -> bool {
        self.sites.iter().any(|known| known.site == site)
    }

    /// Whether a clear handshake tells where a site stands.
    pub(super) fn is_placed(&self, site: u32) -> bool {
        self.sites.iter().any(|known| known.site == site && known.sure)
    }

    /// Adds a subflow; `nonce` is the random number of the side that asked for it.
    pub(super) fn add_subflow(&mut self, subflow: Subflow, nonce: Option<u32>) -> usize {
        let index = self.subflows.len();
        if let Some(nonce) = nonce {
            self.joins.insert((subflow.opener, nonce), index);
        }
        self.subflows.push(subflow);
        index
    }

    pub(super) fn open_end(&mut self, end: usize, options: &Options, first: Seen) {
        let whole = !self.midway;
        self.ends[end].get_or_insert_with(|| End::new(options, first, whole));
    }

    /// Adds the view of a subflow from an end.
    pub(super) fn add_view(&mut self, subflow: usize, end: usize, first: Seen, addresses: Addresses) {
        if first.at < self.first.at {
            self.first = first;
        }
        let mut view = View::new(first, addresses);
        if self.plain {
            view.mappings = [Mappings::identity(), Mappings::identity()];
        }
        self.subflows[subflow].views[end] = Some(Box::new(view));
    }

    /// Every subflow that ever got going has ended.
    pub(super) fn is_closed(&self) -> bool {
        let mut views = self.subflows.iter().flat_map(|subflow| subflow.views.iter().flatten());
        let data_closed = self.plain
            || self.fast_closed
            || self.ends.iter().flatten().all(|end| end.streams.iter().all(Stream::is_closed))
            || self.subflows.iter().all(|subflow| subflow.views.iter().flatten().all(|view| view.is_cut_off()));
        data_closed && views.all(|view| view.is_closed())
    }

    /// Gives back memory that a closed connection no longer needs.
    pub(super) fn shrink(&mut self) {
        self.subflows.iter_mut().flat_map(|subflow| subflow.views.iter_mut().flatten()).for_each(|view| view.shrink());
    }

    /// Takes a packet of a subflow, seen at an end.
    pub(super) fn packet(&mut self, packet: &Packet) {
        let (tcp, dir) = (packet.tcp, packet.direction);
        let (d, flags) = (dir as usize, tcp.flags);
        self.last = packet.seen;
        self.view(packet).last = packet.seen;
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        if let Some(way) = packet.observation.direction {
            end.evidence.direction(dir, way);
        }
        end.emit(packet.event(dir, Kind::Packet));

        self.cut_options += u64::from(tcp.options.is_cut());
        if flags.has(Flags::SYN) {
            self.syn(packet);
        }
        let signals = self.options(packet);
        let len = packet.observation.frame.payload.len;
        if flags.has(Flags::SYN) {
            if len > 0 && self.plain {
                // TCP Fast Open (RFC 7413 §2).
                self.data(packet, len, false);
            }
            return;
        }
        if flags.has(Flags::RST) {
            self.reset(packet, signals.reset_reason);
            return;
        }
        if flags.has(Flags::ACK) {
            self.third_packet(packet);
            self.acknowledgement(packet);
        }
        if let Some(dss) = &signals.dss {
            self.data_ack(packet, dss);
        }
        self.learn_mapping(packet, &signals);
        let fin = flags.has(Flags::FIN);
        if len > 0 || fin {
            let shows_none = signals.dss.is_none() && signals.capable.is_none() && !tcp.options.is_cut();
            if len > 0 && self.version.is_some() && shows_none {
                self.data_without_signal(packet);
            }
            self.data(packet, len, fin);
        } else {
            self.bare(packet);
        }
        if fin {
            self.view(packet).fins[d] = true;
            self.may_close = true;
        }
    }

    /// Whether it speaks MPTCP: what would have told is cut, and no key was seen since.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown && self.fallback.is_none() && self.keys == [None; 2]
    }

    pub(super) fn view(&mut self, packet: &Packet) -> &mut View {
        self.subflows[packet.subflow].views[packet.end].as_deref_mut().expect("the end has a view")
    }

    fn end(&mut self, packet: &Packet) -> &mut End {
        self.ends[packet.end].as_mut().expect("the site has an end")
    }

    #[cold]
    pub(super) fn happened(&mut self, packet: &Packet, happening: Happening) {
        let event = packet.event(packet.direction, Kind::Happened(Box::new(happening)));
        self.end(packet).emit(event);
    }

    fn options(&mut self, packet: &Packet) -> Signals {
        if !packet.tcp.flags.has(Flags::SYN) {
            let said = packet.tcp.options.brief();
            if !said.signals {
                return Signals { dss: said.dss, ..Signals::default() };
            }
        }
        self.all_options(packet)
    }

    #[cold]
    fn all_options(&mut self, packet: &Packet) -> Signals {
        let mut signals = Signals::default();
        for option in &packet.tcp.options {
            match option {
                Ok(TcpOption::Mptcp(Mptcp::Dss(dss))) => signals.dss = Some(dss),
                Ok(TcpOption::Mptcp(Mptcp::Capable(capable))) => {
                    signals.capable = Some(capable);
                    self.capable(packet, &capable);
                }
                Ok(TcpOption::Mptcp(Mptcp::TcpRst(reset))) => {
                    signals.reset_reason = Some(reset_reason(reset.reason));
                }
                Ok(TcpOption::Mptcp(other)) => self.signal(packet, &other),
                Ok(TcpOption::MaximumSegmentSize(mss)) if packet.tcp.flags.has(Flags::SYN) => {
                    let subflow = &mut self.subflows[packet.subflow];
                    subflow.mss_bytes[packet.direction as usize] = Some(mss);
                    self.view(packet).sequences[packet.direction.reverse() as usize].mss_bytes = Some(mss);
                }
                Ok(TcpOption::WindowScale(shift)) if packet.tcp.flags.has(Flags::SYN) => {
                    self.subflows[packet.subflow].window_scale[packet.direction as usize] = Some(shift);
                }
                _ => {}
            }
        }
        signals
    }

    fn syn(&mut self, packet: &Packet) {
        let subflow = &mut self.subflows[packet.subflow];
        let d = packet.direction as usize;
        subflow.syn_cut[d] |= packet.tcp.options.is_cut();
        let view = subflow.views[packet.end].as_mut().expect("the end has a view");
        if packet.tcp.flags.has(Flags::ACK) {
            view.handshake.syn_ack(packet.seen);
        } else {
            view.handshake.syn(packet.seen);
        }
        view.sequences[d].begin(packet.tcp.seq);
        view.alignment[d] = Alignment::Known(0);
        if packet.tcp.flags.has(Flags::ACK) {
            // Its acknowledgement tells the other side's initial sequence number, also where the SYN was not seen.
            let other = packet.direction.reverse() as usize;
            if !view.sequences[other].from_syn {
                view.sequences[other].begin(packet.tcp.ack.wrapping_sub(1));
                view.alignment[other] = Alignment::Known(0);
            }
        }
    }

    /// The first packet of the opener after the SYN/ACK ends the handshake.
    fn third_packet(&mut self, packet: &Packet) {
        let subflow = &mut self.subflows[packet.subflow];
        let (opener, kind) = (subflow.opener, subflow.kind);
        let view = subflow.views[packet.end].as_mut().expect("the end has a view");
        let handshake = &mut view.handshake;
        if packet.direction != opener || handshake.ack.is_some() || !handshake.began() {
            return;
        }
        // Linux with MPTCP v0 sends ACKs on a subflow that waits for its SYN/ACK, with the SYN's number.
        let after_syn = view.sequences[opener as usize].base();
        if after_syn.is_some_and(|first| seq::diff(packet.tcp.seq, first) < 0) {
            return;
        }
        handshake.ack(packet.seen);
        if let Some((acceptor, opener)) = handshake.waits() {
            let evidence = &mut self.end(packet).evidence;
            evidence.handshake(packet.direction.reverse(), acceptor);
            evidence.handshake(packet.direction, opener);
        }
        let event = match kind {
            SubflowKind::Initial | SubflowKind::Tcp if self.is_unknown() => return,
            SubflowKind::Initial if self.fallback.is_none() => "mptcp_established",
            SubflowKind::Join => "join_established",
            _ => "tcp_established",
        };
        self.happened(
            packet,
            Happening {
                address_id: self.subflows[packet.subflow].address_ids[opener as usize],
                ..Happening::new(event)
            },
        );
    }

    fn acknowledgement(&mut self, packet: &Packet) {
        let of_data = packet.direction.reverse();
        let d = of_data as usize;
        let subflow = &mut self.subflows[packet.subflow];
        let shift = subflow.window_shift(packet.direction, packet.end);
        let view = subflow.views[packet.end].as_mut().expect("the end has a view");
        let end = self.ends[packet.end].as_mut().expect("the site has an end");

        let sequence = &mut view.sequences[d];
        let position = sequence.position(packet.tcp.ack);
        let acknowledged = sequence.acknowledged(packet.seen.at, position);
        self.may_close |= acknowledged.newly.is_some() && sequence.fin.is_some();
        let window_bytes = shift.map(|shift| u64::from(packet.tcp.window) << shift);
        let window_changed = window_bytes != sequence.window_bytes;
        sequence.window_bytes = window_bytes;

        if let Some((from, to)) = acknowledged.newly {
            let to = sequence.fin.map_or(to, |fin| to.min(fin));
            let mut confirmed = 0;
            let mut last_data = None;
            view.mappings[d].map(from, to, |data, len| {
                confirmed += end.streams[d].confirm(data, data + len);
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
            end.evidence.answer(packet.direction, nanos);
            if acknowledged.of_data {
                end.emit(packet.event(of_data, Kind::Rtt { nanos }));
            }
        }
        if window_changed || acknowledged.newly.is_some() {
            let in_flight_bytes = sequence.in_flight_bytes();
            end.emit(packet.event(of_data, Kind::Flight { in_flight_bytes, window_bytes }));
        }
    }

    fn data_ack(&mut self, packet: &Packet, dss: &Dss) {
        let Some(number) = dss.data_ack else { return };
        let of_data = packet.direction.reverse();
        let offset = self.offset(of_data, number);
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        let stream = &mut end.streams[of_data as usize];
        let bytes = stream.data_ack(offset, packet.seen.at);
        self.may_close |= stream.fin.is_some();
        end.data_acked(packet, of_data, bytes);
    }

    /// Notes what a packet says about the meaning of subflow sequence numbers.
    fn learn_mapping(&mut self, packet: &Packet, signals: &Signals) {
        let d = packet.direction as usize;
        let data =
            signals.dss.and_then(|dss| dss.mapping).map(|mapping| self.offset(packet.direction, mapping.data_seq));
        let view = self.subflows[packet.subflow].views[packet.end].as_mut().expect("the end has a view");
        if let Some(len) = signals.capable.and_then(|capable| capable.data_len) {
            // RFC 8684 §3.1: data on MP_CAPABLE begins at the initial data sequence number + 1.
            view.mapped[d] = true;
            view.mappings[d].add(0, i64::from(len), 0);
        }
        let Some(dss) = signals.dss else { return };
        let Some((mapping, data)) = dss.mapping.zip(data) else { return };
        let stream = &mut self.ends[packet.end].as_mut().expect("the site has an end").streams[d];
        let payload = i64::from(mapping.len) - i64::from(dss.data_fin);
        if dss.data_fin && mapping.len > 0 {
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

    /// Data on an MPTCP connection that says nothing of data sequence numbers, before any did: the connection has fallen
    /// back to TCP (RFC 8684 §3.7). After it fell back such data goes on where the last mapping ends.
    fn data_without_signal(&mut self, packet: &Packet) {
        let first = self.subflows.len() == 1 && self.subflows[packet.subflow].kind == SubflowKind::Initial;
        let fallen = self.plain;
        let view = self.view(packet);
        if view.fallen_back {
            return;
        }
        if fallen {
            view.fall_back();
        } else if first && view.mapped == [false; 2] && view.sequences[packet.direction as usize].from_syn {
            view.fall_back();
            self.fall_back(packet, "data came without DSS");
        }
    }

    pub(super) fn fall_back(&mut self, packet: &Packet, why: &'static str) {
        self.plain = true;
        if self.fallback.is_none() {
            self.fallback = Some(why);
            self.happened(packet, Happening { detail: Some(why), ..Happening::new("fallback") });
        }
    }

    fn data(&mut self, packet: &Packet, len: u32, fin: bool) {
        let dir = packet.direction;
        let d = dir as usize;
        let view = self.subflows[packet.subflow].views[packet.end].as_mut().expect("the end has a view");
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        let sequence = &mut view.sequences[d];
        let start = sequence.position(packet.tcp.seq) + i64::from(packet.tcp.flags.has(Flags::SYN));
        let probe = probe(sequence.acked(), sequence.window_bytes, start, len);
        if probe == Some(Probe::KeepAlive) {
            end.emit(packet.event(dir, Kind::Data(Data { bytes: len, packets: 1, probe, ..Data::default() })));
            return;
        }
        let mut pieces = Pieces::default();
        let novelty = sequence.sent(packet.seen.at, start, len, fin, |from, to| pieces.add(from, to));
        if len == 0 {
            return;
        }
        let room = payload_room(sequence.mss_bytes, packet.tcp);
        let merged = len > room.merged_above;
        view.merged[d] |= merged;
        let packets = if merged { len.div_ceil(room.bytes) } else { 1 };
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
            merged,
            probe,
        };
        end.emit(packet.event(dir, Kind::Data(data)));
        let in_flight_bytes = sequence.in_flight_bytes();
        let window_bytes = sequence.window_bytes;
        end.emit(packet.event(dir, Kind::Flight { in_flight_bytes, window_bytes }));
        if sequence.from_syn
            && let Some(mut one_way) = self.one_way.take()
        {
            let flow = (packet.subflow, dir);
            if novelty.resent_bytes > 0 {
                one_way.passed_again(flow, (start, start + i64::from(len)));
            } else {
                one_way.passed(flow, packet.end, (start, packet.seen.at), || self.clock_offset());
            }
            self.one_way = Some(one_way);
        }
        let view = self.subflows[packet.subflow].views[packet.end].as_mut().expect("the end has a view");
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        for &(from, to) in pieces.as_slice() {
            view.unmapped_bytes[d] +=
                (to - from) as u64 - view.mappings[d].map(from, to, |data, len| end.arrive(packet, (data, data + len)));
        }
    }

    /// A packet without data or FIN: a zero-window probe or keep-alive of today's kernels shows by its old sequence number.
    fn bare(&mut self, packet: &Packet) {
        let dir = packet.direction;
        let sequence = &mut self.view(packet).sequences[dir as usize];
        // After the FIN nothing is kept alive: an ACK from before it, overtaken by it, looks the same.
        if !sequence.from_syn || sequence.fin.is_some() || sequence.in_flight_bytes() > 0 {
            return;
        }
        let position = sequence.position(packet.tcp.seq);
        if sequence.acked() == Some(position + 1) {
            let probe = if sequence.window_bytes == Some(0) { Probe::ZeroWindow } else { Probe::KeepAlive };
            let event = packet.event(dir, Kind::Data(Data { probe: Some(probe), ..Data::default() }));
            self.end(packet).emit(event);
        }
    }

    fn reset(&mut self, packet: &Packet, reason: Option<&'static str>) {
        let opener = self.subflows[packet.subflow].opener;
        let view = self.view(packet);
        let sequence = &mut view.sequences[packet.direction as usize];
        let position = sequence.position(packet.tcp.seq);
        if view.handshake.ack.is_some() && !sequence.in_window(position) {
            let detail = Some("outside the receiver's window: not believed");
            self.happened(packet, Happening { detail, ..Happening::new("reset") });
            return;
        }
        view.reset = true;
        self.may_close = true;
        let known = &mut self.subflows[packet.subflow].reset_reason;
        *known = reason.or(*known);
        let view = self.view(packet);
        let again = std::mem::replace(&mut view.resets[packet.direction as usize], true);
        if packet.direction != opener && view.handshake.ack.is_none() {
            view.handshake.reset_by_acceptor = true;
        }
        if again {
            return;
        }
        self.happened(packet, Happening { detail: reason, ..Happening::new("reset") });
    }

    /// Offset of a data sequence number.
    fn offset(&mut self, of_data: Direction, number: DataNumber) -> i64 {
        let d = of_data as usize;
        let offset = self.spaces[d].offset(number);
        self.has_news |= self.spaces[d].upper_half() != self.known_halves[d];
        offset
    }

    /// Moves a subflow's view, and the site that it is from, to the other end.
    pub(super) fn turn(&mut self, subflow: usize, end: usize, site: u32, options: &Options) {
        self.open_end(1 - end, options, self.first);
        self.subflows[subflow].views.swap(0, 1);
        self.sites.iter_mut().filter(|known| known.site == site).for_each(|known| known.end = 1 - end);
    }

    /// Whether a site has a view of the subflow.
    pub(super) fn sees(&self, subflow: &Subflow, site: u32) -> bool {
        self.sites.iter().any(|known| known.site == site && subflow.views[known.end].is_some())
    }

    /// A SYN with this sequence number is none that opened the subflow. (Both sides may have sent one: RFC 9293 §3.5.)
    pub(super) fn is_reopened_by(&self, subflow: usize, end: usize, direction: Direction, seq: u32) -> bool {
        let view = self.subflows[subflow].views[end].as_ref().expect("the end has a view");
        view.sequences[direction as usize].base() != Some(seq.wrapping_add(1))
    }

    /// The subflow's ports are used again: nothing more will come.
    pub(super) fn abandon(&mut self, subflow: usize, end: usize) {
        self.subflows[subflow].views[end].as_mut().expect("the end has a view").abandoned = true;
    }

    /// The tracker learns a key: from now on the token and the initial data sequence number are known.
    pub(super) fn learn_key(&mut self, of: Direction, key: u64) {
        let version = self.version.unwrap_or(1);
        if self.keys[of as usize].replace(key).is_none() {
            self.has_news = true;
            // A token that a join named stays: the tracker knows the connection by it.
            self.tokens[of as usize].get_or_insert_with(|| crypto::token(version, key));
            self.spaces[of as usize].begin(crypto::initial_data_seq(version, key));
        }
    }
}

impl End {
    fn data_acked(&mut self, packet: &Packet, of_data: Direction, bytes: u64) {
        if bytes > 0 {
            self.last_ack[of_data as usize] = Some(packet.seen.at);
            self.emit(packet.event(of_data, Kind::DataAcked { bytes }));
        }
    }

    /// Data arrived under subflow sequence numbers not seen before.
    fn arrive(&mut self, packet: &Packet, range: (i64, i64)) {
        let dir = packet.direction;
        let stream = &mut self.streams[dir as usize];
        let before = stream.in_order();
        let mut in_order = std::mem::take(&mut self.in_order);
        let new = stream.arrive(range, packet.seen, packet.subflow, |segment| in_order.push(segment));
        let progress = (stream.in_order() - before).max(0) as u64;
        let reinjected = (range.1 - range.0) as u64 - new;
        if new > 0 {
            self.emit(packet.event(dir, Kind::Arrived { bytes: new }));
        }
        for segment in in_order.drain(..) {
            let kind = Kind::InOrder { offset: segment.offset, bytes: segment.bytes, delay_nanos: segment.delay_nanos };
            self.emit(FlowEvent { seen: segment.seen, subflow: segment.subflow, direction: dir, kind });
        }
        self.in_order = in_order;
        if progress > 0 {
            self.emit(packet.event(dir, Kind::Progress { bytes: progress }));
        }
        if reinjected > 0 {
            self.emit(packet.event(dir, Kind::Reinjected { bytes: reinjected }));
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
