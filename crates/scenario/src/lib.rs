//! What a resolved scenario says, and the hosts that it asks for: the same for every engine.
//!
//! A [`Scenario`] is read from JSON; [`applications`] and [`hosts`] give who runs at either end.

pub mod applications;
pub mod converters;
mod error;
pub mod form;
pub mod hosts;
mod read;
mod starts;

pub use error::{Error, Key};
pub use form::Scenario;
pub use starts::{starts, transfer_start};
