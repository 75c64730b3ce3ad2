//! What hosts do when the timeline changes something.

use super::Simulation;
use crate::Observer;
use network::{CLIENT, Event};
use scenario::{converters, hosts};
use transport::Nic;

impl Simulation {
    pub(super) fn carry_out(&mut self, event: Event, observer: &mut impl Observer) {
        match event {
            Event::Detached(path) => {
                self.nodes[CLIENT].host.detach(self.now, Nic(path as u32));
                self.pump(CLIENT, observer);
            }
            Event::Attached(path) => {
                self.nodes[CLIENT].host.attach(self.now, Nic(path as u32));
                self.open();
                self.pump(CLIENT, observer);
                self.pump(self.ends[0], observer);
            }
            Event::Heard(path, dbm) => {
                self.nodes[CLIENT].host.heard(self.now, Nic(path as u32), dbm);
                self.pump(CLIENT, observer);
            }
            Event::Replaced(_) => {}
            Event::TransferStarted => {
                self.open();
                self.pump(self.ends[0], observer);
            }
            Event::Started(traffic) => {
                let cross = &self.crosses[traffic];
                let neighbour = cross.neighbour;
                cross.start(traffic, &mut self.nodes[neighbour].host, self.now);
                self.pump(neighbour, observer);
            }
            Event::Stopped(traffic) => {
                let neighbour = self.crosses[traffic].neighbour;
                for host in [neighbour, neighbour + 1] {
                    self.nodes[host].host.abort_all(self.now);
                    self.pump(host, observer);
                }
            }
        }
    }

    /// Opens the connections over the first path that is there, backups last, unless they are open.
    pub(super) fn open(&mut self) {
        let [client, _] = self.ends;
        if client == CLIENT {
            hosts::open(&self.scenario, &mut self.nodes[CLIENT].host, self.now);
        } else if self.nodes[client].host.progress().len() == 0
            && hosts::path(&self.scenario, &self.nodes[CLIENT].host).is_some()
        {
            converters::open(&self.scenario, &mut self.nodes[client].host, self.now);
        }
    }
}
