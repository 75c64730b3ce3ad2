//! One path for as long as a connection has little to carry, all of them once it has more: a subflow that carries nothing keeps a radio awake, for some
//! 12 s after each packet in 3G (Balasubramanian, Balasubramanian, Venkataramani, IMC 2009, §3). How much is little, and when a connection counts as
//! idle, is ours to guess.

use super::chosen::Chosen;
use super::{PathCommand, PathEvent, PathManager, Settings};
use parameters::{Bytes, Duration, Fault, fault, parameters};
use std::net::IpAddr;
use wire::Time;

pub(super) const SUMMARY: &str =
    "one path while a connection is idle or short, all of them once it has carried enough; Linux opens all at once";

parameters! {
    struct Parameters {
        /// Bytes, both directions together, that a connection carries before it gets more than one path. The count
        /// restarts whenever the connection was idle.
        after: Bytes = Bytes(100_000),
        /// Time without data after which a connection is idle. It is checked every 100 ms.
        idle: Duration = Duration(10_000_000_000),
    }
}

/// The client stays on one path until it needs more.
pub struct OnDemand {
    after_bytes: u64,
    idle_ns: i64,
    paths: Chosen,
    /// The path that stays; none: it is lost, and all are wanted.
    kept: Option<IpAddr>,
    /// What carried last.
    last: Option<IpAddr>,
    moved: Time,
    /// Since it was idle.
    bytes: u64,
    is_busy: bool,
}

impl OnDemand {
    /// Stays on the path that it begins with.
    pub(crate) fn new(settings: &Settings, Parameters { after, idle }: Parameters) -> Result<OnDemand, Fault> {
        if idle.0 == 0 {
            return Err(fault("idle", "must be longer than 0"));
        }
        Ok(OnDemand {
            after_bytes: after.0,
            idle_ns: idle.nanos(),
            paths: Chosen::new(settings),
            kept: None,
            last: None,
            moved: Time::default(),
            bytes: 0,
            is_busy: false,
        })
    }

    fn look(&mut self, now: Time) {
        if self.bytes >= self.after_bytes {
            self.is_busy = true;
        }
        if now - self.moved >= self.idle_ns {
            (self.is_busy, self.bytes) = (false, 0);
            self.kept = self.kept.or(self.last);
        }
    }
}

impl PathManager for OnDemand {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { local, .. } => (self.kept, self.moved) = (Some(local.ip()), now),
            // Data waits for a path that may be dead: whatever there is may help.
            PathEvent::SubflowTimeout { .. } => (self.is_busy, self.moved) = (true, now),
            PathEvent::AddressDown { address } => self.kept = self.kept.filter(|&kept| kept != address),
            PathEvent::SubflowClosed { local, .. } => self.kept = self.kept.filter(|&kept| kept != local.ip()),
            PathEvent::Timer => self.look(now),
            _ => {}
        }
        let (kept, is_busy) = (self.kept, self.is_busy);
        let wanted = |address: IpAddr| is_busy || kept.is_none_or(|kept| kept == address);
        if let Some((local, bytes)) = self.paths.on(now, event, wanted, commands)
            && bytes > 0
        {
            (self.last, self.moved) = (Some(local), now);
            self.bytes += bytes;
        }
    }
}
