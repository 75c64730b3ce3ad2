use super::Site;
use crate::port_name::PortName;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicI64, AtomicU64};
use wire::Time;

/// What link threads and recorder know of each other.
pub(crate) struct Shared {
    /// By link thread: what is older has been handed over.
    reached: Vec<AtomicI64>,
    points: Vec<Point>,
    log: Option<Tally>,
}

/// Where packets are seen.
pub(crate) struct Point {
    pub site: Site,
    pub port_name: PortName,
    pub tally: Tally,
}

/// How many were recorded, and how many were not.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    written: AtomicU64,
    lost: AtomicU64,
}

impl Shared {
    pub fn new(link_threads: usize, start: Time, points: Vec<Point>, logs: bool) -> Shared {
        let reached = (0..link_threads).map(|_| AtomicI64::new(start.as_nanos())).collect();
        Shared { reached, points, log: logs.then(Tally::default) }
    }

    /// A link thread has handed over what is older.
    pub fn reach(&self, link_thread: usize, at: Time) {
        self.reached[link_thread].store(at.as_nanos(), SeqCst);
    }

    /// All link threads have handed over what is older.
    pub fn reached(&self) -> Time {
        self.reached.iter().map(|reached| Time::from_nanos(reached.load(SeqCst))).min().unwrap_or(Time::MAX)
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The number of the point at a port, if it is one.
    pub fn point(&self, port_name: &PortName) -> Option<u32> {
        self.points.iter().position(|point| point.port_name == *port_name).map(|point| point as u32)
    }

    /// Of the link log, if there is one.
    pub fn log(&self) -> Option<&Tally> {
        self.log.as_ref()
    }
}

impl Tally {
    pub fn write(&self) {
        self.written.fetch_add(1, Relaxed);
    }

    pub fn lose(&self) {
        self.lost.fetch_add(1, Relaxed);
    }

    /// Written and lost.
    pub fn both(&self) -> [u64; 2] {
        [self.written.load(Relaxed), self.lost.load(Relaxed)]
    }
}
