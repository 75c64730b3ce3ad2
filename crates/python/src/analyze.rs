use crate::{
    application, diagnostics,
    errors::{CaptureError, Error, guarded},
    standard_input::{End, StandardInput},
    tables::Tables,
};
use analysis::{Analysis, Options};
use capture::{Ahead, Merge, Reader};
use pyo3::{prelude::*, types::PyDict};
use std::{
    cmp::Ordering,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};
use tables::Diagnostic;
use wire::Time;

/// So many batches are read, and so long is waited for one, between looks at Ctrl-C.
const STRIDE: usize = 64;
const PATIENCE: Duration = Duration::from_millis(100);

/// So long is read on once the reading is to stop: the Ctrl-C that stops us makes tcpdump write what it still holds.
const GRACE: Duration = Duration::from_secs(1);

/// Reads captures (pcap or pcapng, also compressed; "-" is standard input) as one and measures what is in them.
///
/// Of the captures, `from_seconds` to `to_seconds` from their first packet on are measured; without `to_seconds` all of the rest.
/// It is an error if they end before `from_seconds`.
/// With `transfer`, as a plan has it, they are of a run of it, and how its application was served is measured, too.
/// With `one_clock` all captures were stamped by one clock; those in `directory` are called by their paths in it.
/// `progress` is called now and then with the bytes read and, where known, the bytes in all. `stop` is asked now and then,
/// also while nothing comes: once it says true, reading ends soon, and what has come is measured.
#[expect(clippy::too_many_arguments, reason = "all but one are named by the caller")]
#[pyfunction]
#[pyo3(signature = (paths, *, bin_seconds=1.0, smoothing_seconds=5.0, trim_seconds=5.0, samples=true, from_seconds=0.0,
    to_seconds=None, one_clock=false, transfer=None, directory=None, progress=None, stop=None))]
pub fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    bin_seconds: f64,
    smoothing_seconds: f64,
    trim_seconds: f64,
    samples: bool,
    from_seconds: f64,
    to_seconds: Option<f64>,
    one_clock: bool,
    transfer: Option<Bound<'_, PyDict>>,
    directory: Option<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
    stop: Option<Bound<'_, PyAny>>,
) -> PyResult<Tables> {
    let options = Options {
        bin_ns: positive("bin_seconds", bin_seconds)?,
        smoothing_ns: nanoseconds("smoothing_seconds", smoothing_seconds)?,
        trim_ns: nanoseconds("trim_seconds", trim_seconds)?,
        samples,
        one_clock,
        application: transfer.map(|transfer| application::read(&transfer)).transpose()?.flatten(),
    };
    if paths.is_empty() {
        return Err(Error::new_err("no capture was named"));
    }
    let span = Span::new(from_seconds, to_seconds)?;
    let mut run = Run::new(paths, directory, options, span);
    let mut stopped = false;
    while py.detach(|| guarded(|| run.advance()))? {
        py.check_signals()?;
        if let (Some(progress), Some(read)) = (&progress, run.progress) {
            progress.call1(read)?;
        }
        if let Some(stop) = &stop
            && !stopped
            && stop.call0()?.is_truthy()?
        {
            run.end.0.within(GRACE);
            stopped = true;
        }
    }
    run.span.check()?;
    py.detach(|| guarded(|| Ok(run.finish()))).map(Tables::from)
}

struct Run {
    /// The captures, once they are open: standard input may keep us waiting for its first bytes.
    opening: Receiver<PyResult<Merge>>,
    captures: Option<Ahead>,
    analysis: Analysis,
    span: Span,
    /// Bytes read and, where known, in all.
    progress: Option<(u64, Option<u64>)>,
    end: Ended,
}

/// What is measured of the captures, from the first packet on.
struct Span {
    from_ns: i64,
    to_ns: Option<i64>,
    began: Option<Time>,
    /// From the first packet until the one looked at last.
    lasted_ns: i64,
}

impl Span {
    fn new(from_seconds: f64, to_seconds: Option<f64>) -> PyResult<Span> {
        let from_ns = nanoseconds("from_seconds", from_seconds)?;
        let to_ns = to_seconds.map(|seconds| nanoseconds("to_seconds", seconds)).transpose()?;
        if to_ns.is_some_and(|to_ns| to_ns <= from_ns) {
            let to = to_seconds.unwrap_or_default();
            return Err(Error::new_err(format!(
                "to_seconds is {to}; it must be above from_seconds, which is {from_seconds}"
            )));
        }
        Ok(Span { from_ns, to_ns, began: None, lasted_ns: 0 })
    }

