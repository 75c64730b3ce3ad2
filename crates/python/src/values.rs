//! What is plain (JSON's values) as Python has it. Keys keep their order.

use crate::errors::Error;
use pyo3::{prelude::*, types::PyDict};
use serde::Serialize;

/// As dictionaries, lists, numbers and text.
pub fn python<'py>(py: Python<'py>, plain: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(plain).map_err(|error| Error::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A dictionary: values by their names, or the values of variables that are called so.
macro_rules! dict {
    ($py:expr; $($name:ident $(: $value:expr)?),* $(,)?) => {{
        let dict = pyo3::types::PyDict::new($py);
        $(dict.set_item(stringify!($name), dict!(@value $name $($value)?))?;)*
        dict
    }};
    (@value $name:ident) => {
        $name
    };
    (@value $name:ident $value:expr) => {
        $value
    };
}

pub(crate) use dict;

/// A dictionary of what has a name of its own, in this order.
pub fn by_name<'py, T>(
    py: Python<'py>,
    values: impl IntoIterator<Item = (String, T)>,
    made: impl Fn(T) -> PyResult<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in values {
        dict.set_item(name, made(value)?)?;
    }
    Ok(dict)
}
