use crate::errors::{Error, guarded, unwritten};
use crate::plan::Plan;
use crate::values::{by_name, dict};
use emulator::device::{Device, Offload};
use emulator::{Connection, Host, LinkCounts, PortCounts, PortName, Recording, Summary, within};
use link::Direction;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use scenario::form::CrossTraffic;
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

/// The addresses of both ends of the cross traffic with this number: the neighbour's, the peer's.
#[pyfunction]
pub fn cross_traffic_addresses(number: usize) -> (String, String) {
    let [neighbour, peer] = CrossTraffic::addresses(number);
    (neighbour.to_string(), peer.to_string())
}

/// A host, the name of its path or cross traffic, a namespace, the interface in it, the address of the other end.
type Port = (String, String, i32, String, String);

/// Links of a resolved scenario in real time, between devices of the kernel.
///
/// Making it opens the devices: `"tun"` makes TUN devices, `"packet"` uses interfaces that are there, one end of a veth
/// pair each, of which the port names the hardware address of the other. Nothing moves before `start`. The hosts `ours`
/// (`"client"`, `"server"`) have no ports: endpoints of mptcplab stand in their port_name, do what the scenario's transfer
/// says from `start` on, and `connections` tells how far they have come.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Emulator(Mutex<emulator::Emulator>);

#[pymethods]
impl Emulator {
    #[expect(clippy::too_many_arguments, reason = "most are named by the caller")]
    #[new]
    #[pyo3(signature = (plan, ports, *, devices, client_capture, server_capture, full_payload=false, link_log=None,
        ours=vec![]))]
    fn new(
        py: Python<'_>,
        plan: &Bound<'_, Plan>,
        ports: Vec<Port>,
        devices: &str,
        client_capture: Option<PathBuf>,
        server_capture: Option<PathBuf>,
        full_payload: bool,
        link_log: Option<PathBuf>,
        ours: Vec<String>,
    ) -> PyResult<Emulator> {
        let is_tun = match devices {
            "tun" => true,
            "packet" => false,
            _ => return Err(PyValueError::new_err("devices are \"tun\" or \"packet\"")),
        };
        let recording = Recording { client_capture, server_capture, full_payload, link_log };
        let plan = plan.get();
        py.detach(|| {
            guarded(|| {
                let ports = ports.iter().map(|port| opened(port, is_tun)).collect::<PyResult<_>>()?;
                let ours = ours.iter().map(|name| host(name)).collect::<PyResult<Vec<_>>>()?;
                let emulator = emulator::Emulator::new(plan.scenario(), ports, &ours, recording).map_err(refused)?;
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

    /// What each host of ours has come to: a dictionary for each of its connections, in the order in which they began.
    fn connections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hosts = py.detach(|| guarded(|| Ok(self.emulator().connections())))?;
        let dict = PyDict::new(py);
        for (host, connections) in hosts {
            let connections = connections.iter().map(|one| connection(py, one));
            dict.set_item(host.name(), connections.collect::<PyResult<Vec<_>>>()?)?;
        }
        Ok(dict)
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

fn host(name: &str) -> PyResult<Host> {
    let host = Host::ALL.into_iter().find(|known| known.name() == name);
    host.ok_or_else(|| PyValueError::new_err("a host is client, server, neighbour or peer"))
}

fn opened((whose, name, namespace, interface, peer): &Port, is_tun: bool) -> PyResult<(PortName, Device)> {
    let port_name = PortName { host: host(whose)?, name: name.as_str().into() };
    let peer = if is_tun { None } else { Some(hardware_address(peer)?) };
    let namespace = File::open(format!("/proc/self/fd/{namespace}")).map_err(unwritten)?;
    let open = || match peer {
        None => Device::tun(interface, Offload::default()),
        Some(peer) => Device::packet(interface, peer, Offload::default()),
    };
    Ok((port_name, within(namespace.as_fd(), open).map_err(refused)?))
}

/// As `ip link` writes it.
fn hardware_address(text: &str) -> PyResult<[u8; 6]> {
    let bytes: Result<Vec<u8>, _> = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
    let address = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    address.ok_or_else(|| PyValueError::new_err(format!("{text} is not a hardware address")))
}

fn described<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let Summary { started, ended, ports, links, records } = summary;
    let recorded = |[written, lost]: &[u64; 2]| Ok(dict!(py; written, lost));
    let links = links.iter().map(|(name, counts)| (name.to_string(), counts));
    let ports = ports.iter().map(|(port, counts)| (port.to_string(), counts));
    let captures = records.captures.iter().map(|(port, counts)| (port.to_string(), counts));
    Ok(dict!(py;
        started_ns: started.as_nanos(),
        ended_ns: ended.as_nanos(),
        links: by_name(py, links, |counts| link(py, counts))?,
        ports: by_name(py, ports, |counts| port(py, counts))?,
        captures: by_name(py, captures, recorded)?,
        link_log: records.link_log.as_ref().map(recorded).transpose()?,
    ))
}

fn connection<'py>(py: Python<'py>, connection: &Connection) -> PyResult<Bound<'py, PyDict>> {
    let Connection { mptcp, subflows, bytes_written, bytes_read, corrupt_bytes, done, end } = connection;
    Ok(dict!(py; mptcp, subflows, bytes_written, bytes_read, corrupt_bytes, done, end))
}

fn link<'py>(py: Python<'py>, counts: &LinkCounts) -> PyResult<Bound<'py, PyDict>> {
    let LinkCounts { packets, bytes, drops, lateness } = counts;
    let direction = |direction: Direction| -> PyResult<_> {
        let dropped = PyDict::new(py);
        for ((_, reason), count) in drops.iter().filter(|((of, _), _)| *of == direction) {
            dropped.set_item(reason.name(), count)?;
        }
        let at = direction as usize;
        Ok(dict!(py; packets: packets[at], bytes: bytes[at], drops: dropped))
    };
    let lateness = dict!(py;
        count: lateness.count(),
        mean_ns: lateness.mean_ns(),
        p99_ns: lateness.p99_ns(),
        max_ns: lateness.max_ns(),
    );
    Ok(dict!(py; up: direction(Direction::Up)?, down: direction(Direction::Down)?, lateness))
}

fn port<'py>(py: Python<'py>, counts: &PortCounts) -> PyResult<Bound<'py, PyDict>> {
    let PortCounts { received, received_frames, missed, local, malformed, sent, sent_frames, refused } = counts;
    Ok(dict!(py; received, received_frames, missed, local, malformed, sent, sent_frames, refused))
}
