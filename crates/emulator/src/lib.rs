//! Real time: links between the devices of a Linux machine, and hosts of ours at its TUN devices.
//!
//! An [`Emulator`] moves packets between devices in network namespaces through the same [`network::Network`] as a simulation. A
//! [`Station`] runs a [`host::Host`] at [`Tun`] devices. A [`Clock`] never steps.
#![cfg(target_os = "linux")]

mod assembly;
mod clock;
pub mod device;
mod emulator;
mod error;
mod lateness;
mod link_thread;
mod namespace;
mod offload;
mod port_name;
mod recorder;
mod station;
mod threads;

pub use clock::Clock;
pub use device::Tun;
pub use emulator::{Emulator, Summary};
pub use error::Error;
pub use lateness::Lateness;
pub use link_thread::{Connection, LinkCounts, PortCounts};
pub use namespace::{Namespace, within};
pub use port_name::{Host, PortName};
pub use recorder::{Recording, Records};
pub use station::{Station, Tap};
