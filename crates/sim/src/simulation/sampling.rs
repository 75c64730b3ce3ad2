//! Samples for the tables `state` and `queues`.

use super::Simulation;
use network::{CLIENT, SERVER};
use std::net::SocketAddr;

impl Simulation {
    pub(super) fn sample(&mut self) {
        let at = self.sink.records.deadline();
        self.network.catch_up(at, &mut self.sink);
        let routes = self.network.routes();
        let interfaces = self.nodes[CLIENT].host.interfaces();
        // What the server knows by its public address is known to the client by its own.
        let private = |public: SocketAddr| {
            let Some(path) = routes.path(public.ip()) else { return public };
            let addresses = &interfaces[path].addresses;
            let own = addresses.iter().find(|own| own.is_ipv4() == public.is_ipv4()).or(addresses.first());
            own.map_or(public, |own| SocketAddr::new(*own, public.port()))
        };
        for (index, name) in [(CLIENT, "client"), (SERVER, "server")] {
            if self.sink.records.samples(index) {
                self.sink.records.sample_host(at, name, &self.nodes[index].host, private);
            }
        }
        self.sink.records.sample_queues(at, self.network.links());
        self.sink.records.sampled();
    }
}
