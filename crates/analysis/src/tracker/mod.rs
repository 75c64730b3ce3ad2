//! Observations to connections, subflows and flow events.
//!
//! A [flow](flows) is a 4-tuple as one site sees it. Its packets wait in pending until it is certain which connection they
//! belong to; from then on each goes straight to [`Connection::packet`].

mod acknowledgement;
mod carriers;
mod connection;
mod control;
mod coverage;
mod data;
mod data_space;
mod datagrams;
mod end;
mod finish;
mod flows;
mod handshake;
mod identity;
mod ignored;
mod known;
mod mappings;
mod one_way;
mod packet;
mod pending;
mod repeats;
mod sequence;
mod signals;
mod signs;
mod sizes;
mod span;
mod stream;
mod subflow;
mod vantage;
mod waiting;

use crate::Options;
use crate::event::Seen;
use crate::reports::Reports;
use connection::Connection;
use datagrams::Datagrams;
use finish::{Captures, InCommon};
use flows::{Answer, Flow, Flows, Key, Why, direction};
use handshake::is_opening;
use ignored::Ignored;
use packet::Packet;
use pending::{Lone, Pending};
use rustc_hash::FxHashMap;
use span::Span;
use std::collections::VecDeque;
use std::sync::Arc;
use tables::Direction;
use wire::{Flags, L4, Observation, Point, PointId, Tcp, Time};

/// How long a closed connection is kept for what may come late, in nanoseconds; and where several captures are given,
/// whose clocks may differ.
const LINGER_NANOS: i64 = 3_000_000_000;
const LINGER_NANOS_SEVERAL_SITES: i64 = 3_600_000_000_000;
/// How long, and how many at most, finished 4-tuples are remembered.
const REMEMBER_NANOS: i64 = 240_000_000_000;
const MOST_REMEMBERED: usize = 1 << 16;
/// So many connections that are over wait at most until it is certain at which end they were captured.
const MOST_OVER: usize = 1024;

pub(crate) struct Tracker {
    options: Options,
    points: Vec<Point>,
    /// Names of their captures, to share among rows.
    captures: Vec<Arc<str>>,
    /// Whether a site has several points, so that one packet may be seen twice.
    several_points: Vec<bool>,
    /// By site: from when to when it was captured.
    spans: Vec<Option<Span>>,
    flows: Flows,
    pending: Vec<Option<Pending>>,
    free_pending: Vec<u32>,
    /// Those that wait, and some that did, oldest first.
    waiting: VecDeque<(u32, Key)>,
    /// Rows of flows of which nothing came, by kind.
    lone: [usize; Lone::COUNT],
    connections: Vec<Option<Box<Connection>>>,
    keys: Vec<Vec<Key>>,
    free: Vec<u32>,
    known: known::Known,
    closing: VecDeque<(Time, u32)>,
    /// What was seen of hosts on connections that are over, and those that wait for what more will be seen.
    hosts: vantage::Hosts,
    over: VecDeque<Box<Connection>>,
    gone: VecDeque<(Time, Key)>,
    origin: Option<Time>,
    /// By site.
    ignored: FxHashMap<u32, Ignored>,
    latest: Time,
    in_common: InCommon,
    datagrams: Datagrams,
    finished: Reports,
}

impl Tracker {
    pub(crate) fn new(options: Options) -> Self {
        Tracker {
            options,
            points: Vec::new(),
            captures: Vec::new(),
            several_points: Vec::new(),
            spans: Vec::new(),
            flows: Flows::default(),
            pending: Vec::new(),
            free_pending: Vec::new(),
            waiting: VecDeque::new(),
            lone: [0; Lone::COUNT],
            connections: Vec::new(),
            keys: Vec::new(),
            free: Vec::new(),
            known: known::Known::default(),
            closing: VecDeque::new(),
            hosts: vantage::Hosts::default(),
            over: VecDeque::new(),
            gone: VecDeque::new(),
            origin: None,
            ignored: FxHashMap::default(),
            latest: Time::default(),
            in_common: InCommon::default(),
            datagrams: Datagrams::default(),
            finished: Reports::default(),
        }
    }

    pub(crate) fn add_point(&mut self, point: Point) {
        let site = point.site as usize;
        if site >= self.several_points.len() {
            self.several_points.resize(site + 1, false);
            self.spans.resize(site + 1, None);
        }
        self.several_points[site] |= self.points.iter().any(|other| other.site == point.site);
        let capture = self.captures.iter().find(|name| ***name == *point.capture).cloned();
        self.captures.push(capture.unwrap_or_else(|| point.capture.as_str().into()));
        self.points.push(point);
    }

