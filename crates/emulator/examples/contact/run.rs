//! From a plan to a report.

use crate::exchange::Exchange;
use crate::plan::Plan;
use crate::recorder::Recorder;
use emulator::{Clock, Station, Tun};
use host::{Host, Interface};
use serde_json::{Value, json};
use std::error::Error;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use transport::{Config, ConnectionId, Nic, Snapshot};
use wire::Time;

const MTU_BYTES: u32 = 1500;
/// For the last acknowledgements, once nothing is left to do.
const LINGER_NS: i64 = 300_000_000;

/// Carries out the plan in the file at `path`.
pub fn run(path: &str) -> Result<Value, Box<dyn Error>> {
    let plan: Plan = serde_json::from_slice(&std::fs::read(path)?)?;
    let clock = Clock::start();
    let mut devices = Vec::new();
    for (nic, interface) in plan.interfaces.iter().enumerate() {
        for device in &interface.devices {
            devices.push((Tun::open(device)?, Nic(nic as u32)));
        }
    }
    let names: Vec<String> = devices.iter().map(|(tun, _)| tun.name().to_owned()).collect();
    let mut recorder = Recorder::new(&plan.capture, &names)?;
    // The devices are there: whoever called this sets them up, and says so.
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    let now = clock.now();
    let mut station = Station::new(host(&plan, now.as_nanos() as u64, now)?, clock, devices);

    let mut last = None;
    let mut detach = plan.detach;
    let steer = |now: Time, host: &mut Host| {
        let first = host.progress().next().map(|(id, progress)| (id, *progress));
        let Some((id, progress)) = first else { return ControlFlow::Continue(()) };
        if progress.read >= plan.bytes / 2
            && let Some(nic) = detach.take()
        {
            host.detach(now, Nic(nic));
        }
        last = observe(host, id).or(last.take());
        if progress.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    station.run(clock.now() + plan.seconds * 1_000_000_000, &mut recorder, steer)?;
    station.run(clock.now() + LINGER_NS, &mut recorder, |_, _| ControlFlow::Continue(()))?;
    recorder.finish()?;
    Ok(report(station.host(), last))
}

fn host(plan: &Plan, seed: u64, now: Time) -> Result<Host, Box<dyn Error>> {
    // Room for all: with less, a receiver that counts each segment may stop for good, as Linux does where it cannot merge them.
    let mut ours = Config::default();
    (ours.tcp.receive_buffer_bytes, ours.tcp.receive_buffer_tuning) = (8_000_000, false);
    let mut config = serde_json::to_value(ours)?;
    merge(&mut config, &plan.config);
    let interfaces = plan.interfaces.iter();
    let interfaces = interfaces.map(|known| Interface::new(&known.name, known.addresses.clone(), MTU_BYTES)).collect();
    let mut host = Host::new(serde_json::from_value(config)?, seed, interfaces);
    for nic in 0..plan.interfaces.len() {
        host.attach(now, Nic(nic as u32));
    }
    let (bytes, close) = (plan.bytes, plan.close);
    if let Some(port) = plan.listen {
        host.listen(port, Box::new(move || Box::new(Exchange::new(bytes, close, true))));
    }
    if let Some(open) = &plan.open {
        host.connect(now, SocketAddr::new(open.local, 0), open.remote, Box::new(Exchange::new(bytes, close, false)));
    }
    Ok(host)
}

/// JSON Merge Patch (RFC 7396) without removals.
fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch.clone(),
    }
}

/// What is seen of the connection while there is one.
fn observe(host: &Host, id: ConnectionId) -> Option<Snapshot> {
    host.endpoint().snapshot(id)
}

fn report(host: &mut Host, last: Option<Snapshot>) -> Value {
    let Some((_, progress)) = host.progress().next() else { return json!({ "connected": false }) };
    json!({
        "connected": progress.connected,
        "written": progress.written,
        "read": progress.read,
        "delivered": progress.delivered,
        "peer_finished": progress.peer_finished,
        "closed": progress.closed.map(|outcome| format!("{outcome:?}")),
        "mptcp": last.as_ref().map(|seen| seen.mptcp),
        "corrupt_bytes": last.as_ref().map(|seen| seen.corrupt_bytes),
    })
}
