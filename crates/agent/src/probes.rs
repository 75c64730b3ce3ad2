//! Probes from the host's addresses, each over its own interface, and their answers.

use crate::handshakes::Handshakes;
use crate::kernel::{Address, Means};
use crate::pings::Pings;
use std::collections::HashMap;
use std::io::Result;
use std::net::{IpAddr, SocketAddr};

/// A socket for pings from each address, and handshakes that are under way.
#[derive(Default)]
pub struct Probes {
    pings: HashMap<IpAddr, (String, Pings)>,
    handshakes: Handshakes,
}

impl Probes {
    /// Sends one.
    ///
    /// # Errors
    /// It could not be sent: a right or a route is missing.
    pub fn send(&mut self, from: &Address, to: SocketAddr, means: Means, number: u16) -> Result<()> {
        if means == Means::Handshake {
            return self.handshakes.send(from, to, number);
        }
        // An interface that came back is another, also under its old name.
        let known = format!("{}#{}", from.interface, from.index);
        if self.pings.get(&from.address).is_none_or(|(interface, _)| *interface != known) {
            let pings = Pings::new(from.address, &from.interface)?;
            self.pings.insert(from.address, (known, pings));
        }
        let sent = self.pings[&from.address].1.send(to.ip(), number);
        if sent.is_err() {
            self.pings.remove(&from.address);
        }
        sent
    }

    /// Those that were answered since.
    pub fn answers(&mut self) -> Vec<(IpAddr, u16)> {
        let mut found = self.handshakes.answers();
        self.pings.retain(|&address, (_, pings)| match pings.answers() {
            Ok(numbers) => {
                found.extend(numbers.into_iter().map(|number| (address, number)));
                true
            }
            // It is opened anew for the next probe.
            Err(_) => false,
        });
        found
    }
}
