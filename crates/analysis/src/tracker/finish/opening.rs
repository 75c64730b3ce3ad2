//! How subflows began, and why joins did not come about.

use super::ends::JudgedEnd;
use crate::tracker::connection::Connection;
use crate::tracker::subflow::{Kind as SubflowKind, Subflow, View};
use tables::Direction;
use wire::Time;

/// When a connection was over, and how far it was captured.
pub(super) struct Horizon {
    captured_to: Time,
    over_at: Option<Time>,
    fast_closed_by: Option<Direction>,
    /// Per end: how many subflows are open, and when the last that is not was heard of.
    ends: [(usize, Option<Time>); 2],
    /// Per end: the longest handshake.
    round_trip_nanos: [u64; 2],
}

impl Horizon {
    /// What is to say of a join that had not come about when the connection, or the capture, ended.
    fn ended_before(&self, end: usize, join: &View) -> Option<(&'static str, Option<&'static str>)> {
        let (open, closed_at) = self.ends[end];
        let others_closed = open == usize::from(!join.is_closed());
        let over_at = [self.over_at, closed_at.filter(|_| others_closed)].into_iter().flatten().min();
        // An end that ends the connection resets all subflows at once; those resets and the word of it arrive as far
        // apart as the paths are long.
        let by_closer = self.fast_closed_by.is_some_and(|side| join.resets[side as usize]);
        let apart = if by_closer { self.round_trip_nanos[end].max(SAME_MOMENT_NANOS) as i64 } else { 0 };
        if join.reset && over_at.is_none_or(|over| join.last.at + apart < over) {
            return None; // reset while there was a connection to join
        }
        let over_at = over_at.filter(|over| *over < self.captured_to);
        if join.first.at + PATIENCE_NANOS > over_at.unwrap_or(self.captured_to) {
            let remark = if over_at.is_some() { "the connection ended first" } else { "the capture ended first" };
            return Some(("pending", Some(remark)));
        }
        join.reset.then_some(("unfinished", Some("the acceptor had not confirmed it when the connection ended")))
    }
}

/// For so long a join that nobody answered may still be: then its SYN is due once more (RFC 6298 §2.1).
const PATIENCE_NANOS: i64 = 1_000_000_000;
/// What a host does at once it has sent in this time.
const SAME_MOMENT_NANOS: u64 = 1_000_000;

/// How a subflow began and ended.
pub(super) struct Opening {
    pub(super) outcome: &'static str,
    pub(super) remark: Option<&'static str>,
    pub(super) rtt_nanos: Option<u64>,
    /// First packet of the connection to the end of this handshake, where that packet is there.
    pub(super) joined_nanos: Option<i64>,
    pub(super) subflow_ended: &'static str,
}

