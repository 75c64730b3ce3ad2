//! A connection: its subflows, and what each end of it saw. Every packet passes through [`Connection::packet`].

use super::coverage::Coverage;
use super::data_space::DataSpace;
use super::end::End;
use super::flows::Answer;
use super::identity::{Identity, Opened};
use super::mappings::Mappings;
use super::one_way::OneWay;
use super::packet::{Packet, Signals};
use super::stream::Stream;
use super::subflow::{Addresses, Kind as SubflowKind, Subflow, View};
use super::vantage::{Hosts, Vantage};
use crate::Options;
use crate::event::{Happening, Kind, Seen};
use rustc_hash::FxHashMap;
use tables::Direction;
use wire::mptcp::{DataNumber, Mptcp, crypto};
use wire::{Flags, Tcp, TcpOption, Time};

/// A connection on its way. Arrays are indexed by [`Direction`], or by end where they hold [`End`]s and views.
pub(crate) struct Connection {
    pub(crate) first: Seen,
    pub(crate) last: Seen,
    /// Version of MPTCP; none for plain TCP.
    pub(crate) version: Option<u8>,
    pub(crate) midway: bool,
    /// An option of MPTCP was seen although the first packets after the capture's start had none.
    shows_mptcp: bool,
    pub(crate) fallback: Option<&'static str>,
    /// The packet that showed it, where that was none of the handshake's.
    pub(crate) fell_back: Option<(Seen, usize, Direction)>,
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
    /// When both sides had said all, or one ended it at once.
    pub(super) over_at: Option<Time>,
    /// The side that ended it at once.
    pub(super) fast_closed_by: Option<Direction>,
    pub(super) spaces: [DataSpace; 2],
    /// Upper halves of data sequence numbers under which the tracker knows the connection: the latest, and all.
    pub(super) known_halves: [Option<u32>; 2],
    pub(super) listed_halves: Vec<(u32, Direction)>,
    /// What else the tracker knows it by.
    pub(super) identity: Option<Identity>,
    pub(super) opened: Option<Opened>,
    /// The tracker should look at tokens and data sequence numbers again.
    pub(super) has_news: bool,
    pub(crate) subflows: Vec<Subflow>,
    /// Joins by who asked and with which random number.
    pub(super) joins: FxHashMap<(Direction, u32), usize>,
    /// Joins with the random number of another.
    pub(super) repeated_joins: u64,
    pub(crate) ends: [Option<Box<End>>; 2],
    /// At which of the ends each was captured, once all is known.
    pub(super) vantages: [Option<Vantage>; 2],
    /// Where several captures are given.
    pub(super) one_way: Option<Box<OneWay>>,
    /// What they hold, once all is known.
    pub(crate) coverage: Coverage,
    /// Two sites stand at the same end.
    pub(super) same_end: bool,
    /// Which end each site stands at, and whether a clear handshake says so.
    sites: Vec<Site>,
    /// So many subflows, the first ones, have ended in each way for certain.
    ended: [usize; 2],
    /// Something ended: it is worth looking whether the connection did.
    pub(super) may_close: bool,
    pub(super) closing: bool,
}

/// How a subflow may have ended.
#[derive(Clone, Copy)]
enum Ended {
    CutOff,
    Closed,
}

/// Where a capture stands.
#[derive(Clone, Copy, Debug)]
struct Site {
    site: u32,
    end: usize,
    sure: bool,
}

