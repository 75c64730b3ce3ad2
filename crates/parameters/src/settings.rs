use crate::Table;
use serde_json::Value;
use std::net::IpAddr;
use std::num::NonZeroU32;
use wire::Direction;

/// One thing that can be set of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Setting {
    /// Its key in scenarios.
    pub name: &'static str,
    /// Where its value stands among all settings: a JSON pointer (RFC 6901).
    pub at: String,
    /// `rate` (bit/s), `duration` (ns), `bytes`, `packets`, `integer`, `number`, `flag`, `text`, `direction`, `parameters` or
    /// `choice`.
    pub kind: &'static str,
    /// Whether it may be off.
    pub optional: bool,
    /// Whether it must be given.
    pub required: bool,
    /// What it is when left out, where that is always the same; null: nothing, or what the era says.
    pub default: Value,
    /// The words of a choice.
    pub choices: &'static [&'static str],
    /// What it is held to, in its base unit: `above`, `least` or `most`, and what.
    pub bounds: &'static [(&'static str, u64)],
    /// What it means.
    pub doc: &'static str,
}

/// What a field's name may end with, and the kind that this makes it.
const UNITS: [(&str, &str); 4] =
    [("_ns", "duration"), ("_bytes", "bytes"), ("_packets", "packets"), ("_bits_per_second", "rate")];

impl Setting {
    /// What stands in the field of that name of this one.
    pub fn within(
        &self,
        field: &'static str,
        name: Option<&'static str>,
        bounds: &'static [(&'static str, u64)],
        doc: &'static str,
    ) -> Setting {
        let of_unit = |(unit, kind)| field.strip_suffix(unit).map(|name| (name, kind));
        let of_field = || UNITS.into_iter().find_map(of_unit).unwrap_or((field, ""));
        let (name, kind) = name.map_or_else(of_field, |name| (name, ""));
        let at = format!("{}/{field}", self.at);
        Setting { name, at, kind, bounds, doc, ..Setting::default() }
    }

    /// The same of that kind, unless its name has said another.
    fn of(self, kind: &'static str) -> Vec<Setting> {
        let kind = if self.kind.is_empty() { kind } else { self.kind };
        vec![Setting { kind, ..self }]
    }
}

/// What a setting may be, and what holds settings.
pub trait Settable {
    /// What there is to set, given what is known of the field that holds it.
    fn settings(own: Setting) -> Vec<Setting>;
}

macro_rules! settable {
    ($($type:ty: $kind:literal,)*) => {$(
        impl Settable for $type {
            fn settings(own: Setting) -> Vec<Setting> {
                own.of($kind)
            }
        }
    )*};
}

settable! {
    bool: "flag",
    u8: "integer",
    u16: "integer",
    u32: "integer",
    u64: "integer",
    i64: "integer",
    f64: "number",
    String: "text",
    Table: "parameters",
    Direction: "direction",
}

impl<T: Settable> Settable for Option<T> {
    fn settings(own: Setting) -> Vec<Setting> {
        T::settings(Setting { optional: true, ..own })
    }
}

/// No scenario sets a list: whoever makes the endpoint does.
impl<T> Settable for Vec<T> {
    fn settings(_: Setting) -> Vec<Setting> {
        Vec::new()
    }
}

/// No scenario sets an address: whoever resolves it chooses them.
impl Settable for IpAddr {
    fn settings(_: Setting) -> Vec<Setting> {
        Vec::new()
    }
}

/// No scenario sets such a number: benchmarks do.
impl Settable for NonZeroU32 {
    fn settings(_: Setting) -> Vec<Setting> {
        Vec::new()
    }
}

/// Declares settings: a struct of the types that its code works with, whose documentation is the reference's. A field whose name
/// ends with a unit is a quantity, and its key has no unit: that is part of the value there. `as` gives another key, of a plain
/// kind.
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])*
        pub struct $type:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident $(as $name:literal)?: $kind:ty = $default:expr $(; $bound:ident $limit:literal)*,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $type {
            $($(#[doc = $doc])* pub $field: $kind,)*
        }

        impl Default for $type {
            fn default() -> $type {
                $type { $($field: $default,)* }
            }
        }

        impl $crate::Settable for $type {
            fn settings(own: $crate::Setting) -> Vec<$crate::Setting> {
                let fields = [$(<$kind as $crate::Settable>::settings(own.within(
                    stringify!($field),
                    [$(Some($name),)? None][0],
                    &[$((stringify!($bound), $limit)),*],
                    concat!($($doc, "\n",)*).trim_ascii(),
                ))),*];
                fields.concat()
            }
        }
    };
}

/// Declares a choice between words.
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $about:literal])*
        pub enum $type:ident {
            $($(#[doc = $doc:literal])* $choice:ident = $word:literal,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[doc = $doc])* #[serde(rename = $word)] $choice,)*
        }

        impl $crate::Settable for $type {
            fn settings(own: $crate::Setting) -> Vec<$crate::Setting> {
                vec![$crate::Setting { kind: "choice", choices: &[$($word),*], ..own }]
            }
        }
    };
}
