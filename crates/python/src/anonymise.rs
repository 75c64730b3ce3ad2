use crate::errors::{CaptureError, guarded};
use ::anonymise::{Anonymiser, Counts, Failure, Secret};
use capture::Reader;
use pyo3::prelude::*;
use std::{fs::File, path::PathBuf};

/// Packets, what of tokens and HMACs was made anew, what was replaced, bytes of payload left out, whether it is cut.
type Counted = (u64, u64, u64, u64, bool);

/// Writes captures of one network with other addresses and keys, and without payload; says what was done to each.
#[pyfunction]
pub fn anonymise(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    targets: Vec<PathBuf>,
    secret: Vec<u8>,
) -> PyResult<Vec<Counted>> {
    let mut anonymiser = Anonymiser::new(Secret::new(&secret));
    let mut raised = None;
    let mut goes_on = || {
        raised = Python::attach(|py| py.check_signals()).err();
        raised.is_none()
    };
    let done = py.detach(|| {
        guarded(|| {
            let mut work = || {
                for path in &paths {
                    anonymiser.learn(Reader::open(path).map_err(Failure::Read)?, &mut goes_on)?;
                }
                let files = paths.iter().zip(&targets);
                let write = |(path, target): (&PathBuf, &PathBuf)| {
                    let capture = Reader::open(path).map_err(Failure::Read)?;
                    let sink = File::create_new(target).map_err(Failure::Write)?;
                    anonymiser.write(capture, sink, &mut goes_on)
                };
                files.map(write).collect::<Result<Vec<_>, _>>()
            };
            Ok(work())
        })
    })?;
    match done {
        Ok(counts) => Ok(counts.iter().map(counted).collect()),
        Err(Failure::Read(error)) => Err(CaptureError::new_err(error.to_string())),
        Err(Failure::Write(error)) => Err(error.into()),
        Err(Failure::Stopped) => Err(raised.expect("it stops where a signal raised something")),
    }
}

fn counted(&Counts { packets, remade, replaced, payload_bytes, cut }: &Counts) -> Counted {
    (packets, remade, replaced, payload_bytes, cut)
}
