//! What goes wrong, as Python's exceptions.

use pyo3::{create_exception, exceptions::PyException, prelude::*};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

create_exception!(mptcplab, Error, PyException, "Base of all errors of mptcplab.");
create_exception!(mptcplab, CaptureError, Error, "A capture cannot be read; says which and why.");
create_exception!(mptcplab, InternalError, Error, "A fault of mptcplab itself; please report it with the capture.");

/// Runs our own code; a panic in it becomes an `InternalError`.
pub fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(InternalError::new_err(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("a fault of mptcplab, please report it: {}", said.unwrap_or("panicked without a word"))
}

/// As the exception of a file that was being written.
pub fn unwritten(error: std::io::Error) -> PyErr {
    error.into()
}
