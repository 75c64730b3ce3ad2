//! What happens to links and paths at given times.

use super::Lane;
use link::{Change, Element};
use scenario::{Action, Owner};
use wire::Time;

impl Lane {
    /// Before anything moves: paths whose interface is not there yet, and what happens at the very start.
    pub fn begin(&mut self, attached: &[bool]) {
        self.now = self.clock.now();
        for (path, _) in attached.iter().enumerate().filter(|(_, attached)| !**attached) {
            self.change(path, Change::Detach);
        }
        self.act();
    }

    /// Does what is due.
    pub fn act(&mut self) {
        while self.timeline.front().is_some_and(|(at, _)| *at <= self.now)
            && let Some((at, action)) = self.timeline.pop_front()
        {
            self.carry_out(at, action);
            self.work_off();
        }
    }

    fn carry_out(&mut self, at: Time, action: Action) {
        match action {
            Action::Blackout(path) => self.change(path, Change::Blackout),
            Action::Hold(path) => self.change(path, Change::Hold),
            Action::Restore(path) => self.change(path, Change::Restore),
            // The interface itself is the host's.
            Action::Detach(path) => self.change(path, Change::Detach),
            Action::Attach(path) => self.change(path, Change::Attach),
            Action::Rebind(path, address) => {
                // An address that another has already stays that other's: what is sent to it goes there.
                let _ = self.routes.add(address, Owner::Path(path));
                self.change(path, Change::Rebind(address));
            }
            Action::Profile(place, new) => {
                let Some(old) = &mut self.links[place] else { return };
                // Processes of the new elements began when they were due to.
                let now = self.now.max(at);
                let change = Change::Profile(Box::new(new.chain));
                old.chain.change(now, change, &mut self.out).expect("chains take profiles");
                old.elements = new.elements;
                self.leave(place);
            }
            // Cross traffic is the hosts'.
            Action::Start(_) | Action::Stop(_) => {}
        }
    }

    fn change(&mut self, place: usize, change: Change) {
        if let Some(chain) = self.paths[place].as_mut().and_then(|path| path.chain.as_mut()) {
            chain.change(self.now, change, &mut self.out).expect("paths have a gate and a translator");
            self.leave_path(place);
        }
    }
}
