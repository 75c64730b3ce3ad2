//! From a scenario and devices to lanes.

use crate::device::Device;
use crate::lane::{Doors, Entry, Lane, Line, Pace, Port, Resident, Standing, Stop, Wait};
use crate::place::{Host, Place};
use crate::recorder::{Feed, Recorder, Recording, Site};
use crate::{Clock, Error};
use link::{Change, Element, Out};
use network::{Action, Network, Routes, SERVER, Timeline};
use scenario::{Scenario, form};
use std::collections::VecDeque;
use std::sync::Arc;
use wire::Time;

/// Every path has a port at either end but at those of hosts of ours, cross traffic too, and there is no other.
pub(crate) fn check<'a>(
    scenario: &Scenario,
    places: impl Iterator<Item = &'a Place> + Clone,
    ours: &Ours,
) -> Result<(), Error> {
    let paths = scenario.paths.iter().map(|path| (path.name.as_str(), [Host::Client, Host::Server]));
    let crosses = scenario.cross_traffic.iter().map(|traffic| (traffic.name(), [Host::Neighbour, Host::Peer]));
    let needed = paths.chain(crosses).flat_map(|(name, hosts)| hosts.map(|host| Place { host, name: name.into() }));
    let needed: Vec<Place> = needed.filter(|place| ours.of(place.host).is_none()).collect();
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

/// Hosts of ours: the client, the server, or neither.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ours(Vec<(Host, Standing)>);

impl Ours {
    /// Those of the list.
    pub fn new(hosts: &[Host]) -> Result<Ours, Error> {
        let mut ours = Vec::new();
        for &host in hosts {
            let fault = match host {
                Host::Neighbour | Host::Peer => "is always the kernel's",
                _ if !ours.is_empty() => "cannot be ours beside another: two such hosts are for the simulation",
                _ => {
                    ours.push((host, Standing::default()));
                    continue;
                }
            };
            return Err(Error::Port { port: host.name().into(), fault });
        }
        Ok(Ours(ours))
    }

    /// What a host of ours has come to, if it is one.
    pub fn of(&self, host: Host) -> Option<&Standing> {
        self.0.iter().find(|(known, _)| *known == host).map(|(_, standing)| standing)
    }

    /// All of them.
    pub fn all(&self) -> &[(Host, Standing)] {
        &self.0
    }

    fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Where their packets are seen.
    fn places(&self, scenario: &Scenario) -> impl Iterator<Item = Place> {
        let of = |host: Host| scenario.paths.iter().map(move |path| Place { host, name: path.name.as_str().into() });
        self.0.iter().flat_map(move |(host, _)| of(*host))
    }
}

/// Lanes by name, ready to run, and what records what they see.
pub(crate) fn assemble(
    scenario: &Scenario,
    devices: Vec<(Place, Device)>,
    ours: &Ours,
    recording: &Recording,
    (clock, start): (Clock, Time),
    stop: &Stop,
) -> Result<(Vec<(String, Lane)>, Recorder), Error> {
    let scenario = Arc::new(Scenario { epoch_ns: start.as_nanos(), ..scenario.clone() });
    let (network, timeline) = Network::of(&scenario, start)?;
    let names: Vec<Arc<str>> = network.links.iter().map(|link| link.name.clone()).collect();
    let of_paths: Vec<usize> = network.paths.iter().map(|path| path.link).collect();
    let points = ours.places(&scenario).chain(devices.iter().map(|(place, _)| place.clone()));
    let points = points.filter(|place| Site::of(place.host).is_some_and(|site| recording.capture(site).is_some()));
    // Paths have their own ports at both ends, so each link has a lane of its own. A host of ours joins them.
    let count = if ours.is_none() { names.len() } else { 1 };
    let lane_of = |link: usize| if count == 1 { 0 } else { link };
    let (recorder, shared, sender) = Recorder::new(clock, recording, points.collect(), &names, count)?;

    let mut lanes = Vec::new();
    for number in 0..count {
        let feed = Feed::new(number, shared.clone(), sender.clone());
        let doors = Doors::new(&scenario);
        lanes.push(blank((clock, start), Wait::new(stop.clone())?, (&names, &of_paths), &network.routes, doors, feed));
    }
    for (number, link) in network.links.into_iter().enumerate() {
        lanes[lane_of(number)].lines[number] = Some(Line::new(link));
    }
    for ((number, mut path), given) in network.paths.into_iter().enumerate().zip(&scenario.paths) {
        if let (Some(chain), false) = (&mut path.chain, given.attached) {
            chain.change(start, Change::Detach, &mut Out::default()).expect("paths have a gate");
        }
        let lane = lane_of(path.link);
        lanes[lane].paths[number] = Some(path);
    }
    distribute(timeline, |action| link_of(action, &of_paths).map(lane_of), &mut lanes);
    for (whose, standing) in &ours.0 {
        let point = |path: &form::Path| shared.point(&Place { host: *whose, name: path.name.as_str().into() });
        let points = scenario.paths.iter().map(point).collect();
        lanes[0].residents[Resident::place(*whose)] = Some(Resident::new(*whose, &scenario, points, standing.clone()));
    }
    for (place, device) in devices {
        let (link, entry) = home(&scenario, &names, &of_paths, &place);
        let lane = &mut lanes[lane_of(link)];
        let number = lane.ports.len();
        lane.wait.add(number, &device)?;
        *lane.doors.of(&scenario, &place) = Some(number);
        let point = shared.point(&place);
        lane.ports.push(Port::new(place, device, point, entry));
    }
    let name = |number: usize| if ours.is_none() { format!("link {}", names[number]) } else { "links".into() };
    Ok((lanes.into_iter().enumerate().map(|(number, lane)| (name(number), lane)).collect(), recorder))
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
        pace: Pace::new(),
        lines: links.iter().map(|_| None).collect(),
        paths: paths.iter().map(|_| None).collect(),
        routes: routes.clone(),
        ports: Vec::new(),
        doors,
        residents: [None, None],
        timeline: VecDeque::new(),
        feed,
        out: Out::default(),
        work: VecDeque::new(),
        now: start,
        begun: start,
        due: start,
        woken: start,
    }
}

/// What happens to a path or link happens in its lane.
fn distribute(mut timeline: Timeline, lane_of: impl Fn(&Action) -> Option<usize>, lanes: &mut [Lane]) {
    loop {
        let at = timeline.deadline();
        let Some(action) = timeline.next(at) else { return };
        if let Some(lane) = lane_of(&action) {
            lanes[lane].timeline.push_back((at, action));
        }
    }
}

/// The link that it happens to, or to a path of which. Cross traffic is the hosts'.
fn link_of(action: &Action, of_paths: &[usize]) -> Option<usize> {
    match action {
        Action::Blackout(path)
        | Action::Hold(path)
        | Action::Restore(path)
        | Action::Detach(path)
        | Action::Attach(path)
        | Action::Rebind(path, _) => Some(of_paths[*path]),
        Action::Profile(link, _) => Some(*link),
        Action::Start(_) | Action::Stop(_) => None,
    }
}

/// The link of a port, and where what comes in there goes.
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
    fn new(scenario: &Scenario) -> Doors {
        let (paths, crosses) = (scenario.paths.len(), scenario.cross_traffic.len());
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
