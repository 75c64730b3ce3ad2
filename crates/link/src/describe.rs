use crate::parameter::{Kind, brief};
use serde_json::{Map, Value};

/// An element or a queue: what documentation says of it and validation holds it to.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// What can be set.
    pub parameters: Vec<Parameter>,
}

/// One thing that can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in scenarios.
    pub name: &'static str,
    /// `rate` (bit/s), `duration` (ns), `bytes`, `packets`, `ratio` (0 to 1), `number`, `text`, `flag`, `trace` or
    /// `queue`.
    pub kind: &'static str,
    /// What it is when left out; null: nothing.
    pub default: Value,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub doc: &'static str,
}

/// Why no element can be made of a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No table with a name in it.
    #[error("{value} is no {what}: a table with the key `{what}` is needed")]
    Shape {
        /// Element or queue.
        what: &'static str,
        /// What is there instead.
        value: String,
    },
    /// Nothing has that name.
    #[error("there is no {what} `{name}`, only {known}")]
    Unknown {
        /// Element or queue.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A parameter is missing, unknown or wrong.
    #[error("element `{element}`, parameter `{parameter}`: {message}")]
    Parameter {
        /// The element's name.
        element: String,
        /// The parameter's name.
        parameter: String,
        /// What is wrong.
        message: String,
    },
}

/// A parameter and what is wrong with it.
pub(crate) type Fault = (String, String);

/// A fault of a parameter.
pub(crate) fn fault(parameter: &str, message: impl Into<String>) -> Fault {
    (parameter.into(), message.into())
}

/// Parameters of an element or a queue, made by `parameters!`.
pub(crate) trait Parameters: Sized {
    /// Name, summary, parameters.
    fn description() -> Description;

    /// Reads them from a table whose key `own` holds the name.
    fn read(table: &Map<String, Value>, own: &str) -> Result<Self, Fault>;
}

/// Reads one parameter.
pub(crate) fn read<K: Kind>(table: &Map<String, Value>, name: &str, default: Option<K>) -> Result<K, Fault> {
    match (table.get(name), default) {
        (None, Some(default)) => Ok(default),
        (Some(Value::Null), Some(default)) if !K::OPTIONAL => Ok(default),
        (None, None) => Err(fault(name, "is missing")),
        (Some(value), _) => K::read(value).map_err(|message| fault(name, message)),
    }
}

/// Refuses keys that are no parameters.
pub(crate) fn known(table: &Map<String, Value>, own: &str, names: &[&str]) -> Result<(), Fault> {
    match table.keys().find(|key| *key != own && !names.contains(&key.as_str())) {
        Some(key) => Err(fault(key, format!("is unknown, there is only {}", names.join(", ")))),
        None => Ok(()),
    }
}

/// The table and the name in its key `what`.
pub(crate) fn named<'a>(value: &'a Value, what: &'static str) -> Result<(&'a Map<String, Value>, &'a str), Error> {
    let named = value.as_object().and_then(|table| Some((table, table.get(what)?.as_str()?)));
    named.ok_or_else(|| Error::Shape { what, value: brief(value) })
}

/// Declares parameters: a struct whose documentation is the reference of the element. A parameter without a default
/// must be given.
macro_rules! parameters {
    (
        $(#[doc = $about:literal])*
        $name:literal
        struct $type:ident {
            $($(#[doc = $doc:literal])* $field:ident: $kind:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug)]
        pub(crate) struct $type {
            $($(#[doc = $doc])* pub $field: $kind,)*
        }

        impl crate::describe::Parameters for $type {
            fn description() -> crate::Description {
                use crate::parameter::Kind;
                $(let $field: Option<$kind> = crate::describe::default!($($default)?);)*
                crate::Description {
                    name: $name,
                    summary: concat!($($about, "\n",)*).trim_ascii(),
                    parameters: vec![$(crate::Parameter {
                        name: stringify!($field),
                        kind: <$kind>::KIND,
                        required: $field.is_none(),
                        default: $field.map_or(serde_json::Value::Null, |default| default.value()),
                        doc: concat!($($doc, "\n",)*).trim_ascii(),
                    },)*],
                }
            }

            fn read(
                table: &serde_json::Map<String, serde_json::Value>,
                own: &str,
            ) -> Result<Self, crate::describe::Fault> {
                crate::describe::known(table, own, &[$(stringify!($field)),*])?;
                Ok($type {
                    $($field: crate::describe::read(
                        table,
                        stringify!($field),
                        crate::describe::default!($($default)?),
                    )?,)*
                })
            }
        }
    };
}
pub(crate) use parameters;

/// The default, if there is one.
macro_rules! default {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}
pub(crate) use default;
