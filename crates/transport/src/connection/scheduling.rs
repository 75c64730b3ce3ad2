//! The scheduler of a connection, and what it is shown.

use crate::config;
use crate::congestion::Window;
use crate::scheduler::{self, Choice, Chunk, Opportunistic, PathView, Scheduler};
use wire::Time;

/// Asks the scheduler where data goes.
///
/// [`look`](Scheduling::look) comes before each question, as what a subflow was given since changes what there is to see. A choice to
/// wait says until when; the next [`begin`](Scheduling::begin) forgets that.
pub(super) struct Scheduling {
    scheduler: Box<dyn Scheduler>,
    /// Subflows have queues of their own ([`Scheduler::queues_ahead`]).
    queues_ahead: bool,
    /// It is asked about copies ([`Scheduler::copies`]).
    copies: bool,
    opportunistic: Opportunistic,
    /// What it sees, kept for the next time.
    views: Vec<PathView>,
    /// When it wants to be asked.
    deadline: Time,
}

impl Scheduling {
    /// With the scheduler that the settings name.
    ///
    /// # Errors
    /// There is none of that name, or it cannot be set so.
    pub fn new(settings: &config::Mptcp) -> Result<Scheduling, parameters::Error> {
        let scheduler = scheduler::build(&settings.scheduler, &settings.scheduler_parameters)?;
        Ok(Scheduling {
            queues_ahead: scheduler.queues_ahead(),
            copies: scheduler.copies(),
            scheduler,
            opportunistic: Opportunistic::new(settings.opportunistic_retransmission, settings.penalisation),
            views: Vec::new(),
            deadline: Time::MAX,
        })
    }

    /// Whether subflows have queues of their own.
    #[inline]
    pub fn queues_ahead(&self) -> bool {
        self.queues_ahead
    }

    /// Whether it is asked about copies.
    #[inline]
    pub fn copies(&self) -> bool {
        self.copies
    }

    /// When it wants to be asked.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// It is about to be asked, or need not be any more.
    #[inline]
    pub fn begin(&mut self) {
        self.deadline = Time::MAX;
    }

    /// Shows it the subflows that may carry data.
    #[inline]
    pub fn look(&mut self, views: impl Iterator<Item = PathView>) {
        self.views.clear();
        self.views.extend(views);
    }

    /// What it was shown.
    pub fn views(&self) -> &[PathView] {
        &self.views
    }

    /// Where `chunk` goes: subflows, one bit each, and how much of it. None: nowhere now.
    #[inline]
    pub fn choose(&mut self, now: Time, chunk: &Chunk) -> Option<(u64, u64)> {
        match self.scheduler.choose(now, chunk, &self.views) {
            Choice::Send { subflows, bytes } => Some((subflows, bytes.min(chunk.sendable_bytes()))),
            Choice::Wait(until) => {
                self.deadline = until;
                None
            }
        }
    }

    /// Where a copy of `chunk` goes, if anywhere.
    pub fn copy(&mut self, now: Time, chunk: &Chunk) -> Option<u64> {
        match self.scheduler.choose(now, chunk, &self.views) {
            Choice::Send { subflows, .. } => Some(subflows),
            Choice::Wait(_) => None,
        }
    }

    /// Data waits, and a subflow for it, but the peer's window is full.
    pub fn blocked(&mut self) {
        self.scheduler.blocked();
    }

    /// Where the chunk goes again that keeps the peer's window full, if anywhere; slows who holds it up.
    pub fn unblock(&mut self, now: Time, chunk: &Chunk, windows: &mut [Window]) -> Option<u64> {
        match self.opportunistic.blocked(now, chunk, &self.views, windows, &mut *self.scheduler) {
            Choice::Send { subflows, .. } => Some(subflows),
            Choice::Wait(_) => None,
        }
    }
}
