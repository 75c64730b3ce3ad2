//! What there is to choose from, for validation and for the reference.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use transport::{congestion, era, path_manager, scheduler};

/// The elements of links: name, summary, and per parameter its name, kind, default, whether it is required, meaning.
#[pyfunction]
pub fn elements(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    link::elements().iter().chain(&proxy::elements()).map(|element| described(py, element)).collect()
}

/// The queues, in the same form.
#[pyfunction]
pub fn queues(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    link::queues().iter().map(|queue| described(py, queue)).collect()
}

/// Controllers, schedulers and path managers, in the same form; of controllers also whether one is Reno over one path.
#[pyfunction]
pub fn policies(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let named = PyDict::new(py);
    let controllers = congestion::descriptions().into_iter().map(|policy| {
        let dict = described(py, &policy)?;
        dict.set_item("is_reno_alone", congestion::is_reno_alone(policy.name))?;
        Ok(dict)
    });
    named.set_item("congestion_control", controllers.collect::<PyResult<Vec<_>>>()?)?;
    for (kind, policies) in [("scheduler", scheduler::descriptions()), ("path_manager", path_manager::descriptions())] {
        let policies = policies.iter().map(|policy| described(py, policy));
        named.set_item(kind, policies.collect::<PyResult<Vec<_>>>()?)?;
    }
    Ok(named)
}

/// The settings of an endpoint in an era, as JSON.
#[pyfunction]
#[pyo3(signature = (era=era::DEFAULT))]
pub fn transport_defaults(era: &str) -> PyResult<String> {
    let config = era::config(era).ok_or_else(|| PyValueError::new_err(format!("there is no era {era}")))?;
    Ok(serde_json::to_string(&config).expect("settings are plain"))
}

/// The eras: name and summary of each.
#[pyfunction]
pub fn eras() -> Vec<(&'static str, &'static str)> {
    era::ERAS.to_vec()
}

fn described<'py>(py: Python<'py>, description: &link::Description) -> PyResult<Bound<'py, PyDict>> {
    let loads = py.import("json")?.getattr("loads")?;
    let parameters: Vec<_> = description
        .parameters
        .iter()
        .map(|parameter| {
            let dict = PyDict::new(py);
            dict.set_item("name", parameter.name)?;
            dict.set_item("kind", parameter.kind)?;
            dict.set_item("default", loads.call1((parameter.default.to_string(),))?)?;
            dict.set_item("required", parameter.required)?;
            dict.set_item("doc", parameter.doc)?;
            Ok(dict)
        })
        .collect::<PyResult<_>>()?;
    let dict = PyDict::new(py);
    dict.set_item("name", description.name)?;
    dict.set_item("summary", description.summary)?;
    dict.set_item("parameters", parameters)?;
    Ok(dict)
}
