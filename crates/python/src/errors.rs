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
    "A scenario cannot be run: `key` is the key path of the value at fault, as far as it is known, and `message` what is wrong."
);
create_exception!(mptcplab, InternalError, Error, "A fault of mptcplab itself; please report it with the capture.");

/// Runs our own code; a panic in it becomes an `InternalError`.
pub fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(InternalError::new_err(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("a fault of mptcplab, please report it: {}", text.unwrap_or("panicked without a message"))
}

/// As the exception of a scenario that cannot be run.
pub fn refused(error: scenario::Error) -> PyErr {
    Python::attach(|py| {
        let (key, message) = error.parts();
        let raised = || -> PyResult<PyErr> {
            let raised = PlanError::new_err(error.to_string());
            raised.value(py).setattr("key", key_path(py, key)?)?;
            raised.value(py).setattr("message", message)?;
            Ok(raised)
        };
        raised().unwrap_or_else(|error| error)
    })
}

/// A key path, as Python has it.
pub fn key_path(py: Python<'_>, key: Vec<Key>) -> PyResult<Bound<'_, PyTuple>> {
    let steps = key.into_iter().map(|step| match step {
        Key::Name(name) => name.into_bound_py_any(py),
        Key::Index(index) => index.into_bound_py_any(py),
    });
    PyTuple::new(py, steps.collect::<PyResult<Vec<_>>>()?)
}

/// As the exception of a file that was being written.
pub fn unwritten(error: std::io::Error) -> PyErr {
    error.into()
}
