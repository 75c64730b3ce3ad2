use crate::lane::{Doors, Entry, Lane, LinkCounts, Port, PortCounts, Stop, Wait};
use crate::place::{Host, Place};
use crate::recorder::{Feed, Recorder, Recording, Shared};
use crate::single::Single;
use crate::{Clock, Error, Tun, within};
use link::Out;
use scenario::{Action, Network, SERVER, Scenario};
use std::any::Any;
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};
use wire::Time;

/// Links in real time between devices of the kernel.
pub struct Emulator {
    scenario: Scenario,
    recording: Recording,
    devices: Vec<(Place, Single)>,
    running: Option<Running>,
}

struct Running {
    start: Time,
    clock: Clock,
    stop: Stop,
    shared: Arc<Shared>,
    lanes: Vec<JoinHandle<Result<Lane, Error>>>,
    recorder: JoinHandle<Result<(), Error>>,
    links: Vec<Arc<str>>,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// When it started.
    pub started: Time,
    /// When it ended.
    pub ended: Time,
    /// What passed each port.
    pub ports: Vec<(Place, PortCounts)>,
    /// What happened on each link, by its name.
    pub links: Vec<(Arc<str>, LinkCounts)>,
    /// Of each captured port: packets that were written, and those that were lost.
    pub captured: Vec<(Place, u64, u64)>,
}

/// A TUN device to be made.
#[derive(Debug)]
pub struct Device<'a> {
    /// Where it stands.
    pub place: Place,
    /// The network namespace that it is made in.
    pub namespace: BorrowedFd<'a>,
    /// Its name there.
    pub interface: String,
}

impl Emulator {
    /// Opens the devices; nothing moves yet.
    ///
    /// # Errors
    /// When the scenario cannot be run, its paths and cross traffic do not have their ports, or a device is refused.
    pub fn new(scenario: Scenario, devices: Vec<Device>, recording: Recording) -> Result<Emulator, Error> {
        // What it refuses, it refuses before anything is opened.
        Network::of(&scenario, scenario.start())?;
        check(&scenario, &devices)?;
        let open = |Device { place, namespace, interface }: Device| {
            let tun = within(namespace, || Tun::open(&interface))?;
            Ok((place, Single::new(tun)))
        };
        let devices = devices.into_iter().map(open).collect::<Result<_, Error>>()?;
        Ok(Emulator { scenario, recording, devices, running: None })
    }

    /// Lets packets move, and time begin: what it gives is time 0 of the timeline. Nothing happens if it runs.
    ///
    /// # Errors
    /// When a file cannot be created or a thread not be started.
    pub fn start(&mut self) -> Result<Time, Error> {
        if let Some(running) = &self.running {
            return Ok(running.start);
        }
        let clock = Clock::start();
        let start = clock.now();
        let running = self.launch(clock, start)?;
        self.running = Some(running);
        Ok(start)
    }

    /// Ends all threads and completes the captures.
    ///
    /// # Errors
    /// What went wrong first: a device, a file, a fault of ours.
    pub fn stop(&mut self) -> Result<Option<Summary>, Error> {
        self.running.take().map(Running::end).transpose()
    }

    fn launch(&mut self, clock: Clock, start: Time) -> Result<Running, Error> {
        let (network, mut timeline) = Network::of(&self.scenario, start)?;
        let stop = Stop::new()?;
        let links: Vec<Arc<str>> = network.links.iter().map(|link| link.name.clone()).collect();
        let paths: Vec<usize> = network.paths.iter().map(|path| path.link).collect();
        let is_seen = |(place, _): &&(Place, Single)| matches!(place.host, Host::Client | Host::Server);
        let points: Vec<Place> = self.devices.iter().filter(is_seen).map(|(place, _)| place.clone()).collect();
        let (recorder, shared, sender) = Recorder::new(clock, &self.recording, points, links.len())?;

        let mut lanes = Vec::new();
        let mut routes = Some(network.routes);
        let _ = &mut routes;
        for number in 0..links.len() {
            lanes.push(Lane {
                clock,
                wait: Wait::new(stop.clone())?,
                links: (0..links.len()).map(|_| None).collect(),
                counts: vec![LinkCounts::default(); links.len()],
                paths: (0..paths.len()).map(|_| None).collect(),
                routes: routes.clone().expect("kept"),
                ports: Vec::new(),
                doors: Doors::new(paths.len(), self.scenario.cross_traffic.len()),
                timeline: VecDeque::new(),
                feed: Feed::new(number, shared.clone(), sender.clone()),
                out: Out::default(),
                work: VecDeque::new(),
                now: start,
            });
        }
        drop(sender);
        for (number, link) in network.links.into_iter().enumerate() {
            lanes[number].links[number] = Some(link);
        }
        for (number, path) in network.paths.into_iter().enumerate() {
            let lane = path.link;
            lanes[lane].paths[number] = Some(path);
        }
        while timeline.deadline() < Time::MAX {
            let at = timeline.deadline();
            let Some(action) = timeline.next(at) else { break };
            let lane = match &action {
                Action::Blackout(path)
                | Action::Hold(path)
                | Action::Restore(path)
                | Action::Detach(path)
                | Action::Attach(path)
                | Action::Rebind(path, _) => paths[*path],
                Action::Profile(link, _) => *link,
                Action::Start(_) | Action::Stop(_) => continue,
            };
            lanes[lane].timeline.push_back((at, action));
        }
        for (place, device) in self.devices.drain(..) {
            let (lane, entry) = home(&self.scenario, &links, &paths, &place);
            let lane = &mut lanes[lane];
            let number = lane.ports.len();
            lane.wait.add(number, &device)?;
            *lane.doors.of(&self.scenario, &place) = Some(number);
            let point = shared.points.iter().position(|point| point.place == place).map(|point| point as u32);
            lane.ports.push(Port { place, device, point, entry, out: Vec::new(), counts: PortCounts::default() });
        }
        let attached: Vec<bool> = self.scenario.paths.iter().map(|path| path.attached).collect();
        let spawned = |(name, mut lane): (String, Lane), stop: Stop| {
            let attached = attached.clone();
            spawn(name, stop, move || {
                Wait::sharpen();
                lane.begin(&attached);
                lane.run().map(|()| lane)
            })
        };
        let recorder = spawn("recorder".into(), stop.clone(), move || recorder.run())?;
        let named = links.iter().map(|name| format!("link {name}")).zip(lanes);
        let lanes = named.map(|lane| spawned(lane, stop.clone())).collect::<Result<_, Error>>()?;
        Ok(Running { start, clock, stop, shared, lanes, recorder, links })
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Who wants to know asks.
        let _ = self.stop();
    }
}

