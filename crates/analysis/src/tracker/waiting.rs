//! Flows wait until it is certain which connection they belong to, and are attached to it.

use super::connection::Connection;
use super::flows::{Flow, Key, Why, direction};
use super::one_way::OneWay;
use super::pending::{Decision, Pending};
use super::subflow::Kind as SubflowKind;
use super::{Tracker, site_of};
use tables::Direction;
use wire::Observation;

/// Flows that wait to be understood at most, and those that have rows although nothing came of them, of each kind.
const MOST_WAITING: usize = 1 << 16;
const MOST_LONE: usize = 4096;

impl Tracker {
    pub(super) fn wait(&mut self, key: Key, from_low: bool, observation: &Observation) {
        let index = self.free_pending.pop().unwrap_or_else(|| {
            self.pending.push(None);
            (self.pending.len() - 1) as u32
        });
        self.pending[index as usize] = Some(Pending::new(key, from_low));
        self.flows.insert(key, Flow::Waiting { pending: index });
        self.waiting.push_back((index, key));
        if self.waiting.len() > MOST_WAITING {
            self.wait_no_more();
        }
        self.wait_on(index, from_low, observation);
    }

    pub(super) fn wait_on(&mut self, index: u32, from_low: bool, observation: &Observation) {
        let pending = self.pending[index as usize].as_mut().expect("waiting");
        if pending.is_reopened_by(from_low, observation) {
            let (key, old) = (pending.key, self.release(index));
            self.settle(old);
            self.abandon(key, observation.at);
            self.wait(key, from_low, observation);
            return;
        }
        pending.push(from_low, observation);
        let pending = self.pending[index as usize].as_ref().expect("waiting");
        let several_sites = self.several_points.len() > 1;
        match pending.decide(&self.known, &self.connections) {
            Decision::Wait => {}
            // Of a flood there may be many: first it is to be seen whether something comes of it.
            decision if pending.is_unanswered() && self.adds_row(&decision) => {}
            decision if several_sites && pending.is_early(&decision, &self.connections) => {}
            decision => {
                let pending = self.release(index);
                let (key, answer) = (pending.key, pending.answer());
                if !self.attach_some(pending, decision) {
                    self.remember(key, (observation.at, Why::Counted), answer);
                }
            }
        }
    }

    /// Decides on the flow that has waited longest, if it still does.
    fn wait_no_more(&mut self) {
        let Some((index, key)) = self.waiting.pop_front() else { return };
        if self.pending[index as usize].as_ref().is_some_and(|pending| pending.key == key) {
            let pending = self.release(index);
            self.settle(pending);
        }
    }

    fn release(&mut self, index: u32) -> Pending {
        self.free_pending.push(index);
        self.pending[index as usize].take().expect("waiting")
    }

    /// Decides with what there is. One of which nothing came is over then.
    pub(super) fn settle(&mut self, pending: Pending) {
        let (key, at, is_lone) = (pending.key, pending.first().at, pending.lone().is_some());
        let decision = self.decided(&pending);
        // Joins that ask may name a connection that others name, too.
        let is_over = is_lone && pending.nonce().is_none() && matches!(decision, Decision::New(_));
        if !self.attach_some(pending, decision) {
            self.flows.remove(&key);
        } else if is_over && let Some(Flow::Live { connection: index, .. }) = self.flows.get(&key) {
            let connection = self.take(index, at);
            // The capture may say which way SYNs went.
            self.hosts.add(&connection.subflows);
            self.report(*connection);
        }
    }

    pub(super) fn decided(&self, pending: &Pending) -> Decision {
        match pending.decide(&self.known, &self.connections) {
            Decision::Wait => pending.give_up(&self.known, &self.connections),
            decision => decision,
        }
    }

    /// Attaches a flow, or counts it. Of a port scan, or a flood, there are many of which nothing came: the first of a kind have rows.
    pub(super) fn attach_some(&mut self, pending: Pending, decision: Decision) -> bool {
        if let Some(lone) = pending.lone().filter(|_| self.adds_row(&decision)) {
            let rows = &mut self.lone[lone as usize];
            if *rows == MOST_LONE {
                self.ignored.entry(pending.key.site).or_default().lone[lone as usize] += 1;
                return false;
            }
            *rows += 1;
        }
        self.attach(pending, decision);
        true
    }

