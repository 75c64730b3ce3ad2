//! What part of a connection each of two captures holds, and whether both hold the same one.

use super::sequence::Sequence;
use super::subflow::View;
use super::{Connection, JudgedEnd};
use rustc_hash::FxHashSet;
use std::net::SocketAddr;
use tables::{Diagnostic, Direction};
use wire::{PointId, Time};

/// When a capture begins and ends: its first packet, of whatever connection, and its last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    first: Time,
    last: Time,
    /// All times are whole steps from the first: 0, where none differs; 1, once they are known to be fine.
    step_nanos: u64,
    /// So often the time went on.
    steps: u32,
}

/// A clock with steps below this is fine.
const COARSE_NANOS: u64 = 1_000_000;
/// So many times are no multiples of a step by chance.
const ENOUGH_STEPS: u32 = 24;
/// A time of so many steps is known to a tenth, as it errs by one at most.
const STEPS_TO_A_TENTH: f64 = 10.0;

impl Span {
    pub(super) fn new(at: Time) -> Self {
        Span { first: at, last: at, step_nanos: 0, steps: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, at: Time) {
        if self.step_nanos != 1 && at != self.last {
            self.add_step(at);
        }
        self.last = at;
    }

    #[cold]
    fn add_step(&mut self, at: Time) {
        let (mut a, mut b) = (self.step_nanos, (at - self.last).unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.step_nanos = if a < COARSE_NANOS { 1 } else { a };
        self.steps = self.steps.saturating_add(1);
    }

    /// The clock's step, where it is coarse for certain.
    fn coarse_nanos(&self) -> Option<u64> {
        (self.step_nanos >= COARSE_NANOS && self.steps >= ENOUGH_STEPS).then_some(self.step_nanos)
    }
}

/// Whether the captures of both ends have any connection in common.
#[derive(Default)]
pub(super) struct InCommon {
    some: bool,
    /// Servers of connections that were seen at the client's end only, and at the server's.
    servers: [FxHashSet<SocketAddr>; 2],
}

/// Servers that are remembered of each.
const MOST_SERVERS: usize = 1024;

impl InCommon {
    /// Takes a connection that is over.
    pub(super) fn note(&mut self, connection: &Connection) {
        let alone = match connection.judge_ends() {
            [Some(_), Some(_)] => {
                self.some = true;
                return;
            }
            [one, other] => one.or(other).filter(|_| !connection.midway),
        };
        let Some(sends) = alone.and_then(|end| end.sends) else { return };
        let servers = &mut self.servers[sends as usize];
        if let Some(addresses) = connection.subflows[0].addresses().next()
            && servers.len() < MOST_SERVERS
        {
            servers.insert(addresses.server);
        }
    }

    /// A remark where both show connections with one server, and none is the same.
    pub(super) fn nothing(&self) -> Option<Diagnostic> {
        let message = "no connection is in the captures of both ends, although both show some with one server: they are of \
                       different runs, or a proxy is between them";
        (!self.some && !self.servers[0].is_disjoint(&self.servers[1])).then(|| Diagnostic {
            diagnostic: "captures_unrelated",
            message: message.into(),
            ..Diagnostic::default()
        })
    }
}

/// What the captures of both ends cover.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// By end.
    parts: [Option<Part>; 2],
    /// What the two show cannot be one connection.
    pub(crate) unrelated: bool,
    /// The step of a capture's clock, where it is coarse.
    clock_step_nanos: Option<u64>,
}

/// The part of a connection that an end's capture covers, where it is not all.
#[derive(Clone, Copy, Debug)]
struct Part {
    span: Span,
    /// A packet of it.
    point: PointId,
    late: bool,
    early: bool,
    /// When the other end's capture shows the connection first, and last.
    shown: (Time, Time),
}

/// Where one end shows the FIN so much farther on, as part of the data, no box has put in or left out the difference.
const FIN_APART: i64 = 16;

impl Coverage {
    /// The end's capture lacks the beginning or the end, and the other's does not.
    pub(crate) fn is_part(&self, end: usize) -> bool {
        self.parts[end].is_some() && self.parts[1 - end].is_none()
    }

    /// The end's capture lacks the beginning.
    pub(crate) fn is_late(&self, end: usize) -> bool {
        self.parts[end].is_some_and(|part| part.late)
    }

    /// A capture of either end stops before the other's does.
    pub(crate) fn stops(&self) -> bool {
        self.parts.iter().flatten().any(|part| part.early)
    }
}

impl Connection {
    /// Judges what each capture covers, once all is known of the connection; `spans` by site.
    pub(super) fn judge_coverage(&mut self, spans: &[Option<Span>]) {
        let ends = self.judge_ends();
        let views = self.subflows.iter().flat_map(|subflow| subflow.views.iter().flatten());
        let steps = views.filter_map(|view| spans.get(view.site as usize)?.as_ref()?.coarse_nanos());
        self.coverage.clock_step_nanos = steps.max();
        if ends.iter().flatten().count() < 2 {
            return;
        }
        let parts = [0, 1].map(|end| self.part(end, &ends, spans));
        let one_way = self.one_way.as_ref();
        let unrelated = self.fins_apart() || one_way.is_some_and(|one_way| one_way.shows_two_connections());
        self.coverage = Coverage { parts, unrelated, ..self.coverage };
    }

