//! What writes captures and the link log, on a thread of its own: it takes what the link threads saw and puts it in the
//! order of time.

mod capture;
mod feed;
mod log;
mod shared;
mod site;

use crate::port_name::PortName;
use crate::{Clock, Error};
use capture::Capture;
pub(crate) use feed::Feed;
use log::Log;
pub(crate) use log::{Happened, Line};
pub(crate) use shared::Shared;
use shared::{Point, Tally};
pub use site::Recording;
pub(crate) use site::Site;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;
use wire::{CaptureDirection, Packet, Time};

/// Batches on their way to the recorder at most.
const IN_FLIGHT: usize = 1024;
/// How long the recorder lets batches gather.
const PAUSE: Duration = Duration::from_millis(10);

/// The way to the recorder.
pub(crate) type Batches = SyncSender<Vec<Entry>>;

/// Something to record.
pub(crate) enum Entry {
    /// A packet that passed a point.
    Packet { at: Time, point: u32, direction: CaptureDirection, packet: Packet },
    /// A line of the link log.
    Line(Line),
}

/// What was recorded, and what was lost because the recorder had no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Packets of each captured port: written and lost.
    pub captures: Vec<(PortName, [u64; 2])>,
    /// Lines of the link log, if there is one: written and lost.
    pub link_log: Option<[u64; 2]>,
}

pub(crate) struct Recorder {
    clock: Clock,
    shared: Arc<Shared>,
    captures: [Option<Capture>; 2],
    /// By point: its number in its capture.
    interfaces: Vec<u32>,
    log: Option<Log>,
    batches: Receiver<Vec<Entry>>,
    /// By file, so that what one link thread saw is in order: the captures, the link log.
    pending: [Vec<Entry>; 3],
}

impl Recorder {
    /// Creates the files; with it, what `link_threads` link threads need for their feeds.
    pub fn new(
        clock: Clock,
        recording: &Recording,
        points: Vec<PortName>,
        links: &[Arc<str>],
        link_threads: usize,
    ) -> Result<(Recorder, Arc<Shared>, Batches), Error> {
        let (sender, batches) = mpsc::sync_channel(IN_FLIGHT);
        let create = |site| {
            let path = recording.capture(site);
            path.map(|path| Capture::create(path, site, recording.full_payload)).transpose()
        };
        let [client, server] = Site::ALL.map(create);
        let mut captures = [client?, server?];
        let log = recording.link_log.as_ref().map(|path| Log::create(path, links)).transpose()?;
        let point = |port_name: PortName| {
            Site::of(port_name.host).map(|site| Point { site, port_name, tally: Tally::default() })
        };
        let points: Vec<Point> = points.into_iter().filter_map(point).collect();
        let mut interfaces = Vec::new();
        for Point { site, port_name, .. } in &points {
            let capture = captures[*site as usize].as_mut();
            interfaces.push(capture.map_or(Ok(0), |capture| capture.interface(&port_name.name))?);
        }
        let shared = Arc::new(Shared::new(link_threads, clock.now(), points, log.is_some()));
        let pending = Default::default();
        let recorder = Recorder { clock, shared: shared.clone(), captures, interfaces, log, batches, pending };
        Ok((recorder, shared, sender))
    }

    /// Records until all link threads have ended.
    pub fn run(mut self) -> Result<Records, Error> {
        loop {
            let first = match self.pending.iter().all(Vec::is_empty) {
                true => self.batches.recv().map_err(RecvTimeoutError::from),
                false => self.batches.recv_timeout(2 * PAUSE),
            };
            match first {
                Ok(batch) => self.take(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            thread::sleep(PAUSE);
            // In this order. A link thread that sleeps now reads a later time when it wakes, and what it says that it has
            // handed over is there.
            let limit = self.clock.now().min(self.shared.reached());
            while let Ok(batch) = self.batches.try_recv() {
                self.take(batch);
            }
            self.write(limit)?;
        }
        self.write(Time::MAX)?;
        self.finish()
    }

    fn take(&mut self, batch: Vec<Entry>) {
        for entry in batch {
            let file = match &entry {
                Entry::Packet { point, .. } => self.shared.points()[*point as usize].site as usize,
                Entry::Line(_) => 2,
            };
            self.pending[file].push(entry);
        }
    }

    /// Writes what is older than `limit`: nothing of that is still to come.
    fn write(&mut self, limit: Time) -> Result<(), Error> {
        for pending in &mut self.pending {
            pending.sort_by_key(Entry::at);
        }
        let ready = |pending: &[Entry]| pending.partition_point(|entry| entry.at() < limit);
        for entry in self.pending.iter_mut().flat_map(|pending| pending.drain(..ready(pending))) {
            match entry {
                Entry::Packet { at, point, direction, packet } => {
                    let Point { site, tally, .. } = &self.shared.points()[point as usize];
                    let Some(capture) = &mut self.captures[*site as usize] else { continue };
                    match capture.packet(self.interfaces[point as usize], at, direction, &packet)? {
                        true => tally.write(),
                        false => tally.lose(),
                    }
                }
                Entry::Line(line) => {
                    let Some(log) = &mut self.log else { continue };
                    log.write(&line)?;
                    self.shared.log().into_iter().for_each(Tally::write);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Records, Error> {
        let points = self.shared.points();
        for (site, capture) in Site::ALL.into_iter().zip(self.captures) {
            let of_site = points.iter().filter(|point| point.site == site);
            let lost: Vec<u64> = of_site.map(|point| point.tally.both()[1]).collect();
            capture.map_or(Ok(()), |capture| capture.finish(&lost))?;
        }
        self.log.map_or(Ok(()), Log::finish)?;
        let captures = points.iter().map(|point| (point.port_name.clone(), point.tally.both())).collect();
        Ok(Records { captures, link_log: self.shared.log().map(Tally::both) })
    }
}

impl Entry {
    fn at(&self) -> Time {
        match self {
            Entry::Packet { at, .. } => *at,
            Entry::Line(line) => line.at,
        }
    }
}

#[cfg(test)]
mod tests;
