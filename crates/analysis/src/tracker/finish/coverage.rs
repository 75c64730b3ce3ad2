//! Judges what part of a connection each of two captures holds, and whether both hold the same one.

use super::captures::Captures;
use super::ends::JudgedEnd;
use crate::tracker::connection::Connection;
use crate::tracker::coverage::{Coverage, Part};
use crate::tracker::one_way::ClockOffset;
use crate::tracker::sequence::Sequence;
use crate::tracker::span::Span;
use crate::tracker::subflow::View;
use tables::{Diagnostic, Direction};

/// Where one end shows the FIN so much farther on, as part of the data, no middlebox has put in or left out the difference.
const FIN_APART: i64 = 16;

/// A time of so many steps is known to a tenth, as it errs by one at most.
const STEPS_TO_A_TENTH: f64 = 10.0;

impl Connection {
    /// Judges what each capture covers, once all is known of the connection; `spans` by site.
    pub(in crate::tracker) fn judge_coverage(&mut self, spans: &[Option<Span>]) {
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
        let ahead_nanos = ClockOffset::between(&self.subflows)
            .map_or(0, |offset| if end == 0 { offset.nanos } else { -offset.nanos });
        let views = self.subflows.iter().map(|subflow| (&subflow.views[end], &subflow.views[1 - end]));
        let both: Vec<_> = views.filter_map(|(here, there)| Some((here.as_ref()?, there.as_ref()?))).collect();
        let shown_from = both.iter().map(|(_, there)| there.first.at).min()?;
        let shown_to = both.iter().map(|(_, there)| there.last.at).max()?;
        let parts = both.iter().filter_map(|(here, there)| {
            let span = (*spans.get(here.site as usize)?)?;
            let beyond = (shown_to - span.last).saturating_sub(ahead_nanos);
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

    /// Both ends of a subflow show the FIN, and at offsets far apart.
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
    pub(super) fn clock_remark(&self, rtt_ms: Option<f64>) -> Option<Diagnostic> {
        let nanos = self.coverage.clock_step_nanos?;
        let step_ms = nanos as f64 / 1e6;
        let message = format!(
            "the capture's clock has a resolution of {step_ms} ms: round-trip times are no more precise, and shorter ones show as 0"
        );
        rtt_ms.filter(|rtt| *rtt < STEPS_TO_A_TENTH * step_ms).map(|_| Diagnostic {
            diagnostic: "clock_coarse",
            count: Some(nanos),
            message: message.into(),
            ..Diagnostic::default()
        })
    }

    /// Remarks on captures that cover a part, or not the same connection.
    pub(super) fn coverage_remarks(&self, ends: &[Option<JudgedEnd>; 2], captures: &Captures) -> Vec<Diagnostic> {
        if self.coverage.unrelated {
            let message = "the captures of the two ends cannot show the same connection, although addresses and sequence numbers agree: \
                           they are from different runs; figures that need both ends are left empty, and the others come from one end";
            return vec![Diagnostic {
                diagnostic: "captures_unrelated",
                message: message.into(),
                ..Diagnostic::default()
            }];
        }
        let of_end = |end: usize| {
            let Part { span, point, shown, late, .. } = self.coverage.parts[end]?;
            let side = if ends[end]?.sends? == Direction::Up { "client" } else { "server" };
            let message = format!(
                "the {side}'s capture covers {:.3} to {:.3} s, but the other one shows the connection from {:.3} to {:.3} s: figures \
                 known at the {side} (RTT and loss of what it sends, delays of what it receives) are for that part only; \
                 lost packets are counted where both captures cover it",
                captures.seconds(span.first),
                captures.seconds(span.last),
                captures.seconds(shown.0),
                captures.seconds(shown.1),
            );
            let capture = Some(captures.name(point));
            Some(Diagnostic {
                capture,
                diagnostic: "capture_partial",
                count: (!late).then(|| (shown.1 - span.last).max(0) as u64),
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
        of(there).is_some_and(|seen| of(here).is_none_or(|shown| seen + here.apart(there) > shown))
    };
    more(Sequence::highest, sends) || more(Sequence::acked, 1 - sends)
}
