//! What there is to choose from and to set, for validation and for the reference.

use crate::values::{dict, python};
use analysis::remedies::{OR, Remedy, TRIED};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use scenario::form;
use transport::{Config, congestion, era, path_manager, scheduler};

/// The elements of links: name, summary, and per parameter its name, kind, default, whether it is required, meaning.
#[pyfunction]
pub fn elements(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    python(py, &network::elements())
}

/// The queues, in the same form.
#[pyfunction]
pub fn queues(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    python(py, &link::queues())
}

/// Controllers, schedulers and path managers, in the same form; of controllers also whether one is Reno over one path.
#[pyfunction]
pub fn policies(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let named = PyDict::new(py);
    let controllers = congestion::descriptions().into_iter().map(|policy| {
        let dict = python(py, &policy)?;
        dict.set_item("is_reno_alone", congestion::is_reno_alone(policy.name))?;
        Ok(dict)
    });
    named.set_item("congestion_control", controllers.collect::<PyResult<Vec<_>>>()?)?;
    named.set_item("scheduler", python(py, &scheduler::descriptions())?)?;
    named.set_item("path_manager", python(py, &path_manager::descriptions())?)?;
    Ok(named)
}

/// What can be set of an endpoint, a path, the server or a run, by section of a scenario: of each its name, where its value stands in what
/// engines take, kind, whether it may be off, whether it must be given, its default, the words of a choice, bounds, meaning.
#[pyfunction]
pub fn settings(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let named = PyDict::new(py);
    let tables =
        [("path", form::Path::settings()), ("server", form::Server::settings()), ("run", form::Settings::settings())];
    for (section, settings) in Config::sections().into_iter().chain(tables) {
        named.set_item(section, python(py, &settings)?)?;
    }
    Ok(named)
}

/// The forms of what is transferred, of events and of cross traffic, by section: of each its name, summary and settings.
#[pyfunction]
pub fn forms(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(dict!(py;
        transfer: python(py, &form::Transfer::forms())?,
        timeline: python(py, &form::Event::forms())?,
        cross_traffic: python(py, &form::CrossTraffic::forms())?,
    ))
}

/// The values of all settings in an era, with a scheduler that is not the era's if one is named.
#[pyfunction]
#[pyo3(signature = (era=era::DEFAULT, scheduler=None))]
pub fn transport_defaults<'py>(py: Python<'py>, era: &str, scheduler: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let mut config = era::config(era).ok_or_else(|| PyValueError::new_err(format!("there is no era {era}")))?;
    if let Some(scheduler) = scheduler {
        config.schedule(scheduler);
    }
    python(py, &config)
}

/// The eras: name and summary of each.
#[pyfunction]
pub fn eras() -> Vec<(&'static str, &'static str)> {
    era::ERAS.to_vec()
}

/// What findings recommend that settings of a scenario do as well, and what stands between several in their words.
#[pyfunction]
pub fn remedies(py: Python<'_>) -> PyResult<(Vec<Bound<'_, PyDict>>, &'static str)> {
    let trials = TRIED.into_iter().filter_map(|remedy| match remedy {
        Remedy::Tried(trial) => Some(trial),
        Remedy::Said(_) | Remedy::Beyond(_) => None,
    });
    let described = trials.map(|trial| {
        Ok(dict!(py;
            words: trial.words,
            name: trial.name,
            settings: trial.settings,
            beside: trial.beside,
            limit: trial.limit,
        ))
    });
    Ok((described.collect::<PyResult<_>>()?, OR))
}
