//! What writes captures, on a thread of its own: it takes what the lanes saw and puts it in the order of time.

mod feed;

use crate::place::{Host, Place};
use crate::{Clock, Error};
use capture::Writer;
pub(crate) use feed::Feed;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;
use wire::{Direction, Packet, Time};

/// Batches on their way to the recorder at most.
const IN_FLIGHT: usize = 1024;
/// How long the recorder lets batches gather.
const PAUSE: Duration = Duration::from_millis(10);
/// Bytes of a packet that are kept, unless all are: enough for headers with any options.
const SNAP_BYTES: usize = 128;

/// What is written where.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Capture of what passes the client's ports.
    pub client_capture: Option<PathBuf>,
    /// And the server's.
    pub server_capture: Option<PathBuf>,
    /// Whether captures hold payload.
    pub full_payload: bool,
}

/// Something to record.
pub(crate) enum Entry {
    Packet { at: Time, point: u32, direction: Direction, packet: Packet },
}

impl Entry {
    fn at(&self) -> Time {
        let Entry::Packet { at, .. } = self;
        *at
    }
}

/// What lanes and recorder know of each other.
pub(crate) struct Shared {
    /// By lane: what is older has been handed over.
    reached: Vec<AtomicI64>,
    pub points: Vec<Point>,
}

/// Where packets are seen.
pub(crate) struct Point {
    /// 0: the client's, 1: the server's.
    pub site: usize,
    pub place: Place,
    pub lost: AtomicU64,
    pub written: AtomicU64,
}

pub(crate) struct Recorder {
    clock: Clock,
    shared: Arc<Shared>,
    captures: [Option<Capture>; 2],
    /// By point: its number in its capture.
    interfaces: Vec<u32>,
    full_payload: bool,
    batches: Receiver<Vec<Entry>>,
    pending: Vec<Entry>,
}

struct Capture {
    path: PathBuf,
    writer: Writer<File>,
}

impl Recorder {
    /// Creates the files; with it, what lanes need for their feeds.
    pub fn new(
        clock: Clock,
        recording: &Recording,
        points: Vec<Place>,
        lanes: usize,
    ) -> Result<(Recorder, Arc<Shared>, SyncSender<Vec<Entry>>), Error> {
        let (sender, batches) = mpsc::sync_channel(IN_FLIGHT);
        let point = |place: Place| {
            let site = usize::from(place.host == Host::Server);
            Point { site, place, lost: AtomicU64::new(0), written: AtomicU64::new(0) }
        };
        let points: Vec<Point> = points.into_iter().map(point).collect();
        let ends = [(&recording.client_capture, Host::Client), (&recording.server_capture, Host::Server)];
        let [client, server] =
            ends.map(|(path, host)| path.as_ref().map(|path| Capture::create(path, host)).transpose());
        let mut captures = [client?, server?];
        let mut interfaces = Vec::new();
        for point in &points {
            let capture = captures[point.site].as_mut();
            interfaces.push(capture.map_or(Ok(0), |capture| capture.interface(&point.place.name))?);
        }
        let reached = (0..lanes).map(|_| AtomicI64::new(clock.now().as_nanos())).collect();
        let shared = Arc::new(Shared { reached, points });
        let (full_payload, pending) = (recording.full_payload, Vec::new());
        let recorder = Recorder { clock, shared: shared.clone(), captures, interfaces, full_payload, batches, pending };
        Ok((recorder, shared, sender))
    }

    /// Records until all lanes have ended.
    pub fn run(mut self) -> Result<(), Error> {
        loop {
            let first = match self.pending.is_empty() {
                true => self.batches.recv().map_err(RecvTimeoutError::from),
                false => self.batches.recv_timeout(2 * PAUSE),
            };
            match first {
                Ok(batch) => self.pending.extend(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            thread::sleep(PAUSE);
            // In this order: what comes into the channel later than this look is later than the limit.
            let limit = self.limit();
            while let Ok(batch) = self.batches.try_recv() {
                self.pending.extend(batch);
            }
            self.write(limit)?;
        }
        self.write(Time::MAX)?;
        let points = &self.shared.points;
        for (site, capture) in self.captures.into_iter().enumerate() {
            let Some(Capture { path, writer }) = capture else { continue };
            let of_site = points.iter().filter(|point| point.site == site);
            let lost: Vec<u64> = of_site.map(|point| point.lost.load(Relaxed)).collect();
            writer.finish(&lost).map_err(|source| Error::Write { path, source })?;
        }
        Ok(())
    }

    /// Nothing older than this is still to come.
    fn limit(&self) -> Time {
        // The clock first: a lane that sleeps now reads a later time when it wakes.
        let now = self.clock.now();
        let reached = self.shared.reached.iter().map(|reached| Time::from_nanos(reached.load(SeqCst)));
        reached.fold(now, Time::min)
    }

    fn write(&mut self, limit: Time) -> Result<(), Error> {
        self.pending.sort_by_key(Entry::at);
        let ready = self.pending.partition_point(|entry| entry.at() < limit);
        for Entry::Packet { at, point, direction, packet } in self.pending.drain(..ready) {
            let seen = &self.shared.points[point as usize];
            let Some(capture) = &mut self.captures[seen.site] else { continue };
            let snap = if self.full_payload { usize::MAX } else { SNAP_BYTES };
            capture.packet(self.interfaces[point as usize], at, direction, &packet, snap)?;
            seen.written.fetch_add(1, Relaxed);
        }
        Ok(())
    }
}

impl Capture {
    fn create(path: &Path, host: Host) -> Result<Capture, Error> {
        let writer = File::create(path).and_then(|file| Writer::new(file, host.name()));
        let writer = writer.map_err(|source| Error::Write { path: path.into(), source })?;
        Ok(Capture { path: path.into(), writer })
    }

    fn interface(&mut self, name: &str) -> Result<u32, Error> {
        self.writer.interface(name).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    fn packet(
        &mut self,
        interface: u32,
        at: Time,
        direction: Direction,
        packet: &Packet,
        snap: usize,
    ) -> Result<(), Error> {
        let len = packet.frame.wire_len();
        let append = |out: &mut Vec<u8>| packet.emit(out, Some(snap)).expect("what was read can be written");
        let written = self.writer.packet_with(interface, at, Some(direction), len, append);
        written.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}