    /// How a time, none before the first, stands to it: earlier, in it, later.
    fn compare(&mut self, at: Time) -> Ordering {
        let since = at - *self.began.get_or_insert(at);
        self.lasted_ns = self.lasted_ns.max(since);
        match self.to_ns {
            Some(to_ns) if since > to_ns => Ordering::Greater,
            _ if since < self.from_ns => Ordering::Less,
            _ => Ordering::Equal,
        }
    }

    /// Refuses captures that were over before it began.
    fn check(&self) -> PyResult<()> {
        if self.began.is_none() || self.lasted_ns >= self.from_ns {
            return Ok(());
        }
        let [lasted, from] = [self.lasted_ns, self.from_ns].map(|ns| ns as f64 / 1e9);
        Err(Error::new_err(format!(
            "nothing is left from {from} s on: the captures end {lasted:.3} s after their first packet"
        )))
    }
}

/// Nobody reads on once we are gone.
#[derive(Default)]
struct Ended(End);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.within(Duration::ZERO);
    }
}

impl Run {
    fn new(paths: Vec<PathBuf>, directory: Option<PathBuf>, options: Options, span: Span) -> Run {
        let (sender, opening) = mpsc::sync_channel(1);
        let end = Ended::default();
        let its_end = end.0.clone();
        // If nobody waits any more, it is not needed.
        thread::spawn(move || drop(sender.send(guarded(|| open(&paths, directory.as_deref(), &its_end)))));
        Run { opening, captures: None, analysis: Analysis::new(options), span, progress: None, end }
    }

    /// Reads on; false at the end.
    fn advance(&mut self) -> PyResult<bool> {
        let Some(captures) = &self.captures else {
            match self.opening.recv_timeout(PATIENCE) {
                Ok(merge) => self.captures = Some(Ahead::new(merge?)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("what opens always answers"),
            }
            return Ok(true);
        };
        for _ in 0..STRIDE {
            let Some(batch) = captures.next(PATIENCE) else { return Ok(false) };
            let mut batch = batch.map_err(unreadable)?;
            if batch.observations.is_empty() {
                break;
            }
            batch.points.drain(..).for_each(|point| self.analysis.add_point(point));
            for observation in &batch.observations {
                match self.span.compare(observation.at) {
                    Ordering::Less => {}
                    Ordering::Equal => self.analysis.observe(observation),
                    Ordering::Greater => return Ok(false),
                }
            }
            self.progress = Some(batch.progress);
            captures.recycle(batch);
        }
        Ok(true)
    }

    fn finish(mut self) -> ::tables::Tables {
        let statistics = self.captures.take().map(Ahead::finish).unwrap_or_default();
        statistics.iter().flat_map(diagnostics::of_capture).for_each(|remark| self.analysis.remark(remark));
        let cut = statistics.iter().any(|capture| capture.cut.is_some());
        if self.end.0.was_early() && !cut {
            self.analysis.remark(Diagnostic {
                capture: Some("standard input".into()),
                diagnostic: "capture_cut",
                message: "interrupted; analysed up to there".into(),
                ..Diagnostic::default()
            });
        }
        let mut tables = self.analysis.finish();
        tables.complete = !cut && !self.end.0.was_early();
        tables
    }
}

fn open(paths: &[PathBuf], directory: Option<&Path>, end: &End) -> PyResult<Merge> {
    let reader = |path: &PathBuf| match path.to_str() {
        Some("-") => Reader::new("standard input", StandardInput::new(end.clone())),
        _ => match directory {
            Some(directory) => Reader::open(&directory.join(path)).map(|it| it.named(path.display().to_string())),
            None => Reader::open(path),
        },
    };
    let readers = paths.iter().map(reader).collect::<Result<_, _>>().map_err(unreadable)?;
    Ok(Merge::new(readers))
}

fn unreadable(error: capture::Error) -> PyErr {
    CaptureError::new_err(error.to_string())
}

pub(crate) fn positive(name: &str, seconds: f64) -> PyResult<i64> {
    match nanoseconds(name, seconds)? {
        0 => Err(Error::new_err(format!("{name} is {seconds}; it must be at least 1e-9, a nanosecond"))),
        ns => Ok(ns),
    }
}

pub(crate) fn nanoseconds(name: &str, seconds: f64) -> PyResult<i64> {
    let ns = seconds * 1e9;
    if (0.0..1e18).contains(&ns) {
        Ok(ns.round() as i64)
    } else {
        Err(Error::new_err(format!("{name} is {seconds}; it must be a number of seconds from 0 to 1e9")))
    }
}
