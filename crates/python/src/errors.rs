//! What goes wrong, as Python's exceptions.

use pyo3::{IntoPyObjectExt, create_exception, exceptions::PyException, prelude::*, types::PyTuple};
use scenario::Key;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

create_exception!(mptcplab, Error, PyException, "Base of all errors of mptcplab.");
create_exception!(mptcplab, CaptureError, Error, "A capture cannot be read; says which and why.");
create_exception!(
    mptcplab,
    PlanError,
    Error,
    "A scenario cannot be run: `key` is the way to the value at fault, as far as is known, and `message` what is wrong."
);
create_exception!(mptcplab, InternalError, Error, "A fault of mptcplab itself; please report it with the capture.");

/// Runs our own code; a panic in it becomes an `InternalError`.
pub fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(InternalError::new_err(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("a fault of mptcplab, please report it: {}", said.unwrap_or("panicked without a word"))
}

/// As the exception of a scenario that cannot be run.
pub fn refused(error: scenario::Error) -> PyErr {
    Python::attach(|py| {
        let (key, message) = error.parts();
        let told = || -> PyResult<PyErr> {
            let told = PlanError::new_err(error.to_string());
            told.value(py).setattr("key", key_path(py, key)?)?;
            told.value(py).setattr("message", message)?;
            Ok(told)
        };
        told().unwrap_or_else(|error| error)
    })
}

/// The way to a value, as Python has it.
pub fn key_path(py: Python<'_>, key: Vec<Key>) -> PyResult<Bound<'_, PyTuple>> {
    let steps = key.into_iter().map(|step| match step {
        Key::Name(name) => name.into_bound_py_any(py),
        Key::Place(place) => place.into_bound_py_any(py),
    });
    PyTuple::new(py, steps.collect::<PyResult<Vec<_>>>()?)
}

/// As the exception of a file that was being written.
pub fn unwritten(error: std::io::Error) -> PyErr {
    error.into()
}
