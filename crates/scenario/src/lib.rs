//! What a resolved scenario says, and what it asks for: the same for every engine.
//!
//! A [`Scenario`] is read from JSON. [`Network`] is what it has between the hosts, [`Timeline`] what happens to it when, and
//! [`applications`] and [`hosts`]
//! give who runs at either end.

pub mod applications;
mod check;
mod error;
pub mod form;
pub mod hosts;
mod network;
mod starts;
mod timeline;

pub use error::Error;
pub use form::Scenario;
pub use network::{CLIENT, Link, Network, Owner, Path, Routes, SERVER};
pub use starts::starts;
pub use timeline::{Action, Timeline};
