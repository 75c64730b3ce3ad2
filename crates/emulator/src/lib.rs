//! Real time: hosts of ours at the TUN devices of a Linux machine, whose kernel stands at the other end.
//!
//! A [`Tun`] carries IP packets one by one, a [`Clock`] never steps, and a [`Station`] runs a [`host::Host`] between
//! them: it sleeps until a packet or the host's deadline comes.
#![cfg(target_os = "linux")]

mod clock;
mod error;
mod station;
mod tun;

pub use clock::Clock;
pub use error::Error;
pub use station::{Station, Tap};
pub use tun::Tun;