impl Running {
    fn end(self) -> Result<Summary, Error> {
        self.stop.stop();
        let ended = self.clock.now();
        let lanes: Vec<Result<Lane, Error>> = self.lanes.into_iter().map(joined).collect();
        let mut fault = None;
        let mut ports = Vec::new();
        let mut links: Vec<(Arc<str>, LinkCounts)> = Vec::new();
        for (number, lane) in lanes.into_iter().enumerate() {
            match lane {
                Err(error) => fault = fault.or(Some(error)),
                Ok(mut lane) => {
                    ports.extend(lane.ports.drain(..).map(|port| (port.place, port.counts)));
                    links.push((self.links[number].clone(), lane.counts.swap_remove(number)));
                }
            }
        }
        let recorded = joined(self.recorder);
        if let Some(error) = fault {
            return Err(error);
        }
        recorded?;
        let points = self.shared.points.iter();
        let captured =
            points.map(|point| (point.place.clone(), point.written.load(Relaxed), point.lost.load(Relaxed))).collect();
        Ok(Summary { started: self.start, ended, ports, links, captured })
    }
}

/// A thread whose failure ends the others.
fn spawn<T: Send + 'static>(
    name: String,
    stop: Stop,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<JoinHandle<Result<T, Error>>, Error> {
    let thread = name.clone();
    let guarded = move || {
        let done = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|panic| Err(Error::Panic { thread, said: said(&*panic).into() }));
        if done.is_err() {
            stop.stop();
        }
        done
    };
    thread::Builder::new().name(name).spawn(guarded).map_err(Error::Thread)
}

fn joined<T>(thread: JoinHandle<Result<T, Error>>) -> Result<T, Error> {
    thread.join().expect("panics are caught in the thread")
}

fn said(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied()).unwrap_or("panicked")
}

/// The lane of a port, and where what comes in there goes.
fn home(scenario: &Scenario, links: &[Arc<str>], paths: &[usize], place: &Place) -> (usize, Entry) {
    let path = scenario.paths.iter().position(|path| *path.name == *place.name);
    let traffic = scenario.cross_traffic.iter().find(|traffic| *traffic.name() == *place.name);
    let link = traffic.and_then(|traffic| links.iter().position(|link| **link == *traffic.link()));
    match place.host {
        Host::Client => path.map(|path| (paths[path], Entry::Path(path))),
        Host::Server => path.map(|path| (paths[path], Entry::Router)),
        Host::Neighbour => link.map(|link| (link, Entry::Link(link))),
        Host::Peer => link.map(|link| (link, Entry::Router)),
    }
    .expect("checked: ports belong to paths or cross traffic")
}

/// Every path has a port at either end, cross traffic too, and there is no other.
fn check(scenario: &Scenario, devices: &[Device]) -> Result<(), Error> {
    let paths = scenario.paths.iter().map(|path| (path.name.as_str(), [Host::Client, Host::Server]));
    let crosses = scenario.cross_traffic.iter().map(|traffic| (traffic.name(), [Host::Neighbour, Host::Peer]));
    let needed: Vec<Place> =
        paths.chain(crosses).flat_map(|(name, hosts)| hosts.map(|host| Place { host, name: name.into() })).collect();
    let fault = |place: &Place, fault| Err(Error::Port { port: place.to_string(), fault });
    for place in &needed {
        match devices.iter().filter(|device| device.place == *place).count() {
            1 => {}
            0 => return fault(place, "has no device"),
            _ => return fault(place, "has more than one device"),
        }
    }
    match devices.iter().find(|device| !needed.contains(&device.place)) {
        Some(device) => fault(&device.place, "is none of the scenario's"),
        None => Ok(()),
    }
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
