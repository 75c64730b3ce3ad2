//! What happens to links and paths at given times.

use super::Lane;
use link::{Change, Element};
use network::{Action, CLIENT, Owner};

impl Lane {
    /// Does what is due.
    pub fn act(&mut self) {
        while self.timeline.front().is_some_and(|(at, _)| *at <= self.now)
            && let Some((_, action)) = self.timeline.pop_front()
        {
            self.carry_out(action);
            self.work_off();
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Blackout(path) => self.change(path, Change::Blackout),
            Action::Hold(path) => self.change(path, Change::Hold),
            Action::Restore(path) => self.change(path, Change::Restore),
            // An interface of the kernel is its host's; one of ours is here.
            Action::Detach(path) => {
                if let Some(client) = &mut self.residents[CLIENT] {
                    client.detach(self.now, path);
                }
                self.change(path, Change::Detach);
                self.pump(CLIENT);
            }
            Action::Attach(path) => {
                self.change(path, Change::Attach);
                if let Some(client) = &mut self.residents[CLIENT] {
                    client.attach(self.now, path);
                }
                self.pump(CLIENT);
            }
            Action::Rebind(path, address) => {
                // An address that another has already stays that other's: what is sent to it goes there.
                let _ = self.routes.add(address, Owner::Path(path));
                self.change(path, Change::Rebind(address));
            }
            Action::Profile(place, new) => {
                let old = &mut self.lines[place].as_mut().expect("actions stay in their lane").link;
                let change = Change::Profile(Box::new(new.chain));
                old.chain.change(self.now, change, &mut self.out).expect("chains take profiles");
                old.elements = new.elements;
                self.keep_pace();
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
