//! A kind of parameter that only links have, beside those of all.

use parameters::{Kind, Value, brief};

pub use parameters::{Bytes, Count, Duration, Flag, Number, Packets, Rate, Ratio, Text};

/// Milliseconds at which 1500 bytes may leave, in order, repeated after the last: Mahimahi's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace(pub Vec<u64>);

impl Kind for Trace {
    const KIND: &'static str = "trace";

    fn read(value: &Value) -> Result<Self, String> {
        let list = value.as_array().ok_or_else(|| format!("{} is no list of milliseconds", brief(value)))?;
        let times: Option<Vec<u64>> = list.iter().map(Value::as_u64).collect();
        let times = times.ok_or("a trace holds whole milliseconds only")?;
        crate::trace::check(&times).map_err(|error| error.to_string())?;
        Ok(Trace(times))
    }

    fn value(&self) -> Value {
        self.0.clone().into()
    }
}
