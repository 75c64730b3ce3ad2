//! One path only.

use super::{PathCommand, PathEvent, PathManager, Settings};
use wire::Time;

pub(super) const SUMMARY: &str = "never a further subflow, as Linux without endpoints";

/// Leaves the connection with the subflow that it began with.
pub struct Single;

impl Single {
    /// There is nothing to set.
    pub fn new(_: &Settings) -> Single {
        Single
    }
}

impl PathManager for Single {
    fn on(&mut self, _: Time, _: &PathEvent, _: &mut Vec<PathCommand>) {}
}
