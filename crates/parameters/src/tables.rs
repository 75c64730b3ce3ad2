//! Tables of a scenario whose keys an engine reads as they are: paths, transfers, events.

use crate::{Settable, Setting};
use serde::Serialize;
use serde_json::Value;

/// One of the forms that a table may have, by the word in its key for them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Form {
    /// The word.
    pub name: &'static str,
    /// What such a table is.
    pub summary: &'static str,
    /// What can be set in it.
    pub settings: Vec<Setting>,
}

/// The setting in a field of a table; one without a default must be given.
pub fn field<T: Settable + Serialize>(own: Setting, default: Option<T>) -> Vec<Setting> {
    let required = default.is_none();
    let default = default.map_or(Value::Null, |default| serde_json::to_value(default).expect("a plain value"));
    let known = |one: Setting| Setting { optional: false, required, default: default.clone(), ..one };
    T::settings(own).into_iter().map(known).collect()
}

/// Declares a table, or the forms of one that a key tells apart. Fields are declared as in [`settings!`](crate::settings!), but
/// those without a default must be given, and resolved scenarios give them all. Documentation is the reference's.
#[macro_export]
macro_rules! tables {
    (
        $(#[doc = $about:literal])*
        pub struct $type:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident $(as $name:literal)?: $kind:ty $(= $default:expr)? $(; $bound:ident $limit:literal)*,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $type {
            $($(#[doc = $doc])* pub $field: $kind,)*
        }

        impl $type {
            /// What can be set in it.
            pub fn settings() -> Vec<$crate::Setting> {
                $crate::tables!(@settings $($(#[doc = $doc])* $field $(as $name)?: $kind $(= $default)? $(; $bound $limit)*,)*)
            }
        }
    };
    (
        $(#[doc = $about:literal])*
        pub enum $type:ident by $key:literal {
            $(
                $(#[doc = $summary:literal])*
                $form:ident = $word:literal {
                    $(
                        $(#[doc = $doc:literal])*
                        $field:ident $(as $name:literal)?: $kind:ty $(= $default:expr)? $(; $bound:ident $limit:literal)*,
                    )*
                }
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(tag = $key, deny_unknown_fields)]
        pub enum $type {
            $(
                $(#[doc = $summary])*
                #[serde(rename = $word)]
                $form { $($(#[doc = $doc])* $field: $kind,)* },
            )*
        }

        impl $type {
            /// Its forms.
            pub fn forms() -> Vec<$crate::Form> {
                vec![$($crate::Form {
                    name: $word,
                    summary: concat!($($summary, "\n",)*).trim_ascii(),
                    settings: $crate::tables!(
                        @settings $($(#[doc = $doc])* $field $(as $name)?: $kind $(= $default)? $(; $bound $limit)*,)*
                    ),
                },)*]
            }
        }
    };
    (@settings $(
        $(#[doc = $doc:literal])*
        $field:ident $(as $name:literal)?: $kind:ty $(= $default:expr)? $(; $bound:ident $limit:literal)*,
    )*) => {
        [$($crate::field::<$kind>(
            $crate::Setting::default().within(
                stringify!($field),
                [$(Some($name),)? None][0],
                &[$((stringify!($bound), $limit)),*],
                concat!($($doc, "\n",)*).trim_ascii(),
            ),
            $crate::parameters!(@default $($default)?),
        )),*].concat()
    };
}
