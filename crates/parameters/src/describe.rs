use crate::{Kind, Table, brief};
use serde_json::Value;

/// An element, a queue or a policy: what documentation says of it and validation holds it to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Description {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// What can be set.
    pub parameters: Vec<Parameter>,
}

/// One thing that can be set.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Parameter {
    /// Its name in scenarios.
    pub name: &'static str,
    /// `rate` (bit/s), `duration` (ns), `bytes`, `packets`, `integer`, `ratio` (0 to 1), `number`, `text`, `flag`, `trace` or
    /// `queue`.
    pub kind: &'static str,
    /// What it is when left out; null: nothing.
    pub default: Value,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub doc: &'static str,
}

/// Why nothing can be made of a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No table with a name in it.
    #[error("{value} is not a valid {what}: a table with the key `{what}` is needed")]
    Shape {
        /// Element or queue.
        what: &'static str,
        /// What is there instead.
        value: String,
    },
    /// Nothing has that name.
    #[error("there is no {what} `{name}`, only {known}")]
    Unknown {
        /// Element, queue, or which kind of policy.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A parameter is missing, unknown or wrong.
    #[error("{what} `{name}`, {fault}")]
    Parameter {
        /// Element, queue, or which kind of policy.
        what: &'static str,
        /// Its name.
        name: String,
        /// Which parameter, and why.
        fault: Fault,
    },
}

/// A parameter and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter `{parameter}`: {}{message}", within.as_ref().map(|name| format!("`{name}` ")).unwrap_or_default())]
pub struct Fault {
    /// The parameter's name.
    pub parameter: String,
    /// Where its value has parameters of its own: which of them.
    pub within: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// A fault of a parameter.
pub fn fault(parameter: &str, message: impl Into<String>) -> Fault {
    Fault { parameter: parameter.into(), within: None, message: message.into() }
}

/// Parameters, made by [`parameters!`](crate::parameters!).
pub trait Parameters: Sized {
    /// What there is to set.
    fn parameters() -> Vec<Parameter>;

    /// Reads them from a table, in which the key `own` holds the name of what they belong to.
    ///
    /// # Errors
    /// The parameter that is missing, unknown or wrong.
    fn read(table: &Table, own: Option<&str>) -> Result<Self, Fault>;
}

/// Of what has nothing to set.
impl Parameters for () {
    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn read(table: &Table, own: Option<&str>) -> Result<Self, Fault> {
        known(table, own, &[])
    }
}

/// Parameters of an element or a queue, which have its name.
pub trait Described: Parameters {
    /// Its name in scenarios.
    const NAME: &'static str;
    /// What it is.
    const SUMMARY: &'static str;

    /// Name, summary, parameters.
    fn description() -> Description {
        Description { name: Self::NAME, summary: Self::SUMMARY, parameters: Self::parameters() }
    }
}

/// Reads one parameter.
///
/// # Errors
/// Where it is missing and has no default, or is wrong.
pub fn read<K: Kind>(table: &Table, name: &str, default: Option<K>) -> Result<K, Fault> {
    match (table.get(name), default) {
        (None, Some(default)) => Ok(default),
        (Some(Value::Null), Some(default)) if !K::OPTIONAL => Ok(default),
        (None, None) => Err(fault(name, "is missing")),
        (Some(value), _) => K::read_as(name, value),
    }
}

/// Refuses keys that are no parameters.
///
/// # Errors
/// The first of them.
pub fn known(table: &Table, own: Option<&str>, names: &[&str]) -> Result<(), Fault> {
    match table.keys().find(|key| Some(key.as_str()) != own && !names.contains(&key.as_str())) {
        Some(key) if names.is_empty() => Err(fault(key, "is unknown: there are no parameters")),
        Some(key) => Err(fault(key, format!("is unknown; known: {}", names.join(", ")))),
        None => Ok(()),
    }
}

/// The table and the name in its key `what`.
///
/// # Errors
/// [`Error::Shape`]
pub fn named<'a>(value: &'a Value, what: &'static str) -> Result<(&'a Table, &'a str), Error> {
    let named = value.as_object().and_then(|table| Some((table, table.get(what)?.as_str()?)));
    named.ok_or_else(|| Error::Shape { what, value: brief(value) })
}
