//! Which end of a connection is which, and how it looks there.

use crate::tracker::connection::Connection;
use crate::tracker::subflow::{Kind as SubflowKind, Subflow, View};
use crate::tracker::vantage::Vantage;
use tables::Direction;
use wire::{PointId, Time};

/// An end, once it is known which.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedEnd {
    /// `Up`: the client's end.
    pub(super) sends: Option<Direction>,
    pub(super) confidence: Option<f64>,
    /// How many samples say so.
    pub(super) samples: Option<u64>,
}

/// From this on, two captures that both claim one end are believed.
const CERTAIN: f64 = 0.9;

impl Connection {
    /// Which end is the client's. Of two ends one is; the surer one decides.
    pub(super) fn judge_ends(&self) -> [Option<JudgedEnd>; 2] {
        let vantages = [0, 1].map(|end: usize| self.ends[end].as_ref().map(|_| self.vantages[end]));
        match vantages {
            [Some(Some(a)), Some(Some(b))] if a.sends == b.sends && a.confidence.min(b.confidence) >= CERTAIN => {
                // Two captures of one end: the fuller one is used.
                let views = |end: usize| self.subflows.iter().filter(|subflow| subflow.views[end].is_some()).count();
                let used = usize::from(views(1) > views(0));
                let vantage = [a, b][used];
                let judged = JudgedEnd {
                    sends: Some(vantage.sends),
                    confidence: Some(vantage.confidence),
                    samples: Some(vantage.samples),
                };
                [0, 1].map(|end| (end == used).then_some(judged))
            }
            [Some(a), Some(b)] => {
                let sure = |v: Option<Vantage>| v.map_or(0.0, |v| v.confidence);
                let a_sends = match (a, b) {
                    (Some(a_vantage), _) if sure(a) >= sure(b) => a_vantage.sends,
                    (_, Some(b_vantage)) => b_vantage.sends.reverse(),
                    _ => self.nearer_client(),
                };
                let confidence = Some(sure(a).max(sure(b)));
                let samples = Some([a, b].iter().flatten().map(|vantage| vantage.samples).sum());
                [a_sends, a_sends.reverse()].map(|sends| Some(JudgedEnd { sends: Some(sends), confidence, samples }))
            }
            one => one.map(|vantage| {
                vantage.map(|vantage| JudgedEnd {
                    sends: vantage.map(|vantage| vantage.sends),
                    confidence: vantage.map(|vantage| vantage.confidence),
                    samples: vantage.map(|vantage| vantage.samples),
                })
            }),
        }
    }

    /// Of two ends the one with the longer wait for the SYN/ACK, or for the reset in its place, is the client's: it may wait in
    /// vain. Where both do, more SYNs left than came, and sooner.
    fn nearer_client(&self) -> Direction {
        let wait = |view: &View| match view.handshake_outcome() {
            "refused" if view.handshake.syn_ack.is_none() => u64::try_from(view.last.at - view.first.at).ok(),
            "unanswered" => Some(u64::MAX),
            _ => view.handshake.acceptor_nanos(),
        };
        let waited = |end: usize| {
            let views = self.subflows.iter().filter_map(|subflow| subflow.views[end].as_deref());
            let (waits, syns): (Vec<u64>, Vec<u32>) =
                views.map(|view| (wait(view).unwrap_or(0), view.handshake.syn_count)).unzip();
            let first = self.ends[end].as_ref().map(|end| std::cmp::Reverse(end.first.at));
            (waits.into_iter().fold(0, u64::saturating_add), syns.into_iter().sum::<u32>(), first)
        };
        if waited(0) >= waited(1) { Direction::Up } else { Direction::Down }
    }

    /// The first packet: at the client's end, where there is one.
    pub(super) fn start(&self, ends: &[Option<JudgedEnd>; 2]) -> Time {
        let client =
            [0, 1].into_iter().find(|&end| ends[end].is_some_and(|judged| judged.sends == Some(Direction::Up)));
        let client = client.filter(|&end| !self.coverage.is_late(end));
        client.and_then(|end| self.ends[end].as_ref()).map_or(self.first.at, |end| end.first.at)
    }

    /// First packet to the last one, at the end that saw it longer.
    pub(super) fn duration_nanos(&self, ends: &[Option<JudgedEnd>; 2]) -> i64 {
        let at_end = |index: usize| {
            let views = self.subflows.iter().filter_map(|subflow| subflow.views[index].as_deref());
            let first = self.ends[index].as_ref()?.first.at;
            views.map(|view| (view.last.at - first).max(0)).max()
        };
        (0..2).filter(|&index| ends[index].is_some()).filter_map(at_end).max().unwrap_or(0)
    }

    pub(super) fn ended(&self) -> &'static str {
        let subflows = || self.subflows.iter().filter(|subflow| subflow.kind != SubflowKind::Stray);
        let views = || subflows().flat_map(|subflow| subflow.views.iter().flatten());
        if self.fast_closed {
            return "fastclose";
        }
        if !self.plain {
            let closed = |direction: usize| self.ends.iter().flatten().any(|end| end.streams[direction].is_closed());
            match (closed(0), closed(1)) {
                (true, true) => return "closed",
                (true, false) | (false, true) => return "half-closed",
                _ => {}
            }
        }
        let all = |how: &str| views().all(|view| view.ended() == how);
        match () {
            () if all("fin") => "closed",
            () if all("reset") => "reset",
            () if self.plain && views().any(|view| view.ended() == "reset") => "reset",
            () if views().any(|view| view.ended() == "half-closed") => "half-closed",
            () => "open",
        }
    }

    /// How a subflow looks at the client's end: addresses are not translated there, and times are by the clock of the
    /// connection's start. At the other end, where it was not seen there.
    pub(super) fn client_view<'a>(&self, subflow: &'a Subflow, ends: &[Option<JudgedEnd>; 2]) -> &'a View {
        let is_client = |end: usize| ends[end].is_some_and(|judged| judged.sends == Some(Direction::Up));
        let views = [0, 1].into_iter().filter_map(|end| Some((is_client(end), subflow.views[end].as_deref()?)));
        views.max_by_key(|(is_client, _)| *is_client).expect("a subflow is seen somewhere").1
    }

    /// The client's interface that a subflow passed: its path.
    pub(super) fn client_point(&self, subflow: &Subflow, ends: &[Option<JudgedEnd>; 2]) -> Option<PointId> {
        let client = |end: &usize| ends[*end].is_some_and(|judged| judged.sends == Some(Direction::Up));
        let end = [0, 1].into_iter().find(client)?;
        subflow.views[end].as_ref().map(|view| view.first.point)
    }
}
