//! How a scenario is read: what is refused, and what a baseline leaves out.

use crate::form::{self, Event, Run};
use crate::{Error, Scenario, applications};
use link::behind_nat64;
use std::net::IpAddr;
use wire::Time;

/// The version of the form that is read.
const SCHEMA: u32 = 1;

impl Scenario {
    /// Reads it, and checks what can be said of it as a whole. A baseline comes out as the scenario without what its
    /// path does not meet.
    ///
    /// # Errors
    /// [`Error`] says in one line what is wrong with it.
    pub fn from_json(json: &str) -> Result<Scenario, Error> {
        let mut scenario: Scenario = serde_json::from_str(json)?;
        reduce(&mut scenario)?;
        check(&scenario)?;
        Ok(scenario)
    }

    /// When it starts.
    pub fn start(&self) -> Time {
        Time::from_nanos(self.epoch_ns)
    }

    /// When it is given up.
    pub fn stop(&self) -> Time {
        self.settings.stop_ns.map_or(Time::MAX, |stop_ns| self.start() + stop_ns)
    }
}

/// A baseline is the scenario without what its path does not meet. What changes its link stays, whoever asked for it:
/// both runs meet the same radio.
fn reduce(scenario: &mut Scenario) -> Result<(), Error> {
    let Run::Tcp { path: wanted } = &scenario.run else { return Ok(()) };
    let wanted = wanted.clone();
    let of = |name: &str| scenario.paths.iter().find(|path| path.name == name).map(|path| path.link.clone());
    let link = of(&wanted).ok_or_else(|| Error::fault("run", format!("there is no path {wanted}")))?;
    let same = |event: &Event| match event {
        Event::Profile { path, .. } => of(path).as_ref() == Some(&link),
        event => event.time_and_path().1 == wanted,
    };
    let mut timeline: Vec<Event> = scenario.timeline.iter().filter(|event| same(event)).cloned().collect();
    for event in &mut timeline {
        if let Event::Profile { path, .. } = event {
            path.clone_from(&wanted);
        }
    }
    scenario.timeline = timeline;
    scenario.cross_traffic.retain(|traffic| traffic.link() == link);
    scenario.paths.retain(|path| path.name == wanted);
    scenario.links.retain(|name, _| *name == link);
    scenario.converters = None;
    scenario.transport.client.mptcp.enabled = false;
    scenario.transport.server.mptcp.enabled = false;
    Ok(())
}

fn check(scenario: &Scenario) -> Result<(), Error> {
    if scenario.schema != SCHEMA {
        return Err(Error::fault("schema", format!("{} is not known, only {SCHEMA}", scenario.schema)));
    }
    if scenario.paths.is_empty() || scenario.server.addresses.is_empty() {
        return Err(Error::fault("scenario", "a path and an address of the server are needed"));
    }
    let form::Settings { stop_ns, sample_ns, processing_ns, earlier_transfers: _ } = scenario.settings;
    if sample_ns < 0 || stop_ns.is_some_and(|stop_ns| stop_ns < 0) || processing_ns < 0 {
        return Err(Error::fault("scenario", "a time must not be negative"));
    }
    applications::check(&scenario.transfer)?;
    for (name, config) in [("client", &scenario.transport.client), ("server", &scenario.transport.server)] {
        config.check().map_err(Error::Policy)?;
        if config.tcp.send_buffer_bytes == 0 || config.tcp.receive_buffer_bytes == 0 {
            return Err(Error::fault(name, "a buffer must be larger than 0"));
        }
    }
    for (index, path) in scenario.paths.iter().enumerate() {
        let fault = |fault: &str| Err(Error::fault(format!("path {}", path.name), fault));
        if scenario.paths[..index].iter().any(|other| other.name == path.name) {
            return fault("another path has this name");
        }
        let addresses = path.addresses();
        let has = |ipv4| scenario.server.addresses.iter().any(|one| one.is_ipv4() == ipv4);
        let meets = |address: &IpAddr| has(address.is_ipv4()) || behind_nat64(*address).is_some() && has(true);
        if !addresses.iter().any(meets) {
            return fault("has no address of a family that the server uses");
        }
    }
    Ok(())
}