impl Connection {
    pub(super) fn new(first: Seen, version: Option<u8>, midway: bool) -> Self {
        Connection {
            first,
            last: first,
            version,
            midway,
            shows_mptcp: false,
            fallback: None,
            fell_back: None,
            unknown: false,
            cut_options: 0,
            plain: version.is_none(),
            keys: [None; 2],
            tokens: [None; 2],
            checksums: None,
            fast_closed: false,
            over_at: None,
            fast_closed_by: None,
            spaces: Default::default(),
            known_halves: [None; 2],
            listed_halves: Vec::new(),
            identity: None,
            opened: None,
            has_news: false,
            // Most have one.
            subflows: Vec::with_capacity(1),
            joins: FxHashMap::default(),
            repeated_joins: 0,
            ends: [None, None],
            vantages: [None; 2],
            one_way: None,
            coverage: Coverage::default(),
            same_end: false,
            sites: Vec::new(),
            ended: [0; 2],
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
        let known = self.vantage_alone(0);
        let other_is_near = near.zip(known).is_some_and(|((near, _), known)| near != known.sends);
        let clear = known.is_some() && near.is_some_and(|(_, clear)| clear);
        let end = usize::from(other_is_near || !clear && self.subflows[subflow].views[0].is_some());
        self.sites.push(Site { site, end, sure: clear });
        end
    }

    /// The end at which it was captured, by what it shows itself.
    fn vantage_alone(&self, end: usize) -> Option<Vantage> {
        let mut hosts = Hosts::default();
        hosts.add(&self.subflows);
        hosts.vantage(&self.subflows, end)
    }

    /// Judges by all that was seen of its hosts at which ends it was captured.
    pub(super) fn judge(&mut self, hosts: &Hosts) {
        self.vantages = [0, 1].map(|end| hosts.vantage(&self.subflows, end));
    }

    /// Whether a site has shown the connection before.
    pub(super) fn knows(&self, site: u32) -> bool {
        self.sites.iter().any(|known| known.site == site)
    }

    /// Whether a clear handshake tells where a site stands.
    pub(super) fn is_placed(&self, site: u32) -> bool {
        self.sites.iter().any(|known| known.site == site && known.sure)
    }

    /// The client got no answer to its MP_CAPABLE: whatever the server said, both speak TCP (RFC 8684 §3.7).
    pub(super) fn was_refused(&mut self, why: &'static str) {
        (self.version, self.plain) = (None, true);
        (self.fallback, self.fell_back) = (Some(why), None);
        (self.keys, self.tokens, self.checksums) = Default::default();
        (self.spaces, self.known_halves, self.identity) = Default::default();
        self.listed_halves.clear();
        let first = &mut self.subflows[0];
        first.kind = SubflowKind::Initial;
        for view in first.views.iter_mut().flatten() {
            view.mappings = [Mappings::identity(), Mappings::identity()];
        }
    }

    /// Adds a subflow; `nonce` is the random number of the side that asked for it.
    pub(super) fn add_subflow(&mut self, subflow: Subflow, nonce: Option<u32>) -> usize {
        let index = self.subflows.len();
        if let Some(nonce) = nonce {
            let first = *self.joins.entry((subflow.opener, nonce)).or_insert(index);
            self.repeated_joins += u64::from(first != index);
        }
        self.subflows.push(subflow);
        index
    }

    pub(super) fn open_end(&mut self, end: usize, options: &Options, first: Seen) {
        let whole = !self.midway;
        self.ends[end].get_or_insert_with(|| Box::new(End::new(options, first, whole)));
    }

    /// Adds the view of a subflow from an end.
    pub(super) fn add_view(&mut self, subflow: usize, (site, end): (u32, usize), first: Seen, addresses: Addresses) {
        if first.at < self.first.at {
            self.first = first;
        }
        let mut view = View::new(first, addresses, site);
        if self.plain && self.subflows[subflow].kind != SubflowKind::Stray {
            view.mappings = [Mappings::identity(), Mappings::identity()];
        }
        self.subflows[subflow].views[end] = Some(Box::new(view));
        self.ended = self.ended.map(|ended| ended.min(subflow));
    }

    /// Every subflow that ever got going has ended.
    pub(super) fn is_closed(&mut self) -> bool {
        let data_closed = self.plain
            || self.fast_closed
            || self.ends.iter().flatten().all(|end| end.streams.iter().all(Stream::is_closed))
            || self.all_views_from(Ended::CutOff, View::is_cut_off);
        data_closed && self.all_views_from(Ended::Closed, View::is_closed)
    }

    /// Whether all subflows have ended so, beginning where one had not when it was asked last: each is looked at once, however
    /// many end one after another.
    fn all_views_from(&mut self, how: Ended, is_so: impl Fn(&View) -> bool) -> bool {
        let all = |subflow: &Subflow| subflow.views.iter().flatten().all(|view| is_so(view));
        let looked_at = &mut self.ended[how as usize];
        *looked_at += self.subflows[*looked_at..].iter().take_while(|subflow| all(subflow)).count();
        *looked_at == self.subflows.len()
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
        let subflow = &mut self.subflows[packet.subflow];
        let is_stray = subflow.kind == SubflowKind::Stray;
        let view = subflow.views[packet.end].as_deref_mut().expect("the end has a view");
        view.last = packet.seen;
        view.signs.packet(dir, packet.observation.frame.ip.ttl, packet.observation.direction);
        let (is_asking, is_open) = (view.handshake.is_asking(), view.handshake.confirmed);
        let end = self.ends[packet.end].as_mut().expect("the site has an end");
        end.emit(packet.event(dir, Kind::Packet));
        if is_stray {
            self.unknown_there(packet);
            return;
        }
        if is_asking && self.is_stray(packet) {
            let view = self.view(packet);
            view.stray += 1;
            view.challenged = true;
            return;
        }

        self.cut_options += u64::from(tcp.options.is_cut());
        if flags.has(Flags::SYN) {
            self.syn(packet);
        }
        let signals = self.options(packet);
        let len = packet.observation.frame.payload.len;
        if flags.has(Flags::SYN) {
            self.subflows[packet.subflow].learn_window_shifts();
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
            if !is_open {
                self.third_packet(packet);
            }
            self.acknowledgement(packet);
        }
        if let Some(len) = signals.capable.and_then(|capable| capable.data_len) {
            self.learn_first_mapping(packet, len);
        }
        if let Some(dss) = &packet.brief.dss {
            self.data_ack(packet, dss);
            if let Some(mapping) = &dss.mapping {
                self.learn_mapping(packet, mapping, dss.data_fin);
            }
        }
        let fin = flags.has(Flags::FIN);
        if self.version.is_some() {
            let shows_none = packet.brief.dss.is_none() && signals.capable.is_none() && !tcp.options.is_cut();
            if shows_none {
                self.without_signal(packet, len);
            }
            self.view(packet).silent[d] = shows_none;
        }
        if len > 0 || fin {
            self.data(packet, len, fin);
        } else {
            self.bare(packet);
        }
        if fin {
            self.view(packet).fins[d] = true;
            self.may_close = true;
        }
    }

    /// Whether it speaks MPTCP, or did before it fell back.
    pub(crate) fn speaks_mptcp(&self) -> bool {
        self.version.is_some() || self.shows_mptcp
    }

    /// Whether it speaks MPTCP: what would have shown it is cut, and no key was seen since.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown && self.fallback.is_none() && self.keys == [None; 2]
    }

