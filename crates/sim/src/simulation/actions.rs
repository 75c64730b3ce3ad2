//! What the timeline does.

use super::Simulation;
use crate::Observer;
use link::{Change, Element};
use network::{Action, CLIENT, Owner};
use scenario::hosts;
use transport::Nic;

impl Simulation {
    /// What the timeline says.
    pub(super) fn act(&mut self, observer: &mut impl Observer) {
        while let Some(action) = self.timeline.next(self.now) {
            match action {
                Action::Blackout(path) => self.change(path, Change::Blackout),
                Action::Hold(path) => self.change(path, Change::Hold),
                Action::Restore(path) => self.change(path, Change::Restore),
                Action::Rebind(path, address) => {
                    // An address that another has already stays that other's: what is sent to it goes there.
                    let _ = self.network.routes.add(address, Owner::Path(path));
                    self.change(path, Change::Rebind(address));
                }
                Action::Detach(path) => {
                    self.nodes[CLIENT].host.detach(self.now, Nic(path as u32));
                    self.change(path, Change::Detach);
                    self.pump(CLIENT, observer);
                }
                Action::Attach(path) => {
                    self.change(path, Change::Attach);
                    self.nodes[CLIENT].host.attach(self.now, Nic(path as u32));
                    self.open();
                    self.pump(CLIENT, observer);
                }
                Action::Profile(link, new) => {
                    let old = &mut self.network.links[link];
                    let change = Change::Profile(Box::new(new.chain));
                    old.chain.change(self.now, change, &mut self.out).expect("chains take profiles");
                    old.elements = new.elements;
                    self.leave(link);
                }
                Action::Start(number) => {
                    let cross = &self.crosses[number];
                    let neighbour = cross.neighbour;
                    cross.start(number, &mut self.nodes[neighbour].host, self.now);
                    self.pump(neighbour, observer);
                }
                Action::Stop(number) => {
                    let neighbour = self.crosses[number].neighbour;
                    for place in [neighbour, neighbour + 1] {
                        self.nodes[place].host.abort_all(self.now);
                        self.pump(place, observer);
                    }
                }
            }
        }
        self.deadlines[0] = self.timeline.deadline();
    }

    pub(super) fn change(&mut self, path: usize, change: Change) {
        if let Some(chain) = &mut self.network.paths[path].chain {
            chain.change(self.now, change, &mut self.out).expect("paths have a gate and a translator");
            self.leave_path(path);
        }
    }

    /// Opens the connections over the first path that is there, backups last, unless they are open.
    pub(super) fn open(&mut self) {
        hosts::open(&self.scenario, &mut self.nodes[CLIENT].host, self.now);
    }
}
