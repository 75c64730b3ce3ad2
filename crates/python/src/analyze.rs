use crate::{
    diagnostics,
    errors::{CaptureError, Error, guarded},
    tables::Tables,
};
use analysis::{Analysis, Options};
use capture::{Ahead, Merge};
use pyo3::prelude::*;
use std::{path::PathBuf, time::Duration};

/// So many batches are read, and so long is waited for one, between looks at Ctrl-C.
const STRIDE: usize = 64;
const PATIENCE: Duration = Duration::from_millis(100);

/// Reads captures (pcap or pcapng, also compressed; "-" is standard input) as one and measures what is in them.
///
/// `progress` is called now and then with the bytes read and, where known, the bytes in all.
#[pyfunction]
#[pyo3(signature = (paths, *, bin_seconds=1.0, smoothing_seconds=5.0, trim_seconds=5.0, samples=true, progress=None))]
pub fn analyze(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    bin_seconds: f64,
    smoothing_seconds: f64,
    trim_seconds: f64,
    samples: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tables> {
    let options = Options {
        bin_ns: positive("bin_seconds", bin_seconds)?,
        smoothing_ns: nanoseconds("smoothing_seconds", smoothing_seconds)?,
        trim_ns: nanoseconds("trim_seconds", trim_seconds)?,
        samples,
    };
    if paths.is_empty() {
        return Err(Error::new_err("no capture was named"));
    }
    let mut run = py.detach(|| guarded(|| Run::open(&paths, options)))?;
    while py.detach(|| guarded(|| run.advance()))? {
        py.check_signals()?;
        if let Some(progress) = &progress {
            progress.call1(run.progress)?;
        }
    }
    py.detach(|| guarded(|| Ok(run.finish()))).map(Tables::from)
}

struct Run {
    captures: Ahead,
    analysis: Analysis,
    progress: (u64, Option<u64>),
}

impl Run {
    fn open(paths: &[PathBuf], options: Options) -> PyResult<Run> {
        let captures = Ahead::new(Merge::open(paths).map_err(unreadable)?);
        Ok(Run { captures, analysis: Analysis::new(options), progress: (0, None) })
    }

    /// Reads on; false at the end.
    fn advance(&mut self) -> PyResult<bool> {
        for _ in 0..STRIDE {
            let Some(batch) = self.captures.next(PATIENCE) else { return Ok(false) };
            let mut batch = batch.map_err(unreadable)?;
            if batch.observations.is_empty() {
                break;
            }
            batch.points.drain(..).for_each(|point| self.analysis.add_point(point));
            batch.observations.iter().for_each(|observation| self.analysis.observe(observation));
            self.progress = batch.progress;
            self.captures.recycle(batch);
        }
        Ok(true)
    }

    fn finish(mut self) -> ::tables::Tables {
        let captures = self.captures.finish();
        captures.iter().flat_map(diagnostics::of_capture).for_each(|remark| self.analysis.remark(remark));
        let mut tables = self.analysis.finish();
        tables.complete = captures.iter().all(|capture| capture.cut.is_none());
        tables
    }
}

fn unreadable(error: capture::Error) -> PyErr {
    CaptureError::new_err(error.to_string())
}

fn positive(name: &str, seconds: f64) -> PyResult<i64> {
    match nanoseconds(name, seconds)? {
        0 => Err(Error::new_err(format!("{name} is {seconds}; it must be above 0"))),
        ns => Ok(ns),
    }
}

fn nanoseconds(name: &str, seconds: f64) -> PyResult<i64> {
    let ns = seconds * 1e9;
    if (0.0..1e18).contains(&ns) {
        Ok(ns.round() as i64)
    } else {
        Err(Error::new_err(format!("{name} is {seconds}; it must be a number of seconds from 0 to 1e9")))
    }
}
