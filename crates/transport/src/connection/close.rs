//! How connections end (RFC 8684 §3.3.3, §3.5), and what follows from all that happens.

use super::open::reason;
use super::{Connection, Mode, Signals, Timers, each_of};
use crate::context::Context;
use crate::endpoint::{Event, Outcome};
use crate::path_manager::Closed;
use crate::subflow::{Received, State};
use wire::Time;

/// Where no subflow tells how long answers take (RFC 6298 §2.1).
const UNKNOWN_PATIENCE_NS: i64 = 1_000_000_000;

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
    #[cold]
    #[inline(never)]
    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.over.is_none() {
            self.over = Some(outcome);
            self.timers = Timers::NONE;
            self.retransmission.stop();
            self.scheduling.begin();
            let complete = outcome == Outcome::Complete;
            debug_assert!(
                !complete || self.send.is_empty() && self.receive.out_of_order() == 0,
                "something is left over"
            );
            for entry in &mut self.entries {
                if entry.tcp.state() != State::Closed && (!complete || entry.closed.is_some()) {
                    entry.tcp.abort();
                }
            }
        }
    }

    /// A reset came on subflow `i`.
    #[cold]
    #[inline(never)]
    pub(super) fn was_reset(&mut self, now: Time, i: usize, signals: &Signals, ctx: &mut Context) {
        if signals.fast_close().is_some_and(|close| close.receiver_key == self.agreed.local_key()) {
            self.end(Outcome::Failed(Closed::Reset));
        } else {
            let refused = self.entries[i].join.is_some() && !self.entries[i].confirmed;
            self.close_subflow(now, i, if refused { Closed::Refused } else { Closed::Reset }, ctx);
        }
        self.settle(now, ctx);
    }

    /// The peer's data ends, or a subflow, as a segment says.
    #[cold]
    #[inline(never)]
    pub(super) fn take_end(&mut self, i: usize, signals: &Signals, received: &Received) {
        if self.is_multipath() {
            if let Some(dss) = signals.dss().filter(|dss| dss.data_fin)
                && let Some(mapping) = dss.mapping
                && let Some(start) = self.agreed.receiving().data_offset(mapping.data_seq, self.receive.next())
            {
                self.receive.end_at(start + u64::from(mapping.len.saturating_sub(1)));
                self.entries[i].tcp.acknowledge();
            }
            if received.finished && !self.entries[i].is_over() {
                // The peer closes this subflow; with it goes our half.
                self.reinject(i, false);
                self.entries[i].tcp.close();
            }
        } else if received.finished && self.mode == Mode::Plain {
            if i != self.fallback.subflow() {
                return;
            }
            let skipped = self.entries[i].delivered != self.receive.next() + 1;
            if self.fallback.is_discarding() && skipped && !self.receive.finished() {
                // What was not understood is lost, and this would hide it.
                self.refuse(i, reason::MIDDLEBOX);
                return self.end(Outcome::Failed(Closed::Protocol));
            }
            self.receive.end_at(self.receive.next());
        }
    }

    /// Timers of the connection.
    pub(super) fn expire(&mut self, now: Time, ctx: &mut Context) {
        if self.timers.paths <= now {
            self.timers.paths = Time::MAX;
            self.tell_time(now, ctx);
        }
        if self.timers.end <= now {
            self.timers.end = Time::MAX;
            self.tell_end_again(ctx);
        }
        if self.timers.stall <= now {
            self.timers.stall = Time::MAX;
            self.fallback.diverge();
            self.send.reinject_all();
        }
        if self.retransmission.deadline() <= now {
            self.retransmit(now);
        }
        if self.scheduling.deadline() <= now {
            self.scheduling.begin();
        }
        if self.timers.orphaned <= now {
            self.timers.orphaned = Time::MAX;
            let reason = self.entries.iter().rev().find_map(|entry| entry.closed);
            self.end(Outcome::Failed(reason.unwrap_or(Closed::AddressLost)));
        }
    }

    /// Nobody acknowledged the DATA_FIN, which went by itself: it goes on every subflow, as the one that it went on may
    /// have failed unnoticed.
    fn tell_end_again(&mut self, ctx: &Context) {
        self.end_tries += 1;
        if self.end_tries > ctx.config.tcp.retries {
            return self.end(Outcome::Failed(Closed::TimedOut));
        }
        self.send.end_lost();
        for entry in self.entries.iter_mut().filter(|entry| entry.carries_data()) {
            entry.tcp.acknowledge();
        }
    }

    /// After anything that happened: what follows from it.
    pub(super) fn settle(&mut self, now: Time, ctx: &mut Context) {
        if ctx.config.tcp.ssthresh_cache {
            self.remember(ctx);
        }
        self.free_tuples(now, ctx);
        if self.over.is_none() {
            self.finish_subflows(now);
            self.signal(now, ctx);
            self.watch(now, ctx);
            if self.has_own_windows() {
                self.probe_own_windows(now);
            }
            self.tell(ctx);
        }
        if let Some(outcome) = self.over
            && self.reported.over()
        {
            ctx.tell(Event::Closed(outcome));
        }
    }

    /// What subflows that were closed, and not cut off, say of where they led.
    fn remember(&mut self, ctx: &mut Context) {
        for (entry, window) in self.entries.iter_mut().zip(&self.windows) {
            let tcp = &entry.tcp;
            let closed = tcp.fin_acknowledged() && matches!(tcp.state(), State::TimeWait | State::Closed);
            if closed && !std::mem::replace(&mut entry.remembered, true) && window.srtt_ns.is_some() {
                ctx.metrics.closed(tcp.remote().ip(), window, tcp.is_calm());
            }
        }
    }

    /// Subflows that ended: their 4-tuples are free again.
    fn free_tuples(&mut self, now: Time, ctx: &mut Context) {
        if self.entries.iter().all(|entry| entry.tcp.state() != State::Closed || entry.freed) {
            return;
        }
        for i in 0..self.entries.len() {
            let entry = &self.entries[i];
            if entry.tcp.state() == State::Closed && !entry.freed {
                let reason = if entry.reset_reason.is_some() { Closed::Protocol } else { Closed::Finished };
                self.close_subflow(now, i, reason, ctx);
                self.entries[i].freed = true;
                self.gone.push(self.tuple(i));
            }
        }
    }

    /// TCP ends its directions when the data does (plain), or when both ends have all (RFC 8684 §3.3.3).
    fn finish_subflows(&mut self, now: Time) {
        let done = match self.mode {
            Mode::Opening => false,
            Mode::Plain => self.send.end().is_some(),
            Mode::Multipath => self.is_done(),
        };
        if !done {
            return;
        }
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_over()) {
            if entry.join.is_some() && !entry.tcp.is_established() {
                entry.tcp.abort();
            } else {
                entry.tcp.close();
                if self.mode == Mode::Multipath {
                    entry.tcp.orphan(now);
                }
            }
        }
        let quiet = |state| matches!(state, State::TimeWait | State::Closed);
        let finished = match self.mode {
            Mode::Plain => self.send.all_acknowledged() && self.receive.finished(),
            _ => true,
        };
        if finished && self.entries.iter().all(|entry| entry.is_over() || quiet(entry.tcp.state())) {
            self.end(Outcome::Complete);
        }
    }

    /// Whether both ends have all of MPTCP's data and know it.
    pub(super) fn is_done(&self) -> bool {
        self.send.delivered() && self.receive.finished()
    }

    /// Asks TCP for the ACKs that carry what MPTCP has to say.
    fn signal(&mut self, now: Time, ctx: &Context) {
        if !self.is_multipath() {
            return;
        }
        for i in each_of(self.prios) {
            self.signal_by(i);
        }
        if self.send.end_alone() || self.addresses.due(now) {
            let teller = if self.send.end_alone() { self.best() } else { self.announcer() };
            if let Some(i) = teller {
                self.signal_by(i);
            }
        }
        if self.send.end_to_tell().is_none() {
            (self.timers.end, self.end_tries) = (Time::MAX, 0);
        } else if self.timers.end == Time::MAX {
            let wait_ns = self.patience_ns().saturating_mul(1 << self.end_tries.min(20));
            self.timers.end = now + wait_ns.min(ctx.config.tcp.max_timeout_ns);
        }
    }

    /// Asks subflow `i` for an ACK that carries what there is to say.
    pub(super) fn signal_by(&mut self, i: usize) {
        let is_upstream = self.fills_windows();
        let tcp = &mut self.entries[i].tcp;
        if is_upstream { tcp.signal() } else { tcp.acknowledge() }
    }

    /// Whether subflow `i` still owes the peer an ACK without data for something that goes with no data.
    #[inline(always)] // every segment with data passes here
    pub(super) fn owes(&self, now: Time, i: usize) -> bool {
        self.prios & 1 << i != 0
            || self.entries[i].tell_failed
            || (self.is_multipath()
                && (self.send.end_alone() && self.best() == Some(i)
                    || self.addresses.due(now) && self.announcer() == Some(i)))
    }

    /// The subflow whose ACKs tell addresses. Until the peer shows that it has the keys, they carry these instead; none leave
    /// without an address.
    pub(super) fn announcer(&self) -> Option<usize> {
        self.best().filter(|&i| {
            let entry = &self.entries[i];
            entry.nic.is_some() && (entry.confirmed || !entry.opened_here)
        })
    }

    /// Looks for a connection that cannot go on by itself.
    fn watch(&mut self, now: Time, ctx: &Context) {
        if !self.is_multipath() {
            (self.timers.orphaned, self.timers.stall) = (Time::MAX, Time::MAX);
            return;
        }
        // One without its address may come back; it is not waited for longer than for another.
        // Nor is one that is only asked for a subflow: who is refused again and again would try for ever.
        let opening = |state| matches!(state, State::SynSent | State::SynReceived);
        let alive =
            self.entries.iter().any(|entry| !entry.is_over() && entry.nic.is_some() && !opening(entry.tcp.state()));
        match (alive, self.timers.orphaned) {
            (true, _) => self.timers.orphaned = Time::MAX,
            (false, Time::MAX) => self.timers.orphaned = now + ctx.config.mptcp.close_timeout_ns,
            _ => {}
        }
        // The connection's timer finds it among several subflows.
        let timed = self.retransmission.is_by_timer() && !self.fallback.is_one_to_one();
        let lacking = alive && !timed && self.send.una() < self.send.next();
        let stalled = lacking && self.entries.iter().all(|entry| entry.is_over() || entry.tcp.all_acknowledged());
        match (stalled, self.timers.stall) {
            (false, _) => self.timers.stall = Time::MAX,
            (true, Time::MAX) => self.timers.stall = now + self.patience_ns(),
            _ => {}
        }
    }

    /// How long an answer at connection level is waited for.
    fn patience_ns(&self) -> i64 {
        self.best().map_or(UNKNOWN_PATIENCE_NS, |i| self.entries[i].tcp.rto_ns())
    }

    /// What the application should hear.
    fn tell(&mut self, ctx: &mut Context) {
        if self.send.is_wanting() {
            self.provide_memory();
            if self.send.takes_wanted() {
                ctx.tell(Event::Writable);
            }
        }
        if self.receive.finished() && self.reported.finished() {
            ctx.tell(Event::Finished);
        }
        let delivered = match self.mode {
            Mode::Plain => self.entries[self.fallback.subflow()].tcp.fin_acknowledged() && self.send.all_acknowledged(),
            _ => self.send.delivered(),
        };
        if delivered && self.reported.delivered() {
            ctx.tell(Event::Delivered);
        }
    }
}
