//! From a scenario and devices to lanes.

use crate::device::Device;
use crate::lane::{Doors, Entry, Lane, Line, Port, PortCounts, Stop, Wait};
use crate::place::{Host, Place};
use crate::recorder::{Feed, Recorder, Recording, Site};
use crate::{Clock, Error};
use link::{Change, Element, Out};
use scenario::{Action, Network, Routes, SERVER, Scenario, Timeline};
use std::collections::VecDeque;
use std::sync::Arc;
use wire::Time;

/// Every path has a port at either end, cross traffic too, and there is no other.
pub(crate) fn check<'a>(scenario: &Scenario, places: impl Iterator<Item = &'a Place> + Clone) -> Result<(), Error> {
    let paths = scenario.paths.iter().map(|path| (path.name.as_str(), [Host::Client, Host::Server]));
    let crosses = scenario.cross_traffic.iter().map(|traffic| (traffic.name(), [Host::Neighbour, Host::Peer]));
    let needed = paths.chain(crosses).flat_map(|(name, hosts)| hosts.map(|host| Place { host, name: name.into() }));
    let needed: Vec<Place> = needed.collect();
    let fault = |place: &Place, fault| Err(Error::Port { port: place.to_string(), fault });
    for place in &needed {
        match places.clone().filter(|given| *given == place).count() {
            1 => {}
            0 => return fault(place, "has no device"),
            _ => return fault(place, "has more than one device"),
        }
    }
    match places.clone().find(|place| !needed.contains(place)) {
        Some(place) => fault(place, "is none of the scenario's"),
        None => Ok(()),
    }
}

/// Lanes by name, ready to run, and what records what they see.
pub(crate) fn assemble(
    scenario: &Scenario,
    devices: Vec<(Place, Device)>,
    recording: &Recording,
    (clock, start): (Clock, Time),
    stop: &Stop,
) -> Result<(Vec<(String, Lane)>, Recorder), Error> {
    let (network, timeline) = Network::of(scenario, start)?;
    let names: Vec<Arc<str>> = network.links.iter().map(|link| link.name.clone()).collect();
    let of_paths: Vec<usize> = network.paths.iter().map(|path| path.link).collect();
    let points = devices.iter().map(|(place, _)| place.clone());
    let points = points.filter(|place| Site::of(place.host).is_some_and(|site| recording.capture(site).is_some()));
    let (recorder, shared, sender) = Recorder::new(clock, recording, points.collect(), &names)?;

    // Each link has a lane of its own: paths have their own ports at both ends, so links share nothing.
    let mut lanes = Vec::new();
    for number in 0..names.len() {
        let feed = Feed::new(number, shared.clone(), sender.clone());
        let doors = Doors::new(of_paths.len(), scenario.cross_traffic.len());
        lanes.push(blank((clock, start), Wait::new(stop.clone())?, (&names, &of_paths), &network.routes, doors, feed));
    }
    for (number, link) in network.links.into_iter().enumerate() {
        lanes[number].lines[number] = Some(Line::new(link));
    }
    for ((number, mut path), given) in network.paths.into_iter().enumerate().zip(&scenario.paths) {
        if let (Some(chain), false) = (&mut path.chain, given.attached) {
            chain.change(start, Change::Detach, &mut Out::default()).expect("paths have a gate");
        }
        let lane = path.link;
        lanes[lane].paths[number] = Some(path);
    }
    distribute(timeline, &of_paths, &mut lanes);
    for (place, device) in devices {
        let (lane, entry) = home(scenario, &names, &of_paths, &place);
        let lane = &mut lanes[lane];
        let number = lane.ports.len();
        lane.wait.add(number, &device)?;
        *lane.doors.of(scenario, &place) = Some(number);
        let point = shared.point(&place);
        lane.ports.push(Port { place, device, point, entry, out: Vec::new(), counts: PortCounts::default() });
    }
    let named = names.iter().map(|name| format!("link {name}")).zip(lanes).collect();
    Ok((named, recorder))
}

fn blank(
    (clock, start): (Clock, Time),
    wait: Wait,
    (links, paths): (&[Arc<str>], &[usize]),
    routes: &Routes,
    doors: Doors,
    feed: Feed,
) -> Lane {
    Lane {
        clock,
        wait,
        lines: links.iter().map(|_| None).collect(),
        paths: paths.iter().map(|_| None).collect(),
        routes: routes.clone(),
        ports: Vec::new(),
        doors,
        timeline: VecDeque::new(),
        feed,
        out: Out::default(),
        work: VecDeque::new(),
        now: start,
    }
}

/// What happens to a path or link happens in its lane. Cross traffic is the hosts'.
fn distribute(mut timeline: Timeline, of_paths: &[usize], lanes: &mut [Lane]) {
    loop {
        let at = timeline.deadline();
        let Some(action) = timeline.next(at) else { return };
        let link = match &action {
            Action::Blackout(path)
            | Action::Hold(path)
            | Action::Restore(path)
            | Action::Detach(path)
            | Action::Attach(path)
            | Action::Rebind(path, _) => of_paths[*path],
            Action::Profile(link, _) => *link,
            Action::Start(_) | Action::Stop(_) => continue,
        };
        lanes[link].timeline.push_back((at, action));
    }
}

/// The lane of a port, and where what comes in there goes.
fn home(scenario: &Scenario, links: &[Arc<str>], of_paths: &[usize], place: &Place) -> (usize, Entry) {
    let path = scenario.paths.iter().position(|path| *path.name == *place.name);
    let traffic = scenario.cross_traffic.iter().find(|traffic| *traffic.name() == *place.name);
    let link = traffic.and_then(|traffic| links.iter().position(|link| **link == *traffic.link()));
    match place.host {
        Host::Client => path.map(|path| (of_paths[path], Entry::Path(path))),
        Host::Server => path.map(|path| (of_paths[path], Entry::Router)),
        Host::Neighbour => link.map(|link| (link, Entry::Link(link))),
        Host::Peer => link.map(|link| (link, Entry::Router)),
    }
    .expect("checked: ports belong to paths or cross traffic")
}

impl Doors {
    fn new(paths: usize, crosses: usize) -> Doors {
        Doors { client: vec![None; paths], server: vec![None; paths], others: vec![None; 2 * crosses] }
    }

    fn of(&mut self, scenario: &Scenario, place: &Place) -> &mut Option<usize> {
        let path = || scenario.paths.iter().position(|path| *path.name == *place.name);
        let cross = || scenario.cross_traffic.iter().position(|traffic| *traffic.name() == *place.name);
        // As hosts of cross traffic are numbered from behind the server: neighbour, peer, …
        const { assert!(SERVER == 1) };
        let door = match place.host {
            Host::Client => path().map(|path| &mut self.client[path]),
            Host::Server => path().map(|path| &mut self.server[path]),
            Host::Neighbour => cross().map(|cross| &mut self.others[2 * cross]),
            Host::Peer => cross().map(|cross| &mut self.others[2 * cross + 1]),
        };
        door.expect("checked: ports belong to paths or cross traffic")
    }
}
