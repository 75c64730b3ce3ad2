//! What a parameter's value may be, in the base unit of its kind.

use crate::{Fault, fault};
use serde_json::Value;

/// A kind of value: how it is read from a scenario and how documentation writes it.
pub trait Kind: Sized {
    /// The kind's name.
    const KIND: &'static str;
    /// Whether it may be left out or null.
    const OPTIONAL: bool = false;

    /// Reads a value.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(value: &Value) -> Result<Self, String>;

    /// Reads the value of the parameter `name`.
    ///
    /// # Errors
    /// What is wrong with it, and in which of its own parameters if it has some.
    fn read_as(name: &str, value: &Value) -> Result<Self, Fault> {
        Self::read(value).map_err(|message| fault(name, message))
    }

    /// What [`Kind::read`] would read again.
    fn value(&self) -> Value;
}

macro_rules! integers {
    ($($(#[doc = $doc:literal])* $name:ident($kind:literal, $unit:literal, $max:expr))*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl Kind for $name {
            const KIND: &'static str = $kind;

            fn read(value: &Value) -> Result<Self, String> {
                let whole = value.as_u64().or_else(|| {
                    // What another language wrote as a float may be whole all the same.
                    value.as_f64().filter(|x| *x >= 0.0 && *x <= 9e15 && x.trunc() == *x).map(|x| x as u64)
                });
                match whole {
                    Some(whole) if whole <= $max => Ok($name(whole)),
                    _ => Err(format!("{} is not a whole number of {} from 0 to {}", brief(value), $unit, $max)),
                }
            }

            fn value(&self) -> Value {
                self.0.into()
            }
        }
    )*};
}

integers! {
    /// Bits per second.
    Rate("rate", "bit/s", 1_000_000_000_000_u64)
    /// Nanoseconds.
    Duration("duration", "ns", 1_000_000_000_000_000_u64)
    /// Bytes.
    Bytes("bytes", "bytes", 1_000_000_000_000_u64)
    /// How many.
    Count("integer", "pieces", 1_000_000_000_u64)
    /// Packets.
    Packets("packets", "packets", 1_000_000_000_u64)
}

impl Duration {
    /// As times are reckoned.
    pub const fn nanos(self) -> i64 {
        self.0 as i64
    }
}

/// A part of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

impl Kind for Ratio {
    const KIND: &'static str = "ratio";

    fn read(value: &Value) -> Result<Self, String> {
        match value.as_f64() {
            Some(ratio) if (0.0..=1.0).contains(&ratio) => Ok(Ratio(ratio)),
            _ => Err(format!("{} is not a number from 0 to 1", brief(value))),
        }
    }

    fn value(&self) -> Value {
        self.0.into()
    }
}

/// A number.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl Kind for Number {
    const KIND: &'static str = "number";

    fn read(value: &Value) -> Result<Self, String> {
        value.as_f64().map(Number).ok_or_else(|| format!("{} is not a number", brief(value)))
    }

    fn value(&self) -> Value {
        self.0.into()
    }
}

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub String);

impl Kind for Text {
    const KIND: &'static str = "text";

    fn read(value: &Value) -> Result<Self, String> {
        value.as_str().map(|text| Text(text.into())).ok_or_else(|| format!("{} is not text", brief(value)))
    }

    fn value(&self) -> Value {
        self.0.as_str().into()
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

impl Kind for Flag {
    const KIND: &'static str = "flag";

    fn read(value: &Value) -> Result<Self, String> {
        value.as_bool().map(Flag).ok_or_else(|| format!("{} is neither true nor false", brief(value)))
    }

    fn value(&self) -> Value {
        self.0.into()
    }
}

impl<K: Kind> Kind for Option<K> {
    const KIND: &'static str = K::KIND;
    const OPTIONAL: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        if value.is_null() { Ok(None) } else { K::read(value).map(Some) }
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Null, K::value)
    }
}

/// The value for an error's text.
pub fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a table".into(),
        value => value.to_string().chars().take(40).collect(),
    }
}
