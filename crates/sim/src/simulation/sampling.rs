//! Samples for the tables `state` and `queues`.

use super::Simulation;
use link::Element;
use network::{CLIENT, Owner, SERVER};
use std::net::SocketAddr;
use wire::Time;

impl Simulation {
    /// Links do what is to be done within them up to a time at which nothing leaves them.
    pub(super) fn catch_up(&mut self, at: Time) {
        for link in 0..self.network.links.len() {
            self.network.links[link].chain.wake(at, &mut self.out);
            self.leave(link);
        }
    }

    pub(super) fn sample(&mut self) {
        let at = self.records.deadline();
        self.catch_up(at);
        let network = &self.network;
        let interfaces = self.nodes[CLIENT].host.interfaces();
        // What the server knows by its public address is known to the client by its own.
        let private = |public: SocketAddr| {
            let Some(Owner::Path(path)) = network.routes.find(public.ip()) else { return public };
            let addresses = interfaces[path].addresses.iter();
            let own = addresses.copied().find(|own| own.is_ipv4() == public.is_ipv4());
            own.map_or(public, |own| SocketAddr::new(own, public.port()))
        };
        for (place, name) in [(CLIENT, "client"), (SERVER, "server")] {
            if self.records.samples(place) {
                self.records.sample_host(at, name, &self.nodes[place].host, private);
            }
        }
        self.records.sample_queues(at, &network.links);
        self.records.sampled();
    }
}