    pub(super) fn view(&mut self, packet: &Packet) -> &mut View {
        self.subflows[packet.subflow].views[packet.end].as_deref_mut().expect("the end has a view")
    }

    pub(super) fn end(&mut self, packet: &Packet) -> &mut End {
        self.ends[packet.end].as_mut().expect("the site has an end")
    }

    #[cold]
    pub(super) fn happened(&mut self, packet: &Packet, happening: Happening) {
        let event = packet.event(packet.direction, Kind::Happened(&happening));
        self.end(packet).emit(event);
    }

    fn options(&mut self, packet: &Packet) -> Signals {
        let brief = &packet.brief;
        if !packet.tcp.flags.has(Flags::SYN) && !brief.signals {
            self.shows_mptcp |= self.midway && brief.dss.is_some();
            return Signals::default();
        }
        self.all_options(packet)
    }

    #[cold]
    fn all_options(&mut self, packet: &Packet) -> Signals {
        let mut signals = Signals::default();
        for option in &packet.tcp.options {
            self.shows_mptcp |= self.midway && matches!(option, Ok(TcpOption::Mptcp(_)));
            match option {
                Ok(TcpOption::Mptcp(Mptcp::Capable(capable))) => {
                    signals.capable = Some(capable);
                    self.capable(packet, &capable);
                }
                Ok(TcpOption::Mptcp(Mptcp::TcpRst(reset))) => {
                    signals.reset_reason = Some(reset.reason);
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

    /// Offset of a data sequence number.
    pub(super) fn offset(&mut self, of_data: Direction, number: DataNumber) -> i64 {
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

    /// A SYN with this sequence number is none that opened the subflow (both sides may have sent one: RFC 9293 §3.5), or this is the
    /// answer to another, where none was seen.
    pub(super) fn is_reopened_by(&self, subflow: usize, end: usize, direction: Direction, tcp: &Tcp) -> bool {
        let view = self.subflows[subflow].views[end].as_ref().expect("the end has a view");
        match Answer::of(tcp) {
            None => view.sequences[direction as usize].base() != Some(tcp.seq.wrapping_add(1)),
            Some(answer) => {
                let before = view.answered(direction).filter(|_| view.handshake.syn.is_none());
                before.is_some_and(|before| !answer.is_like(before))
            }
        }
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