    /// Whether a flow gets rows of its own, rather than as a subflow of a connection of which more was seen than joins.
    fn adds_row(&self, decision: &Decision) -> bool {
        match decision {
            Decision::New(_) => true,
            Decision::Join { connection, subflow: None, .. } => {
                let connection = self.connections[*connection as usize].as_ref().expect("known");
                connection.subflows.iter().all(|subflow| subflow.kind == SubflowKind::Join)
            }
            _ => false,
        }
    }

    /// Gives a flow its connection and subflow, and them its packets.
    fn attach(&mut self, pending: Pending, decision: Decision) {
        let first = pending.first();
        let (index, subflow, client_is_low) = match decision {
            Decision::Wait => return,
            Decision::New(opening) => {
                let index = self.insert(Connection::new(first, opening.version, opening.midway));
                let connection = self.connections[index as usize].as_mut().expect("new");
                connection.fallback = opening.fallback;
                connection.unknown = opening.unknown;
                connection.one_way =
                    (self.several_points.len() > 1).then(|| Box::new(OneWay::new(self.options.one_clock)));
                connection.tokens[Direction::Down as usize] = opening.server_token;
                let subflow = connection.add_subflow(Pending::subflow(opening.kind, opening.opener), pending.nonce());
                (index, subflow, opening.client_is_low)
            }
            Decision::Join { connection: index, subflow, client_is_low, opener, kind } => {
                let connection = self.connections[index as usize].as_mut().expect("known");
                if let Some(why) = pending.refusal().filter(|_| kind == SubflowKind::Initial) {
                    self.known.forget(index, connection);
                    connection.was_refused(why);
                }
                let subflow =
                    subflow.unwrap_or_else(|| connection.add_subflow(Pending::subflow(kind, opener), pending.nonce()));
                (index, subflow, client_is_low)
            }
        };
        let connection = self.connections[index as usize].as_mut().expect("known");
        let near = pending.near_side(client_is_low);
        let end = connection.end_of_site(pending.key.site, subflow, near);
        connection.open_end(end, &self.options, first);
        if let Some(other) =
            connection.subflows[subflow].views[end].as_ref().map(|view| site_of(&self.points, view.first.point))
            && other != pending.key.site
            && connection.subflows[subflow].views[1 - end].is_none()
            && !connection.is_placed(pending.key.site)
            && !connection.is_placed(other)
        {
            // Another capture, seen first, was taken to stand here; this subflow shows that it stands at the other end.
            connection.turn(subflow, end, other, &self.options);
            for key in self.keys[index as usize].iter().filter(|key| key.site == other) {
                if let Some(Flow::Live { connection, subflow: s, end: e, low_is_client }) = self.flows.get(key)
                    && s as usize == subflow
                {
                    self.flows.insert(*key, Flow::Live { connection, subflow: s, end: 1 - e, low_is_client });
                }
            }
        }
        if connection.subflows[subflow].views[end].is_some() {
            // The same subflow once more at the same end: a copy that a NAT or bridge on the host made, or another capture.
            let site =
                connection.subflows[subflow].views[end].as_ref().map(|view| site_of(&self.points, view.first.point));
            connection.subflows[subflow].copies += 1;
            connection.same_end |= site != Some(pending.key.site);
            self.flows.insert(pending.key, Flow::Gone { since: first.at, why: Why::Copy, answer: None });
            self.ignored.entry(pending.key.site).or_default().copies += pending.len();
            self.gone.push_back((first.at, pending.key));
            return;
        }
        connection.add_view(subflow, (pending.key.site, end), first, pending.addresses(client_is_low));
        self.known.add(index, connection, pending.names(client_is_low));
        self.keys[index as usize].push(pending.key);
        self.flows.insert(
            pending.key,
            Flow::Live { connection: index, subflow: subflow as u32, end: end as u8, low_is_client: client_is_low },
        );
        for (from_low, observation) in pending.into_packets() {
            self.deliver(index, subflow, end, direction(from_low == client_is_low), &observation);
        }
    }
}
