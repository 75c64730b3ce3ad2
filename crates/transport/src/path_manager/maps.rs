//! A few of many paths, the ones with room: where a path that is used gets worse, one that is not is probed, and the worst of them is left (MAPS: Chen, Wu, Yang,
//! Duke TR-2011-09, of which only the abstract was at hand: "actively probing the residue capacity of unused paths", "initiates the probes sparingly, depending on the
//! real-time quality of current subflows"). What counts as quality, how room is measured, and every figure below are ours to guess.

use super::chosen::Chosen;
use super::{PathCommand, PathEvent, PathManager, Settings};
use parameters::{Duration, Fault, Number, fault, parameters};
use std::net::IpAddr;
use wire::Time;

pub(super) const SUMMARY: &str =
    "a few of many paths: if one gets worse, an unused one is probed and the worst is left; Linux opens all at once";

parameters! {
    struct Parameters {
        /// Number of paths used at the same time; from 1 to 100.
        paths: Number = Number(1.0),
        /// A path has got worse if it carries, in a second and both directions together, less than this fraction of the
        /// most that it carried in any second before; from 0.01 to 1.
        worse: Number = Number(0.7),
        /// How long an unused path is probed: a subflow over it carries data, and the second half of the time counts.
        probe: Duration = Duration(2_000_000_000),
        /// Time from the end of a probe to the next one.
        spacing: Duration = Duration(10_000_000_000),
    }
}

/// Over which a path's rate is measured.
const SECOND_NS: i64 = 1_000_000_000;

/// The client chooses by what paths carry.
pub struct Maps {
    most: usize,
    worse: f64,
    probe_ns: i64,
    spacing_ns: i64,
    chosen: Chosen,
    is_client: bool,
    paths: Vec<Path>,
    looked: Time,
    /// When the present probe's second half begins, and when it ends.
    probe: Option<(Time, Time)>,
    /// No probe before.
    again: Time,
}

/// The path from an address.
struct Path {
    address: IpAddr,
    use_: Use,
    bytes: u64,
    /// In any second since it is used.
    most_bytes: u64,
    /// When it was used last: of several that are not the one that waited longest is probed.
    last: Time,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Unused,
    Probed,
    Used,
}

impl Maps {
    /// Begins with the path of the first subflow, and those that come first.
    pub(crate) fn new(settings: &Settings, parameters: Parameters) -> Result<Maps, Fault> {
        let Parameters { paths: Number(paths), worse: Number(worse), probe, spacing } = parameters;
        if !(1.0..=100.0).contains(&paths) || paths.fract() != 0.0 {
            return Err(fault("paths", "is not a whole number from 1 to 100"));
        }
        if !(0.01..=1.0).contains(&worse) {
            return Err(fault("worse", "must be from 0.01 to 1"));
        }
        if probe.nanos() < SECOND_NS {
            return Err(fault("probe", "must be at least a second"));
        }
        Ok(Maps {
            most: paths as usize,
            worse,
            probe_ns: probe.nanos(),
            spacing_ns: spacing.nanos(),
            chosen: Chosen::new(settings),
            is_client: false,
            paths: Vec::new(),
            looked: Time::default(),
            probe: None,
            again: Time::default(),
        })
    }

    /// An address is there. There may be room for another path.
    fn came(&mut self, now: Time, address: IpAddr) {
        if !self.paths.iter().any(|path| path.address == address) {
            self.paths.push(Path { address, use_: Use::Unused, bytes: 0, most_bytes: 0, last: now });
        }
        self.fill(now);
    }

    fn fill(&mut self, now: Time) {
        let used = self.paths.iter().filter(|path| path.use_ == Use::Used).count();
        let unused = self.paths.iter_mut().filter(|path| path.use_ == Use::Unused);
        for path in unused.take(self.most.saturating_sub(used)) {
            path.start(now, Use::Used);
        }
    }

    fn look(&mut self, now: Time) {
        match self.probe {
            Some((half, end)) if now >= end => self.settle(now, end - half),
            Some((half, _)) if self.looked < half && now >= half => self.measure(now),
            None if now - self.looked >= SECOND_NS => {
                let is_worse = self.paths.iter().any(|path| path.is_worse(self.worse));
                self.measure(now);
                if is_worse && now >= self.again {
                    self.begin_probe(now);
                }
            }
            _ => {}
        }
    }

    /// What is carried from now on counts anew.
    fn measure(&mut self, now: Time) {
        self.looked = now;
        self.paths.iter_mut().for_each(Path::measure);
    }

    fn begin_probe(&mut self, now: Time) {
        let unused = self.paths.iter_mut().filter(|path| path.use_ == Use::Unused);
        if let Some(path) = unused.min_by_key(|path| path.last) {
            path.start(now, Use::Probed);
            self.probe = Some((now + self.probe_ns / 2, now + self.probe_ns));
        }
    }

    /// The probe is over: the path that carried least is left.
    fn settle(&mut self, now: Time, over_ns: i64) {
        let tried = self.paths.iter().filter(|path| path.use_ != Use::Unused).count();
        let worst = self
            .paths
            .iter_mut()
            .filter(|path| path.use_ != Use::Unused)
            .min_by_key(|path| (path.bytes, path.use_ == Use::Used));
        if let Some(worst) = worst.filter(|_| tried > self.most) {
            (worst.use_, worst.last) = (Use::Unused, now);
        }
        for path in self.paths.iter_mut().filter(|path| path.use_ != Use::Unused) {
            let now_bytes = (path.bytes as f64 * SECOND_NS as f64 / over_ns as f64) as u64;
            // What was good once may be so no more: the others are tried a few times, and then it is measured by what it is now.
            path.most_bytes = if path.use_ == Use::Used { path.most_bytes.midpoint(now_bytes) } else { now_bytes };
            path.use_ = Use::Used;
        }
        (self.probe, self.again) = (None, now + self.spacing_ns);
        self.measure(now);
    }
}

impl Path {
    fn start(&mut self, now: Time, use_: Use) {
        *self = Path { use_, bytes: 0, most_bytes: 0, last: now, ..*self };
    }

    fn is_worse(&self, part: f64) -> bool {
        self.use_ == Use::Used && (self.bytes as f64) < self.most_bytes as f64 * part
    }

    fn measure(&mut self) {
        self.most_bytes = self.most_bytes.max(std::mem::take(&mut self.bytes));
    }
}

impl PathManager for Maps {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { client: true, local, .. } => {
                (self.is_client, self.looked) = (true, now);
                self.came(now, local.ip());
            }
            PathEvent::AddressUp { address } => self.came(now, address),
            PathEvent::AddressDown { address } => {
                self.paths.retain(|path| path.address != address);
                self.fill(now);
            }
            PathEvent::Timer if self.is_client => self.look(now),
            _ => {}
        }
        let (paths, is_client) = (&self.paths, self.is_client);
        let wanted = |address: IpAddr| {
            !is_client || paths.iter().any(|path| path.address == address && path.use_ != Use::Unused)
        };
        if let Some((local, bytes)) = self.chosen.on(now, event, wanted, commands)
            && let Some(path) = self.paths.iter_mut().find(|path| path.address == local)
        {
            path.bytes += bytes;
        }
    }
}