    pub(crate) fn observe(&mut self, observation: &Observation) {
        self.origin.get_or_insert(observation.at);
        self.latest = self.latest.max(observation.at);
        let site = site_of(&self.points, observation.point);
        if let Some(span) = self.spans.get_mut(site as usize) {
            span.get_or_insert_with(|| Span::new(observation.at)).add(observation.at);
        }
        let L4::Tcp(tcp) = &observation.frame.l4 else { return self.datagram(observation, site) };
        if observation.frame.ip.fragment.is_some() {
            return;
        }
        let (flow, from_low) = self.flows.of(observation, tcp, site);
        match flow {
            Some(Flow::Live { connection, subflow, end, low_is_client }) => {
                let (subflow, direction) = (subflow as usize, direction(from_low == low_is_client));
                if tcp.flags.has(Flags::SYN) && self.reopens((connection, subflow, end.into()), direction, tcp) {
                    let (key, _) = Key::of(observation, tcp, site);
                    self.abandon(key, observation.at);
                    self.wait(key, from_low, observation);
                } else {
                    self.deliver(connection, subflow, end.into(), direction, observation);
                }
            }
            Some(Flow::Waiting { pending }) => self.wait_on(pending, from_low, observation),
            Some(Flow::Gone { why, answer, .. }) if !begins_after(answer, tcp) => {
                let ignored = self.ignored.entry(site).or_default();
                match why {
                    Why::Counted if observation.frame.payload.len == 0 => {}
                    Why::Counted | Why::Over => ignored.late += 1,
                    Why::Copy => ignored.copies += 1,
                }
            }
            _ => self.wait(Key::of(observation, tcp, site).0, from_low, observation),
        }
        self.sweep(observation.at);
    }

    #[inline(never)] // out of the way of TCP
    fn datagram(&mut self, observation: &Observation, site: u32) {
        let L4::Udp { source_port, destination_port, glimpse } = &observation.frame.l4 else { return };
        let several_views = observation.direction.is_some() || self.several_points.get(site as usize) == Some(&true);
        let captures = datagrams::Views { sites: self.several_points.len() as u32, several: several_views };
        let datagram = ((*source_port, *destination_port), glimpse);
        let gone = self.datagrams.observe(observation, datagram, (site, captures), &self.options);
        gone.into_iter().for_each(|conversation| self.report_datagrams(conversation));
    }

    fn report_datagrams(&mut self, conversation: datagrams::Conversation) {
        let captures = Captures {
            points: &self.points,
            names: &self.captures,
            origin: self.origin.unwrap_or_default(),
            until: self.latest,
            spans: &self.spans,
        };
        let report = self.datagrams.report(conversation, &captures, &self.options);
        report.into_iter().for_each(|report| self.finished.push(report));
    }

    /// A SYN with another sequence number on a 4-tuple in use, or the answer to one: the ports are used again.
    fn reopens(&self, (index, subflow, end): (u32, usize, usize), direction: Direction, tcp: &Tcp) -> bool {
        let connection = self.connections[index as usize].as_ref().expect("live");
        connection.is_reopened_by(subflow, end, direction, tcp)
    }

    /// A 4-tuple is used again: what used it before is over.
    fn abandon(&mut self, key: Key, at: Time) {
        if let Some(Flow::Live { connection, subflow, end, .. }) = self.flows.remove(&key) {
            self.connections[connection as usize].as_mut().expect("live").abandon(subflow as usize, end.into());
            self.close(connection, at);
        }
    }

    fn deliver(&mut self, index: u32, subflow: usize, end: usize, direction: Direction, observation: &Observation) {
        let L4::Tcp(tcp) = &observation.frame.l4 else { return };
        let seen = Seen::of(observation);
        let connection = self.connections[index as usize].as_mut().expect("live");
        let brief = &tcp.options.brief();
        let packet = Packet { observation, tcp, brief, subflow, end, direction, seen };
        let several_views = || {
            let site = site_of(&self.points, observation.point);
            observation.direction.is_some() || self.several_points.get(site as usize) == Some(&true)
        };
        let view = connection.view(&packet);
        if view.repeats.is_repeat(&packet, several_views) {
            view.duplicates += 1;
            return;
        }
        connection.packet(&packet);
        self.known.update(index, connection);
        if std::mem::take(&mut connection.may_close) {
            self.close(index, observation.at);
        }
    }

