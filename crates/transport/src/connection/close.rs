//! How connections end, and what happens when MPTCP cannot go on (RFC 8684 §3.3.3, §3.5, §3.7).

use super::open::reason;
use super::{Connection, Context, Mode, Signals};
use crate::endpoint::{Event, Outcome};
use crate::path_manager::{Closed, PathEvent};
use crate::subflow::{Received, State};
use wire::Time;

impl Connection {
    /// Whether MPTCP is spoken.
    pub(super) fn is_multipath(&self) -> bool {
        self.mode == Mode::Multipath
    }

    /// Nothing more will be written.
    pub fn finish(&mut self, now: Time, ctx: &mut Context) {
        self.send.close();
        self.settle(now, ctx);
    }

    /// Gives the connection up: MP_FASTCLOSE on every subflow's reset (RFC 8684 §3.5).
    pub fn abort(&mut self, now: Time, ctx: &mut Context) {
        self.aborted = true;
        self.end(Outcome::Aborted);
        self.settle(now, ctx);
    }

    /// The connection is over as `outcome` says, and with it all subflows.
    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.over.is_none() {
            self.over = Some(outcome);
            if outcome != Outcome::Complete {
                for entry in self.entries.iter_mut().filter(|entry| entry.tcp.state() != State::Closed) {
                    entry.tcp.abort();
                }
            }
        }
    }

    /// A reset came on subflow `i`.
    pub(super) fn was_reset(&mut self, now: Time, i: usize, signals: &Signals, ctx: &mut Context) {
        if signals.fast_close.is_some_and(|close| close.receiver_key == self.local_key) {
            self.end(Outcome::Failed(Closed::Reset));
        } else {
            let refused = self.entries[i].join.is_some() && !self.entries[i].confirmed;
            self.close_subflow(now, i, if refused { Closed::Refused } else { Closed::Reset }, ctx);
        }
        self.settle(now, ctx);
    }

    /// The peer's data ends, if a segment says so.
    pub(super) fn take_end(&mut self, _now: Time, i: usize, signals: &Signals, received: &Received) {
        if self.is_multipath() {
            if let Some(dss) = signals.dss.filter(|dss| dss.data_fin)
                && let Some(mapping) = dss.mapping
                && let Some(start) = self.receiving.place(mapping.data_seq, self.receive.next())
            {
                self.receive.end_at(start + u64::from(mapping.len.saturating_sub(1)));
                self.entries[i].tcp.acknowledge();
            }
            if received.finished {
                // The peer closes this subflow; with it goes our half.
                self.reinject(i, false);
                self.entries[i].tcp.close();
            }
        } else if received.finished && self.mode == Mode::Plain {
            self.receive.end_at(self.receive.next());
        }
    }

    /// Bytes in order that no mapping covers. A lone subflow goes on as TCP: options are stripped half-way. Others can
    /// do without this one.
    pub(super) fn unmapped(&mut self, i: usize) {
        if self.others_carry(i) {
            self.refuse(i, reason::MIDDLEBOX);
        } else {
            let entry = &mut self.entries[i];
            entry.mappings.continue_without(entry.delivered, self.receive.next());
        }
    }

    /// The checksum of the mapping at `place` is wrong (RFC 8684 §3.7).
    pub(super) fn broken(&mut self, i: usize, place: u64) {
        self.entries[i].failed = Some(self.receiving.number(place));
        if self.others_carry(i) {
            self.refuse(i, reason::MIDDLEBOX);
        } else {
            // What follows is no data until the peer says where it goes on.
            self.discarding = true;
            self.entries[i].tcp.acknowledge();
        }
    }

    /// The peer could not use what we sent: on a lone subflow both directions go on as TCP, from what is acknowledged.
    pub(super) fn peer_failed(&mut self, now: Time, i: usize, _data_seq: u64) {
        if self.others_carry(i) || self.entries[i].join.is_some() {
            return;
        }
        if !self.discarding {
            self.discarding = true;
            self.entries[i].failed = Some(self.receiving.number(self.receive.next()));
            self.entries[i].tcp.acknowledge();
        }
        let _ = now;
        self.send.rewind();
        let tcp = &self.entries[i].tcp;
        let from = tcp.next_offset() + tcp.queued_bytes();
        self.entries[i].infinite_from = Some(from);
        self.plain_base = (from, self.send.una());
        self.mode = Mode::Plain;
    }

    /// No more MPTCP from the very start: the peer, or the way to it, does not do it.
    pub(super) fn fall_back(&mut self, now: Time, i: usize) {
        self.mode = Mode::Plain;
        self.entries[i].mappings.continue_without(1, 0);
        self.with(i, |entry, control| entry.tcp.reserve_options(0, control));
        let _ = now;
    }

    /// Timers of the connection.
    pub(super) fn expire(&mut self, now: Time, ctx: &mut Context) {
        if self.timers.paths <= now {
            self.timers.paths = Time::MAX;
            self.tell_paths(now, PathEvent::Timer, ctx);
        }
        if self.timers.end <= now {
            self.timers.end = Time::MAX;
            self.send.end_lost();
        }
        if self.timers.stall <= now {
            self.timers.stall = Time::MAX;
            self.send.reinject_all();
        }
        if self.timers.schedule <= now {
            self.timers.schedule = Time::MAX;
        }
        if self.timers.lonely <= now {
            self.timers.lonely = Time::MAX;
            let reason = self.entries.iter().rev().find_map(|entry| entry.closed).unwrap_or(Closed::TimedOut);
            self.end(Outcome::Failed(reason));
        }
    }

    /// After anything that happened: what follows from it.
    pub(super) fn settle(&mut self, now: Time, ctx: &mut Context) {
        self.bury(now, ctx);
        if self.over.is_none() {
            self.finish_subflows();
            self.signal(now);
            self.watch(now, ctx);
            self.tell(ctx);
        }
        if let Some(outcome) = self.over
            && !self.told.over
        {
            self.told.over = true;
            ctx.events.push(Event::Closed(outcome));
        }
    }

    /// Subflows that ended.
    fn bury(&mut self, now: Time, ctx: &mut Context) {
        for i in 0..self.entries.len() {
            let entry = &self.entries[i];
            if entry.tcp.state() == State::Closed && !entry.buried {
                let reason = if entry.reset_reason.is_some() { Closed::Protocol } else { Closed::Finished };
                self.close_subflow(now, i, reason, ctx);
                self.entries[i].buried = true;
                self.gone.push(self.tuple(i));
            }
        }
    }

    /// TCP ends its directions when the data does (plain), or when both ends have all (RFC 8684 §3.3.3).
    fn finish_subflows(&mut self) {
        let done = match self.mode {
            Mode::Opening => false,
            Mode::Plain => self.send.end().is_some(),
            Mode::Multipath => self.send.delivered() && self.receive.finished(),
        };
        if !done {
            return;
        }
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_over()) {
            if entry.join.is_some() && !entry.tcp.is_established() {
                entry.tcp.abort();
            } else {
                entry.tcp.close();
            }
        }
        let quiet = |state| matches!(state, State::TimeWait | State::Closed);
        let finished = match self.mode {
            Mode::Plain => self.send.all_acknowledged() && self.receive.finished(),
            _ => true,
        };
        if finished && self.entries.iter().all(|entry| quiet(entry.tcp.state())) {
            self.over.get_or_insert(Outcome::Complete);
        }
    }

    /// Asks TCP for the ACKs that carry what MPTCP has to say.
    fn signal(&mut self, now: Time) {
        if !self.is_multipath() {
            return;
        }
        let end_alone = self.send.end_alone();
        if (end_alone || self.addresses.due(now))
            && let Some(i) = self.best()
        {
            self.entries[i].tcp.acknowledge();
            if end_alone {
                let patience = self.entries[i].tcp.rto_ns();
                self.timers.end = now + patience;
            }
        }
        if self.send.delivered() {
            self.timers.end = Time::MAX;
        } else if self.send.end().is_some() && self.timers.end == Time::MAX {
            let patience = self.best().map_or(1_000_000_000, |i| self.entries[i].tcp.rto_ns());
            self.timers.end = now + patience;
        }
    }

    /// Looks for a connection that cannot go on by itself.
    fn watch(&mut self, now: Time, ctx: &Context) {
        if !self.is_multipath() {
            return;
        }
        let alive = self.entries.iter().any(|entry| !entry.is_over());
        match (alive, self.timers.lonely) {
            (true, _) => self.timers.lonely = Time::MAX,
            (false, Time::MAX) => self.timers.lonely = now + ctx.config.mptcp.close_timeout_ns,
            _ => {}
        }
        let lacking = self.send.una() < self.send.next();
        let stalled = lacking && self.entries.iter().all(|entry| entry.is_over() || entry.tcp.all_acknowledged());
        match (stalled, self.timers.stall) {
            (false, _) => self.timers.stall = Time::MAX,
            (true, Time::MAX) => {
                let patience = self.best().map_or(1_000_000_000, |i| self.entries[i].tcp.rto_ns());
                self.timers.stall = now + patience;
            }
            _ => {}
        }
    }

    /// What the application should hear.
    fn tell(&mut self, ctx: &mut Context) {
        if self.told.wants_room && self.send.room() > 0 {
            self.told.wants_room = false;
            ctx.events.push(Event::Writable);
        }
        if !self.told.finished && self.receive.finished() {
            self.told.finished = true;
            ctx.events.push(Event::Finished);
        }
        let delivered = match self.mode {
            Mode::Plain => self.entries[0].tcp.fin_acknowledged() && self.send.all_acknowledged(),
            _ => self.send.delivered(),
        };
        if !self.told.delivered && delivered {
            self.told.delivered = true;
            ctx.events.push(Event::Delivered);
        }
    }
}
