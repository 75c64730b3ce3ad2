use crate::{
    analyze, application,
    errors::{guarded, refused, unwritten},
    plan::Plan,
    record::End,
    tables::Tables,
    values::dict,
    watch::Watch,
};
use analysis::{Analysis, Options};
use pyo3::{prelude::*, types::PyDict};
use sim::{Outcome, Simulation};
use std::path::PathBuf;
use transport::path_manager::Budgeted;

/// So many events are run between looks at Ctrl-C and reports of progress.
const STRIDE: u64 = 1 << 17;

/// Runs a resolved scenario in virtual time and measures what its client and server saw.
///
/// Captures are written where paths for them are given: headers only, or with their payload. `progress` is called now
/// and then with the virtual time in nanoseconds and the packets that hosts received.
#[expect(clippy::too_many_arguments, reason = "all but one are named by the caller")]
#[pyfunction]
#[pyo3(signature = (plan, *, client_capture=None, server_capture=None, full_payload=false, bin_seconds=1.0,
    smoothing_seconds=5.0, trim_seconds=5.0, samples=true, progress=None))]
pub fn simulate(
    py: Python<'_>,
    plan: &Bound<'_, Plan>,
    client_capture: Option<PathBuf>,
    server_capture: Option<PathBuf>,
    full_payload: bool,
    bin_seconds: f64,
    smoothing_seconds: f64,
    trim_seconds: f64,
    samples: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Tables> {
    let plan = plan.get();
    let options = Options {
        bin_ns: analyze::positive("bin_seconds", bin_seconds)?,
        smoothing_ns: analyze::nanoseconds("smoothing_seconds", smoothing_seconds)?,
        trim_ns: analyze::nanoseconds("trim_seconds", trim_seconds)?,
        samples,
        one_clock: true,
        application: application::of(&plan.scenario().transfer),
    };
    let mut run = py.detach(|| {
        guarded(|| {
            let simulation = Simulation::new(plan.scenario()).map_err(refused)?;
            let ends = [("client", client_capture), ("server", server_capture)];
            let ends = ends.map(|(host, path)| End { host, path });
            let watch = Watch::new(Analysis::new(options), &simulation.points(), &ends, full_payload);
            Ok(Run { simulation, watch: watch.map_err(unwritten)? })
        })
    })?;
    loop {
        let outcome = py.detach(|| guarded(|| run.advance()))?;
        py.check_signals()?;
        if let Some(progress) = &progress {
            progress.call1((run.simulation.virtual_ns(), run.simulation.packets()))?;
        }
        if let Some(outcome) = outcome {
            return py.detach(|| guarded(|| run.finish(outcome)));
        }
    }
}

struct Run {
    simulation: Simulation,
    watch: Watch,
}

impl Run {
    fn advance(&mut self) -> PyResult<Option<Outcome>> {
        let outcome = self.simulation.run(&mut self.watch, STRIDE);
        self.watch.check().map_err(unwritten)?;
        Ok(outcome)
    }

    fn finish(self, outcome: Outcome) -> PyResult<Tables> {
        let mut tables = self.watch.finish().map_err(unwritten)?;
        self.simulation.into_records().into_tables(&mut tables);
        Ok(Tables::simulated(tables, outcome))
    }
}

/// How a run ended.
pub fn outcome<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let Outcome { finished, reason, virtual_ns, packets, bytes_up, bytes_down, cross_traffic, spent } = outcome;
    let seconds = |ns: i64| ns as f64 / 1e9;
    let cross_traffic = cross_traffic
        .iter()
        .map(|traffic| Ok(dict!(py; name: &traffic.name, bytes: traffic.bytes, active_s: seconds(traffic.active_ns))));
    let spent = spent.iter().map(|spent| {
        let budget = match spent.budget {
            Budgeted::Data => "data",
            Budgeted::Cost => "cost",
        };
        Ok(dict!(py; path: &spent.path, at_s: seconds(spent.at_ns), budget))
    });
    Ok(dict!(py;
        finished,
        reason,
        virtual_ns,
        packets,
        bytes_received: dict!(py; up: bytes_up, down: bytes_down),
        cross_traffic: cross_traffic.collect::<PyResult<Vec<_>>>()?,
        spent: spent.collect::<PyResult<Vec<_>>>()?,
    ))
}
