//! What can be set of elements of links and of policies of endpoints: declared once, beside the code that it sets.
//!
//! [`parameters!`] makes a struct of what can be set. Its documentation is the reference's, its kinds and defaults are
//! what validation holds a scenario to.

mod declare;
mod describe;
mod kind;
mod settings;
mod tables;

pub use describe::{Described, Description, Error, Fault, Parameter, Parameters, fault, known, named, read};
pub use kind::{Bytes, Count, Duration, Flag, Kind, Number, Packets, Rate, Ratio, Text, brief};
pub use serde_json::Value;
pub use settings::{Settable, Setting};
pub use tables::{Form, field};

/// What is set, by name, in base units.
pub type Table = serde_json::Map<String, Value>;