    fn insert(&mut self, connection: Connection) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.keys.push(Vec::new());
            (self.connections.len() - 1) as u32
        });
        self.connections[index as usize] = Some(Box::new(connection));
        index
    }

    fn close(&mut self, index: u32, at: Time) {
        let connection = self.connections[index as usize].as_mut().expect("live");
        if !connection.closing && connection.is_closed() {
            connection.closing = true;
            connection.shrink();
            self.closing.push_back((at, index));
        }
    }

    /// Finishes connections that closed a while ago.
    fn sweep(&mut self, now: Time) {
        let linger = if self.several_points.len() > 1 { LINGER_NANOS_SEVERAL_SITES } else { LINGER_NANOS };
        while let Some(&(at, index)) = self.closing.front() {
            if now - at <= linger {
                break;
            }
            self.closing.pop_front();
            // Clocks that were set back may have put one here twice.
            let Some(connection) = self.connections[index as usize].as_mut() else { continue };
            if !connection.is_closed() {
                connection.closing = false;
            } else if now - connection.last.at <= linger {
                let last = connection.last.at;
                self.closing.push_back((last.max(at), index));
            } else {
                self.let_go(index, now);
            }
        }
    }

    /// A connection is over. At which end it was captured the whole capture says: it waits for that.
    fn let_go(&mut self, index: u32, now: Time) {
        let connection = self.take(index, now);
        self.hosts.add(&connection.subflows);
        self.over.push_back(connection);
        while self
            .over
            .front()
            .is_some_and(|first| self.hosts.is_settled(&first.subflows, first.ends.each_ref().map(Option::is_some)))
            || self.over.len() > MOST_OVER
        {
            let Some(first) = self.over.pop_front() else { break };
            self.report(*first);
        }
    }

    /// What it had, others may have now.
    fn take(&mut self, index: u32, now: Time) -> Box<Connection> {
        let connection = self.connections[index as usize].take().expect("live");
        self.known.forget(index, &connection);
        for key in std::mem::take(&mut self.keys[index as usize]) {
            if let Some(Flow::Live { connection: of, subflow, end, .. }) = self.flows.get(&key)
                && of == index
            {
                let subflow = &connection.subflows[subflow as usize];
                let view = subflow.views[usize::from(end)].as_ref();
                let answer = view.and_then(|view| view.answered(subflow.opener.reverse()));
                self.remember(key, (now, Why::Over), answer);
            }
        }
        self.free.push(index);
        connection
    }

    /// What comes of a 4-tuple that is gone begins nothing, unless it is a SYN, or the answer to another.
    fn remember(&mut self, key: Key, (now, why): (Time, Why), answer: Option<Answer>) {
        self.flows.insert(key, Flow::Gone { since: now, why, answer });
        self.gone.push_back((now, key));
        while self.gone.len() > MOST_REMEMBERED || self.gone.front().is_some_and(|(at, _)| now - *at > REMEMBER_NANOS) {
            let Some((at, key)) = self.gone.pop_front() else { break };
            if matches!(self.flows.get(&key), Some(Flow::Gone { since, .. }) if since == at) {
                self.flows.remove(&key);
            }
        }
    }

    fn report(&mut self, mut connection: Connection) {
        connection.judge(&self.hosts);
        connection.judge_coverage(&self.spans);
        // Captures of a simulation are of one run.
        if self.several_points.len() > 1 && !self.options.one_clock {
            self.in_common.note(&connection);
        }
        let captures = Captures {
            points: &self.points,
            names: &self.captures,
            origin: self.origin.unwrap_or_default(),
            until: self.latest,
            spans: &self.spans,
        };
        self.finished.push(finish::report(connection, &captures, &self.options));
    }

    /// Finishes everything.
    pub(crate) fn finish(mut self) -> Reports {
        let waiting = std::mem::take(&mut self.pending).into_iter().flatten();
        let (mut lone, others): (Vec<_>, Vec<_>) = waiting.partition(|pending| pending.lone().is_some());
        others.into_iter().for_each(|pending| self.settle(pending));
        // What one end has no answer to the other may have answered, or refused; and joins are told by what their connections show.
        let several = self.several_points.len() > 1;
        for pending in lone.extract_if(.., |pending| several || pending.is_join()) {
            let decision = self.decided(&pending);
            self.attach_some(pending, decision);
        }
        let live: Vec<_> = self.connections.iter_mut().filter_map(Option::take).collect();
        self.known = known::Known::default();
        live.iter().for_each(|connection| self.hosts.add(&connection.subflows));
        std::mem::take(&mut self.over).into_iter().chain(live).for_each(|connection| self.report(*connection));
        lone.into_iter().for_each(|pending| self.settle(pending));
        self.datagrams.take().into_iter().for_each(|conversation| self.report_datagrams(conversation));
        self.datagrams.remarks().into_iter().for_each(|remark| self.finished.remark(remark));
        let captures =
            |site| self.points.iter().position(|point| point.site == site).map(|at| self.captures[at].clone());
        ignored::remarks(&self.ignored, captures).into_iter().for_each(|remark| self.finished.remark(remark));
        self.in_common.nothing().into_iter().for_each(|remark| self.finished.remark(remark));
        self.finished
    }
}

/// Whether a packet begins something on a 4-tuple that is gone: a SYN, or the answer to another than was answered.
fn begins_after(answer: Option<Answer>, tcp: &Tcp) -> bool {
    is_opening(tcp) || Answer::of(tcp).zip(answer).is_some_and(|(now, before)| !now.is_like(before))
}

fn site_of(points: &[Point], point: PointId) -> u32 {
    points.get(point.0 as usize).map_or(0, |point| point.site)
}
