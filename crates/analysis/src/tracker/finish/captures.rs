//! What was captured as a whole.

use crate::tracker::span::Span;
use std::sync::Arc;
use wire::{Point, PointId, Time};

/// The captures that a connection is found in.
pub(in crate::tracker) struct Captures<'a> {
    /// Points, and for each the name of its capture.
    pub(in crate::tracker) points: &'a [Point],
    pub(in crate::tracker) names: &'a [Arc<str>],
    /// The first packet of all, and the last one so far.
    pub(in crate::tracker) origin: Time,
    pub(in crate::tracker) until: Time,
    /// By site: from when to when it was captured.
    pub(in crate::tracker) spans: &'a [Option<Span>],
}

impl Captures<'_> {
    /// Seconds from the first packet of all captures.
    pub(in crate::tracker) fn seconds(&self, at: Time) -> f64 {
        (at - self.origin) as f64 / 1e9
    }

    /// The capture that a point is in.
    pub(super) fn name(&self, point: PointId) -> Arc<str> {
        self.names.get(point.0 as usize).cloned().unwrap_or_default()
    }

    /// A host that the capture was taken at has further interfaces. One that names none, or stands for all, does not tell.
    pub(super) fn has_several_interfaces(&self, site: u32) -> bool {
        let tells = |point: &&Point| !["", "any", "lo"].contains(&point.interface.as_str());
        self.points.iter().filter(|point| point.site == site).filter(tells).count() > 1
    }
}
