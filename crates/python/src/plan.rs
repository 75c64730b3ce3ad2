//! A scenario as engines take it.

use crate::errors::{guarded, refused};
use network::Network;
use pyo3::{prelude::*, types::PyDict};
use scenario::{Scenario, form::Event};
use std::{net::IpAddr, sync::Arc};

/// A resolved scenario: base units, addresses chosen, nothing left out.
///
/// It is made of a table, and written out as that table where it is stored. A `PlanError` says what cannot be.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Plan {
    /// The table as JSON.
    table: Arc<str>,
    scenario: Arc<Scenario>,
    /// In place of the table's.
    seed: u64,
}

#[pymethods]
impl Plan {
    #[new]
    fn new(py: Python<'_>, table: &Bound<'_, PyDict>) -> PyResult<Plan> {
        let table: String = py.import("json")?.call_method1("dumps", (table,))?.extract()?;
        py.detach(|| {
            guarded(|| {
                let scenario = Scenario::from_json(&table).map_err(refused)?;
                Ok(Plan { seed: scenario.seed, table: table.into(), scenario: scenario.into() })
            })
        })
    }

    /// The same with another seed.
    fn with_seed(&self, seed: u64) -> Plan {
        Plan { table: self.table.clone(), scenario: self.scenario.clone(), seed }
    }

    /// Refuses what cannot be made of it: its links are, and forgotten.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let scenario = &self.scenario;
        py.detach(|| guarded(|| Network::of(scenario, scenario.start()).map(drop).map_err(refused)))
    }

    /// When paths come and go, in order: nanoseconds, the path's name, whether it is there from then on. At 0 come those
    /// that are there from the start.
    fn presence(&self) -> Vec<(i64, String, bool)> {
        let named = |(at_ns, path, there): (_, usize, _)| (at_ns, self.scenario.paths[path].name.clone(), there);
        network::presence(&self.scenario).into_iter().map(named).collect()
    }

    /// The client's addresses on each path, in the order of the paths.
    #[getter]
    fn addresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for path in &self.scenario.paths {
            let addresses: Vec<_> = path.addresses().iter().map(IpAddr::to_string).collect();
            dict.set_item(&path.name, addresses)?;
        }
        Ok(dict)
    }

    /// The server's addresses.
    #[getter]
    fn server_addresses(&self) -> Vec<String> {
        self.scenario.server.addresses.iter().map(IpAddr::to_string).collect()
    }

    /// Public addresses of paths that are not those of their interfaces, each with its path: what a NAT64 makes of
    /// these, and those that public ones change to.
    #[getter]
    fn public_addresses(&self) -> Vec<(String, String)> {
        let own = self.scenario.paths.iter().flat_map(|path| path.addresses().into_iter().map(|one| (one, &path.name)));
        let rebound = self.scenario.timeline.iter().filter_map(|event| match event {
            Event::Rebind { path, address, .. } => Some((*address, path)),
            _ => None,
        });
        let translated = own.chain(rebound.clone()).filter_map(|(one, path)| Some((link::behind_nat64(one)?, path)));
        translated.chain(rebound).map(|(address, path)| (address.to_string(), path.clone())).collect()
    }

    /// The table.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = py.import("json")?.call_method1("loads", (&*self.table,))?;
        table.set_item("seed", self.seed)?;
        Ok(table)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>,)> {
        Ok((self.table(py)?,))
    }
}

impl Plan {
    /// For an engine.
    pub fn scenario(&self) -> Scenario {
        Scenario { seed: self.seed, ..(*self.scenario).clone() }
    }
}
