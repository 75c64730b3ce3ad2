//! A histogram as rows.

use crate::histogram::Histogram;
use tables::Direction;

/// The rows of a quantity; without a subflow, of all together.
pub(super) fn rows(
    histogram: &Histogram,
    quantity: &'static str,
    subflow: Option<u32>,
    direction: Direction,
) -> impl Iterator<Item = tables::Distribution> {
    histogram.bins_ms().map(move |(from_ms, to_ms, count)| tables::Distribution {
        connection: 0,
        subflow,
        direction,
        quantity,
        from_ms,
        to_ms,
        count,
    })
}
