//! Kinds of parameters that only links have, beside those of all.

use parameters::{Fault, Kind, Value, brief, fault};

pub use parameters::{Bytes, Count, Duration, Flag, Number, Packets, Rate, Ratio, Text};

/// Shortest step in nanoseconds: what goes on by itself takes every step, also through hours in which nothing is sent.
const SHORTEST_STEP: u64 = 100_000;

/// Nanoseconds of a step of something that goes on by itself.
///
/// # Errors
/// It is shorter than 100 µs.
pub(crate) fn step(name: &str, time: Duration) -> Result<i64, Fault> {
    if time.0 < SHORTEST_STEP {
        return Err(fault(name, "must be at least 100 µs"));
    }
    Ok(time.nanos())
}

/// Milliseconds at which 1500 bytes may leave, in order, repeated after the last: Mahimahi's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace(pub Vec<u64>);

impl Kind for Trace {
    const KIND: &'static str = "trace";

    fn read(value: &Value) -> Result<Self, String> {
        let list = value.as_array().ok_or_else(|| format!("{} is not a list of milliseconds", brief(value)))?;
        let times: Option<Vec<u64>> = list.iter().map(Value::as_u64).collect();
        let times = times.ok_or("a trace holds whole milliseconds only")?;
        crate::trace::check(&times).map_err(|error| error.to_string())?;
        Ok(Trace(times))
    }

    fn value(&self) -> Value {
        self.0.clone().into()
    }
}

/// Rows of numbers, each with the milliseconds from the start at which it begins.
macro_rules! rows {
    ($($(#[doc = $doc:literal])* $name:ident($kind:literal, $columns:literal, [$(($what:literal, $most:expr)),*]))*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name(pub Vec<[f64; $columns]>);

        impl Kind for $name {
            const KIND: &'static str = $kind;

            fn read(value: &Value) -> Result<Self, String> {
                let list = value.as_array().ok_or_else(|| format!("{} is not a list of rows", brief(value)))?;
                let rows = list.iter().enumerate().map(|(index, row)| {
                    self::row(row, [$(($what, $most)),*]).map_err(|what| format!("row {}: {what}", index + 1))
                });
                let rows = rows.collect::<Result<Vec<_>, _>>()?;
                ordered(rows.iter().map(|row| row[0]))?;
                Ok($name(rows))
            }

            fn value(&self) -> Value {
                self.0.iter().map(|row| Value::from(row.to_vec())).collect()
            }
        }
    )*};
}

/// Most milliseconds from the start: a year.
const MOST_MS: f64 = 366.0 * 86_400_000.0;
const MILLISECOND: f64 = 1e6;

rows! {
    /// Milliseconds from the start, and the Mbit/s from then on.
    RateTrace("rate-trace", 2, [("ms", MOST_MS), ("Mbit/s", 1e6)])
    /// Milliseconds from the start, and from then on a delay in milliseconds and a loss in percent.
    DelayTrace("delay-trace", 3, [("ms", MOST_MS), ("ms", 1e6), ("%", 100.0)])
}

impl RateTrace {
    /// Nanoseconds from the start, and bit/s.
    pub(crate) fn rates(&self) -> Vec<(i64, u64)> {
        self.0.iter().map(|&[ms, mbps]| (nanos(ms), (mbps * 1e6).round() as u64)).collect()
    }
}

impl DelayTrace {
    /// Nanoseconds from the start; nanoseconds of delay, and the part that is lost.
    pub(crate) fn delays(&self) -> Vec<(i64, (i64, f64))> {
        self.0.iter().map(|&[ms, delay, percent]| (nanos(ms), (nanos(delay), percent / 100.0))).collect()
    }
}

fn nanos(ms: f64) -> i64 {
    (ms * MILLISECOND).round() as i64
}

/// A row of so many numbers, each from 0 to its most.
fn row<const N: usize>(value: &Value, columns: [(&str, f64); N]) -> Result<[f64; N], String> {
    let cells = value.as_array().filter(|cells| cells.len() == N);
    let cells = cells.ok_or_else(|| format!("is not a list of {N} numbers"))?;
    let mut row = [0.0; N];
    for ((number, cell), (unit, most)) in row.iter_mut().zip(cells).zip(columns) {
        let inside = cell.as_f64().filter(|number| (0.0..=most).contains(number));
        *number = inside.ok_or_else(|| format!("{} is not a number of {unit} from 0 to {most}", brief(cell)))?;
    }
    Ok(row)
}

/// Whether rows begin at 0, and each later than the one before, by a nanosecond or more.
fn ordered(times: impl Iterator<Item = f64>) -> Result<(), String> {
    let mut before = None;
    for (index, ms) in times.enumerate() {
        match before {
            None if ms != 0.0 => return Err(format!("row 1: begins at {ms} ms, not at 0")),
            Some(earlier) if nanos(ms) <= nanos(earlier) => {
                return Err(format!("row {}: {ms} ms is not after the {earlier} ms of the previous row", index + 1));
            }
            _ => before = Some(ms),
        }
    }
    before.map(drop).ok_or_else(|| "a trace needs a row".into())
}