impl Connection {
    /// The view from the end that opened the subflow, or the other one.
    pub(super) fn opener_view<'a>(
        &self,
        subflow: &'a Subflow,
        ends: &[Option<JudgedEnd>; 2],
    ) -> (usize, &'a View, bool) {
        let at_opener = |end: &usize| ends[*end].is_some_and(|judged| judged.sends == Some(subflow.opener));
        let seen = |end: &usize| subflow.views[*end].is_some();
        let opener = [0, 1].into_iter().filter(seen).find(at_opener);
        let end = opener.or_else(|| [0, 1].into_iter().find(seen)).expect("a subflow is seen somewhere");
        (end, subflow.views[end].as_deref().expect("seen"), opener.is_some())
    }

    pub(super) fn opening(&self, subflow: &Subflow, ends: &[Option<JudgedEnd>; 2], horizon: &Horizon) -> Opening {
        let (end, view, at_opener) = self.opener_view(subflow, ends);
        let start = self.ends[end].as_ref().map_or(self.first.at, |end| end.first.at);
        let handshake = &view.handshake;
        let knows_vantage = ends.iter().flatten().all(|judged| judged.sends.is_some());
        let rtt_nanos = if at_opener { handshake.acceptor_nanos() } else { handshake.opener_nanos() };
        let answer_cut = subflow.syn_cut[subflow.opener.reverse() as usize];
        let is_join = subflow.kind == SubflowKind::Join;
        let stripped = is_join && handshake.syn_ack.is_some() && !handshake.joins && !answer_cut;
        let (outcome, remark) = match (view.handshake_outcome(), subflow.kind) {
            (_, SubflowKind::Join) if stripped => {
                let lost_from = |sender| is_stripped(subflow, sender);
                let remark = if lost_from(subflow.opener) {
                    "a middlebox removes MP_JOIN from the SYN"
                } else if lost_from(subflow.opener.reverse()) {
                    "a middlebox removes MP_JOIN from the SYN/ACK"
                } else if self.is_answered_for(subflow, ends) {
                    "the SYN/ACK came without MP_JOIN, and none to this address left the server: a proxy on the path answered"
                } else {
                    "the SYN/ACK came without MP_JOIN: the option was stripped, or the server does not know it"
                };
                ("refused", Some(remark))
            }
            (_, SubflowKind::Stray) => {
                ("stray", Some("reset by a side that knows no subflow of these addresses, as after a NAT's rebinding"))
            }
            ("refused", _) if handshake.syn_ack.is_none() => ("refused", Some("the SYN was answered by a reset")),
            ("refused", _) => ("refused", Some("a reset followed the SYN/ACK")),
            ("unanswered", _) => ("unanswered", Some("no SYN/ACK came")),
            ("unfinished", SubflowKind::Join) if view.reset => {
                ("refused", Some("the opener reset it after the SYN/ACK"))
            }
            ("unfinished", _) => ("unfinished", Some("no third packet came")),
            ("established", SubflowKind::Join) if view.reset && !handshake.confirmed && !self.carried(subflow) => {
                ("refused", Some("reset after the third packet, before it carried anything"))
            }
            // The acceptor asks for the third packet again and again.
            ("established", SubflowKind::Join)
                if at_opener && handshake.syn_ack_count > 1 && !handshake.confirmed && !self.carried(subflow) =>
            {
                ("unfinished", Some("the acceptor sent its SYN/ACK again and never confirmed the third packet"))
            }
            (outcome, SubflowKind::Initial | SubflowKind::Tcp) if self.is_unknown() => {
                (outcome, Some("the snap length cut the TCP options: whether it is MPTCP is unknown"))
            }
            (outcome, SubflowKind::Initial) => (outcome, self.fallback),
            (outcome, _) => (outcome, None),
        };
        let failed = is_join && !stripped && !matches!(outcome, "established" | "unseen");
        let ended_first = if failed { horizon.ended_before(end, view) } else { None };
        let between = if failed { self.between(subflow, view, ends, outcome) } else { None };
        let (outcome, remark) = ended_first.unwrap_or((outcome, between.or(remark)));
        Opening {
            outcome,
            remark,
            rtt_nanos: rtt_nanos.filter(|_| knows_vantage),
            joined_nanos: handshake
                .ack
                .map(|seen| seen.at - start)
                .filter(|_| outcome == "established" && !handshake.clock_jumped && self.shows_beginning(end)),
            subflow_ended: view.ended(),
        }
    }

    /// Whether the server, where it was captured, saw nothing of a subflow to an address at which it saw others.
    fn is_answered_for(&self, subflow: &Subflow, ends: &[Option<JudgedEnd>; 2]) -> bool {
        let is_server = |end: &usize| ends[*end].is_some_and(|judged| judged.sends == Some(Direction::Down));
        let Some(server) = [0, 1].into_iter().find(is_server) else { return false };
        let address = |view: &View| view.addresses.server.ip();
        let to = subflow.views.iter().flatten().next().map(|view| address(view));
        let is_captured = self.subflows.iter().filter_map(|other| other.views[server].as_deref());
        subflow.opener == Direction::Up
            && subflow.views[server].is_none()
            && is_captured.map(address).any(|address| Some(address) == to)
    }

    /// Whether the handshake of the first subflow was captured there.
    fn shows_beginning(&self, end: usize) -> bool {
        let is_first = |subflow: &&Subflow| matches!(subflow.kind, SubflowKind::Initial | SubflowKind::Tcp);
        let begins = |view: &View| view.handshake.syn.is_some() || view.handshake.syn_ack.is_some();
        self.subflows.iter().filter(is_first).any(|first| first.views[end].as_deref().is_some_and(begins))
    }

    /// What the captures of both ends show of a join that failed: how far its handshake came, and whose reset it was.
    fn between(
        &self,
        subflow: &Subflow,
        near: &View,
        ends: &[Option<JudgedEnd>; 2],
        outcome: &str,
    ) -> Option<&'static str> {
        let (opener, acceptor) = (subflow.opener as usize, subflow.opener.reverse() as usize);
        let end_of = |sends| (0..2).find(|&end: &usize| ends[end].is_some_and(|judged| judged.sends == Some(sends)));
        let (here, there) = (end_of(subflow.opener)?, end_of(subflow.opener.reverse())?);
        let far = subflow.views[there].as_deref();
        // A capture that holds nothing to and from this address shows nothing of it.
        let address = |view: &View| [view.addresses.client, view.addresses.server][acceptor];
        let is_captured = |other: &Subflow| {
            let views = other.views[here].as_deref().zip(other.views[there].as_deref());
            views.is_some_and(|(view, _)| address(view).ip() == address(near).ip())
        };
        if subflow.views[here].is_none() || !self.subflows.iter().any(is_captured) {
            return None;
        }
        let syn = far.is_some_and(|far| far.handshake.syn.is_some());
        let syn_ack = far.is_some_and(|far| far.handshake.syn_ack.is_some());
        let is_bare = far.is_some_and(|far| far.handshake.ack.is_some() && !far.handshake.proves);
        if outcome == "refused" && near.handshake.proves && is_bare {
            return Some("a middlebox removes MP_JOIN from the third packet");
        }
        let far_resets = far.map_or([false; 2], |far| far.resets);
        let is_foreign = near.resets[acceptor] && !far_resets[acceptor] || far_resets[opener] && !near.resets[opener];
        match (outcome, syn, syn_ack) {
            ("refused", false, _) if is_foreign => Some("a middlebox reset it: the SYN never reached the acceptor"),
            ("refused", true, false) if is_foreign => {
                Some("a middlebox reset it: the SYN reached the acceptor, which sent no reset")
            }
            ("refused", true, true) if is_foreign => {
                Some("a middlebox reset it: the acceptor had sent a SYN/ACK, and no reset")
            }
            ("refused", true, false) => Some("the acceptor answered the SYN with a reset"),
            ("unanswered", false, _) => Some("no SYN/ACK came: the SYN never reached the acceptor"),
            ("unanswered", true, false) => Some("no SYN/ACK came: the SYN reached the acceptor, which did not answer"),
            ("unanswered", true, true) => Some("no SYN/ACK came: the acceptor sent one, which was lost"),
            _ => None,
        }
    }

    /// When it all ended.
    pub(super) fn horizon(&self, captured_to: Time) -> Horizon {
        let mut horizon = Horizon {
            captured_to,
            over_at: self.over_at,
            fast_closed_by: self.fast_closed_by,
            ends: Default::default(),
            round_trip_nanos: [0; 2],
        };
        for (end, (open, closed_at)) in horizon.ends.iter_mut().enumerate() {
            let subflows = self.subflows.iter().filter(|subflow| subflow.kind != SubflowKind::Stray);
            for view in subflows.filter_map(|subflow| subflow.views[end].as_deref()) {
                *open += usize::from(!view.is_closed());
                *closed_at = (*closed_at).max(Some(view.last.at).filter(|_| view.is_closed()));
                let took = view.handshake.waits().map_or(0, |(acceptor, opener)| acceptor + opener);
                horizon.round_trip_nanos[end] = horizon.round_trip_nanos[end].max(took);
            }
        }
        horizon
    }

    /// Whether any data passed on the subflow: a FIN is none.
    fn carried(&self, subflow: &Subflow) -> bool {
        let mut sequences = subflow.views.iter().flatten().flat_map(|view| &view.sequences);
        sequences.any(|sequence| sequence.sizes.packets > 0 || sequence.acked() > Some(0))
    }
}

/// Whether what opens a subflow left one end with an MPTCP option, and arrived at the other without it.
fn is_stripped(subflow: &Subflow, sender: Direction) -> bool {
    let offers = || subflow.views.iter().flatten().map(|view| view.offers[sender as usize]);
    offers().any(|offer| offer == Some(true)) && offers().any(|offer| offer == Some(false))
}
