//! What is plain (JSON's values) as Python has it. Keys keep their order.

use crate::errors::Error;
use pyo3::prelude::*;
use serde::Serialize;

/// As dictionaries, lists, numbers and text.
pub fn python<'py>(py: Python<'py>, plain: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(plain).map_err(|error| Error::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}