    fn part(&self, end: usize, ends: &[Option<JudgedEnd>; 2], spans: &[Option<Span>]) -> Option<Part> {
        let sends = ends[end]?.sends? as usize;
        let ahead_nanos = self.clock_offset().map_or(0, |offset| if end == 0 { offset.nanos } else { -offset.nanos });
        let views = self.subflows.iter().map(|subflow| (&subflow.views[end], &subflow.views[1 - end]));
        let both: Vec<_> = views.filter_map(|(here, there)| Some((here.as_ref()?, there.as_ref()?))).collect();
        let shown_from = both.iter().map(|(_, there)| there.first.at).min()?;
        let shown_to = both.iter().map(|(_, there)| there.last.at).max()?;
        let parts = both.iter().filter_map(|(here, there)| {
            let span = (*spans.get(here.site as usize)?)?;
            let beyond = shown_to - span.last - ahead_nanos;
            let early = says_more(there, here, sends) && beyond > here.round_trip_nanos().max(there.round_trip_nanos());
            let late = lacks_beginning(here) && !lacks_beginning(there);
            (early || late).then_some(Part {
                span,
                point: here.first.point,
                late,
                early,
                shown: (shown_from, shown_to),
            })
        });
        parts.reduce(|all, one| Part { late: all.late || one.late, early: all.early || one.early, ..all })
    }

    /// Both ends of a subflow show the FIN, and at places far apart.
    fn fins_apart(&self) -> bool {
        self.subflows.iter().any(|subflow| {
            let [Some(a), Some(b)] = &subflow.views else { return false };
            a.sequences.iter().zip(&b.sequences).any(|(a, b)| {
                let fins = a.fin.zip(b.fin).filter(|_| a.from_syn && b.from_syn);
                fins.is_some_and(|(a, b)| (a - b).abs() > a.max(b) / FIN_APART)
            })
        })
    }

    /// A remark where the clock's steps are too long for the round-trip times, the shortest mean of which is `rtt_ms`.
    pub(crate) fn clock_remark(&self, rtt_ms: Option<f64>) -> Option<Diagnostic> {
        let nanos = self.coverage.clock_step_nanos?;
        let step_ms = nanos as f64 / 1e6;
        let message = format!(
            "the capture's clock goes in steps of {step_ms} ms: round-trip times are known to a step only, and those below it show as 0"
        );
        rtt_ms.filter(|rtt| *rtt < STEPS_TO_A_TENTH * step_ms).map(|_| Diagnostic {
            diagnostic: "clock_coarse",
            count: Some(nanos),
            message: message.into(),
            ..Diagnostic::default()
        })
    }

    /// Remarks on captures that cover a part, or not the same connection. `name` gives a capture's, `seconds` a time.
    pub(crate) fn coverage_remarks(
        &self,
        ends: &[Option<JudgedEnd>; 2],
        seconds: impl Fn(Time) -> f64,
        name: impl Fn(PointId) -> std::sync::Arc<str>,
    ) -> Vec<Diagnostic> {
        if self.coverage.unrelated {
            let message = "what the two captures show cannot be one connection, although addresses and sequence numbers agree: they \
                           are of different runs; figures that need both ends are left empty, and the others are of either";
            return vec![Diagnostic {
                diagnostic: "captures_unrelated",
                message: message.into(),
                ..Diagnostic::default()
            }];
        }
        let of_end = |end: usize| {
            let Part { span, point, shown, .. } = self.coverage.parts[end]?;
            let side = if ends[end]?.sends? == Direction::Up { "client" } else { "server" };
            let message = format!(
                "the {side}'s capture covers {:.3} to {:.3} s, and the other one shows the connection from {:.3} to {:.3} s: figures \
                 known at the {side} (RTT and loss of what it sends, delays of what it receives) are of that part; \
                 lost packets are counted where both cover it",
                seconds(span.first),
                seconds(span.last),
                seconds(shown.0),
                seconds(shown.1),
            );
            let capture = Some(name(point));
            Some(Diagnostic {
                capture,
                diagnostic: "capture_partial",
                message: message.into(),
                ..Diagnostic::default()
            })
        };
        [0, 1].into_iter().filter_map(of_end).collect()
    }
}

/// The SYNs are not in the capture.
fn lacks_beginning(view: &View) -> bool {
    view.sequences.iter().all(|sequence| !sequence.from_syn)
}

/// Whether one end saw come what the other, who sent it in direction `sends`, does not show: data, or acknowledgements.
fn says_more(there: &View, here: &View, sends: usize) -> bool {
    let more = |of: fn(&Sequence) -> Option<i64>, d: usize| {
        let (there, here) = (&there.sequences[d], &here.sequences[d]);
        of(there).is_some_and(|told| of(here).is_none_or(|shown| told + here.apart(there) > shown))
    };
    more(Sequence::highest, sends) || more(Sequence::acked, 1 - sends)
}
