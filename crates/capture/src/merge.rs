use std::path::PathBuf;

use wire::{Observation, Point, Time};

use crate::source::Source;
use crate::{Error, FileStatistics, Reader, order};

/// Several captures as one stream of observations in time order.
///
/// Observations of one time come by interface name, those of one interface as they stand in their file: one file and a file
/// for each interface give the same order. Where several files hold packets of one time, interface and 4-tuple, their order
/// is lost, and counted. Packets that stand behind newer ones in their file are put right: up to 10 ms of capture time (while no more than 16 384 packets lie between), and up to 2 s (32 768
/// packets) in a file of several interfaces, whose packets stand in turns, block by block.
pub struct Merge {
    sources: Vec<Source>,
    statistics: Vec<FileStatistics>,
    points: Vec<Point>,
    /// The source that gave last, or will give first.
    current: usize,
    /// Before this time no other source has anything.
    others: Time,
    started: bool,
    failure: Option<Error>,
    size: Option<u64>,
}

impl Merge {
    /// Opens captures; `-` is standard input. Nothing is given before all could be opened.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn open(paths: &[PathBuf]) -> Result<Merge, Error> {
        Ok(Merge::new(paths.iter().map(|path| Reader::open(path)).collect::<Result<_, _>>()?))
    }

    /// Merges readers; each is one site.
    pub fn new(readers: Vec<Reader>) -> Merge {
        let statistics = |reader: &Reader| FileStatistics { name: reader.name().to_owned(), ..Default::default() };
        Merge {
            statistics: readers.iter().map(statistics).collect(),
            size: readers.iter().map(Reader::size).sum(),
            sources: (0..).zip(readers).map(|(site, reader)| Source::new(site, reader)).collect(),
            points: Vec::new(),
            current: 0,
            others: Time::from_nanos(i64::MIN),
            started: false,
            failure: None,
        }
    }

    /// The next IP packet; none at the end of all captures. A capture that is cut or damaged is read up to there; its
    /// statistics tell.
    ///
    /// # Errors
    /// When the operating system cannot read a file on. The others still can be read.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "the observation borrows from the merge")]
    pub fn next(&mut self) -> Option<Result<&Observation, Error>> {
        let known = self.sources.get(self.current).and_then(|source| source.first());
        if known.is_none_or(|observation| observation.at >= self.others) && !self.choose() {
            return self.failure.take().map(Err);
        }
        Some(Ok(self.sources[self.current].take()))
    }

    /// Finds the source that has the next observation; false when there is none, or a failure to tell first.
    #[cold]
    fn choose(&mut self) -> bool {
        if !self.started {
            (0..self.sources.len()).for_each(|index| self.read(index));
            self.started = true;
        } else if !self.sources.is_empty() {
            self.read(self.current);
        }
        if self.failure.is_some() {
            return false;
        }
        let mut best: Option<(usize, &Observation)> = None;
        let mut lost = false;
        self.others = Time::MAX;
        for (index, source) in self.sources.iter().enumerate() {
            let Some(candidate) = source.first() else { continue };
            let Some((_, first)) = best else {
                best = Some((index, candidate));
                continue;
            };
            let order = candidate.at.cmp(&first.at).then_with(|| order::compare(candidate, first, &self.points));
            if candidate.at < first.at {
                lost = false;
            }
            lost |= candidate.at == first.at && order::is_lost(candidate, first, &self.points);
            if order.is_lt() {
                self.others = self.others.min(first.at);
                best = Some((index, candidate));
            } else {
                self.others = self.others.min(candidate.at);
            }
        }
        if let Some((index, _)) = best {
            self.current = index;
            self.statistics[index].order_lost += u64::from(lost);
        }
        best.is_some()
    }

    /// Reads a source on until it knows its next observation.
    fn read(&mut self, index: usize) {
        let (source, statistics) = (&mut self.sources[index], &mut self.statistics[index]);
        if let Err(error) = source.read(statistics, &mut self.points) {
            statistics.cut = Some(error.fault.to_string());
            self.failure = self.failure.take().or(Some(error));
        }
    }

    /// The points at which observations were made so far; a [`wire::PointId`] is an index of it.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Bytes read so far of all files, and their size together where it is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.sources.iter().map(|source| source.position()).sum(), self.size)
    }

    /// What was read so far, capture by capture, in the order in which they were given.
    pub fn statistics(&self) -> &[FileStatistics] {
        &self.statistics
    }
}
