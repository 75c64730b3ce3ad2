//! When a run is over, and how it ended.

use super::Simulation;
use crate::cross::Cross;
use crate::outcome::{self, Outcome};
use host::Host;
use network::{CLIENT, Link, SERVER};

impl Simulation {
    pub(super) fn is_over(&self) -> bool {
        let converts = || [CLIENT, SERVER].iter().any(|&node| self.nodes[node].host.converts() > 0);
        let [client, server] = self.ends();
        let all_closed = |host: &Host| host.closed() == host.progress().len();
        client.closed() > 0 && all_closed(client) && all_closed(server) && !converts()
    }

    /// Whether nothing is left to do for the applications.
    pub(super) fn is_done(&self) -> bool {
        let [client, server] = self.ends();
        let all_done = |host: &Host| host.done() == host.progress().len();
        client.done() > 0 && all_done(client) && all_done(server)
    }

    pub(super) fn end(&self, cut: Option<String>) -> Outcome {
        let [client, server] = self.ends();
        let failed = |closed| closed != transport::Outcome::Complete;
        let complete = |host: &Host| !host.progress().any(|(_, progress)| progress.closed.is_some_and(failed));
        let written = |host: &Host| host.progress().map(|(_, progress)| progress.written).sum::<u64>();
        let (bytes_up, bytes_down) = (outcome::read(server), outcome::read(client));
        let answered = self.network.links().iter().map(Link::answered);
        let [taken, given] = answered.fold([0, 0], |[up, down], one| [up + one[0], down + one[1]]);
        let all = written(client) == bytes_up + taken && written(server) + given == bytes_down;
        let finished = self.is_done() && complete(client) && complete(server) && all;
        let waiting = || outcome::waiting(client, server, self.scenario.transfer.direction());
        let reason = match cut {
            _ if finished && self.is_over() => "complete".into(),
            _ if finished => "complete, but for subflows that nobody answers".into(),
            None => waiting(),
            Some(cut) => format!("{cut}: {}", waiting()),
        };
        let virtual_ns = self.virtual_ns();
        let hosts = |cross: &Cross| [0, 1].map(|end| &self.nodes[cross.neighbour + end].host);
        let cross_traffic = self.crosses.iter().map(|cross| cross.crossed(hosts(cross), virtual_ns)).collect();
        let spent = outcome::spent(&self.nodes[CLIENT].host, self.start);
        Outcome { finished, reason, virtual_ns, packets: self.packets, bytes_up, bytes_down, cross_traffic, spent }
    }
}
