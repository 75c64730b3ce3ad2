//! A host: interfaces, endpoint, applications, taps.
//!
//! A [`Host`] is driven by the same verbs as its endpoint: [`handle`](Host::handle) a packet,
//! [`transmit`](Host::transmit) the next one, ask its [`deadline`](Host::deadline), tell it that a
//! [`timeout`](Host::timeout) came. It answers pings, counts datagrams, and gives TCP to its
//! [`transport::Endpoint`], whose connections [`applications`] serve.

pub mod applications;
mod converter;
mod datagrams;
mod echo;
mod interface;
mod probes;
mod state;
mod tap;
mod ticks;

pub use applications::{Application, Progress, Stream};
pub use converter::Converting;
pub use datagrams::{Datagrams, Source};
pub use interface::Interface;
pub use state::{Decided, Host, Reception, Service, Spent, blank};
pub use tap::Tap;
pub(crate) use ticks::Ticks;
pub use transport::Deadlines;
