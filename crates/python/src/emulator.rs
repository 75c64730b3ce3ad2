use crate::errors::{Error, guarded, unwritten};
use emulator::device::{Device, Offload};
use emulator::{Host, LinkCounts, Place, PortCounts, Recording, Summary, within};
use link::Direction;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use scenario::Scenario;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A new anonymous network namespace, which lives while this object, a process or a device in it does.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Namespace(emulator::Namespace);

#[pymethods]
impl Namespace {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Namespace> {
        py.detach(|| guarded(|| emulator::Namespace::new().map(Namespace).map_err(refused)))
    }

    /// The file descriptor by which it can be entered.
    fn fileno(&self) -> i32 {
        self.0.as_fd().as_raw_fd()
    }
}

/// A host, the name of its path or cross traffic, a namespace, the interface in it, the address of the other end.
type Port = (String, String, i32, String, String);

/// Links of a resolved scenario (JSON) in real time, between devices of the kernel.
///
/// Making it opens the devices; nothing moves before `start`.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Emulator(Mutex<emulator::Emulator>);

#[pymethods]
impl Emulator {
    #[allow(clippy::too_many_arguments)] // most are named by the caller
    #[new]
    #[pyo3(signature = (plan, ports, *, devices, client_capture, server_capture, full_payload=false, link_log=None))]
    fn new(
        py: Python<'_>,
        plan: &str,
        ports: Vec<Port>,
        devices: &str,
        client_capture: Option<PathBuf>,
        server_capture: Option<PathBuf>,
        full_payload: bool,
        link_log: Option<PathBuf>,
    ) -> PyResult<Emulator> {
        if devices != "tun" {
            return Err(PyValueError::new_err("devices are \"tun\""));
        }
        let recording = Recording { client_capture, server_capture, full_payload, link_log };
        py.detach(|| {
            guarded(|| {
                let scenario = Scenario::from_json(plan).map_err(|error| Error::new_err(error.to_string()))?;
                let ports = ports.iter().map(opened).collect::<PyResult<_>>()?;
                let emulator = emulator::Emulator::new(scenario, ports, recording).map_err(refused)?;
                Ok(Emulator(Mutex::new(emulator)))
            })
        })
    }

    /// Lets packets move; gives the time 0 of the timeline in nanoseconds since 1970.
    fn start(&self, py: Python<'_>) -> PyResult<i64> {
        py.detach(|| guarded(|| self.emulator().start().map(|start| start.as_nanos()).map_err(refused)))
    }

    /// Whether packets move: false before `start`, after `stop`, and when something has failed, which `stop` says.
    fn is_running(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| guarded(|| Ok(self.emulator().is_running())))
    }

    /// Ends it and completes the captures; says what passed. None if it does not run.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let stopped = py.detach(|| guarded(|| self.emulator().stop().map_err(refused)))?;
        stopped.map(|summary| described(py, &summary)).transpose()
    }
}

impl Emulator {
    fn emulator(&self) -> std::sync::MutexGuard<'_, emulator::Emulator> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(error: emulator::Error) -> PyErr {
    Error::new_err(error.to_string())
}

fn opened((host, name, namespace, interface, _): &Port) -> PyResult<(Place, Device)> {
    let host = Host::ALL.into_iter().find(|known| known.name() == host);
    let host = host.ok_or_else(|| PyValueError::new_err("a host is client, server, neighbour or peer"))?;
    let namespace = File::open(format!("/proc/self/fd/{namespace}")).map_err(unwritten)?;
    let open = || Device::tun(interface, Offload::default());
    let device = within(namespace.as_fd(), open).map_err(refused)?;
    Ok((Place { host, name: name.as_str().into() }, device))
}

fn described<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("started_ns", summary.started.as_nanos())?;
    dict.set_item("ended_ns", summary.ended.as_nanos())?;
    let links = PyDict::new(py);
    for (name, counts) in &summary.links {
        links.set_item(&**name, link(py, counts)?)?;
    }
    dict.set_item("links", links)?;
    let ports = PyDict::new(py);
    for (place, counts) in &summary.ports {
        ports.set_item(place.to_string(), port(py, counts)?)?;
    }
    dict.set_item("ports", ports)?;
    let captures = PyDict::new(py);
    for (place, records) in &summary.records.captures {
        captures.set_item(place.to_string(), recorded(py, records)?)?;
    }
    dict.set_item("captures", captures)?;
    dict.set_item("link_log", summary.records.link_log.map(|records| recorded(py, &records)).transpose()?)?;
    Ok(dict)
}

fn recorded<'py>(py: Python<'py>, [written, lost]: &[u64; 2]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("written", written)?;
    dict.set_item("lost", lost)?;
    Ok(dict)
}

fn link<'py>(py: Python<'py>, counts: &LinkCounts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (direction, name) in [(Direction::Up, "up"), (Direction::Down, "down")] {
        let way = PyDict::new(py);
        way.set_item("packets", counts.packets[direction as usize])?;
        way.set_item("bytes", counts.bytes[direction as usize])?;
        let drops = PyDict::new(py);
        for ((of, reason), count) in &counts.drops {
            if *of == direction {
                drops.set_item(reason.name(), count)?;
            }
        }
        way.set_item("drops", drops)?;
        dict.set_item(name, way)?;
    }
    let lateness = PyDict::new(py);
    lateness.set_item("count", counts.lateness.count())?;
    lateness.set_item("mean_ns", counts.lateness.mean_ns())?;
    lateness.set_item("p99_ns", counts.lateness.p99_ns())?;
    lateness.set_item("max_ns", counts.lateness.max_ns())?;
    dict.set_item("lateness", lateness)?;
    Ok(dict)
}

fn port<'py>(py: Python<'py>, counts: &PortCounts) -> PyResult<Bound<'py, PyDict>> {
    let PortCounts { received, received_frames, local, malformed, sent, sent_frames, refused } = counts;
    let dict = PyDict::new(py);
    dict.set_item("received", received)?;
    dict.set_item("received_frames", received_frames)?;
    dict.set_item("local", local)?;
    dict.set_item("malformed", malformed)?;
    dict.set_item("sent", sent)?;
    dict.set_item("sent_frames", sent_frames)?;
    dict.set_item("refused", refused)?;
    Ok(dict)
}
