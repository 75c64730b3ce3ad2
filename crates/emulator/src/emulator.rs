use crate::assembly::{Ours, assemble, check};
use crate::device::Device;
use crate::link_thread::{Connection, LinkCounts, LinkThread, PortCounts, Stop};
use crate::port_name::{Host, PortName};
use crate::recorder::{Recording, Records};
use crate::threads::Thread;
use crate::{Clock, Error};
use network::Network;
use scenario::Scenario;
use std::sync::Arc;
use wire::Time;

/// Links in real time between devices of the kernel.
///
/// Links that share nothing have a thread each. Packets of a device that are for its link alone (multicast, link-local
/// addresses) are counted and carried nowhere: there is nobody.
pub struct Emulator {
    scenario: Scenario,
    ours: Ours,
    recording: Recording,
    state: State,
}

enum State {
    Ready(Vec<(PortName, Device)>),
    Running(Running),
    Ended,
}

struct Running {
    start: Time,
    clock: Clock,
    stop: Stop,
    link_threads: Vec<Thread<LinkThread>>,
    recorder: Thread<Records>,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// When it started.
    pub started: Time,
    /// When it ended.
    pub ended: Time,
    /// What passed each port.
    pub ports: Vec<(PortName, PortCounts)>,
    /// What happened on each link, by its name.
    pub links: Vec<(Arc<str>, LinkCounts)>,
    /// What was recorded, and what was not.
    pub records: Records,
}

impl Emulator {
    /// Links between these devices; nothing moves yet. `ours` names the hosts that are our own: they have no devices, and
    /// do what the scenario's transfer says once it starts. With them, all links share a thread.
    ///
    /// # Errors
    /// When the scenario cannot be run, or its paths and cross traffic do not have their devices.
    pub fn new(
        scenario: Scenario,
        devices: Vec<(PortName, Device)>,
        ours: &[Host],
        recording: Recording,
    ) -> Result<Emulator, Error> {
        // What it refuses, it refuses before anything is started.
        Network::of(&scenario, scenario.start())?;
        let ours = Ours::new(ours)?;
        check(&scenario, devices.iter().map(|(port_name, _)| port_name), &ours)?;
        Ok(Emulator { scenario, ours, recording, state: State::Ready(devices) })
    }

    /// Lets packets move, and time begin: what it gives is time 0 of the timeline. Of one that runs it gives the same.
    ///
    /// # Errors
    /// When a file cannot be created, a thread not be started, or it has ended.
    pub fn start(&mut self) -> Result<Time, Error> {
        if let State::Running(running) = &self.state {
            return Ok(running.start);
        }
        let State::Ready(devices) = std::mem::replace(&mut self.state, State::Ended) else { return Err(Error::Ended) };
        let stop = Stop::new()?;
        match self.launch(devices, &stop) {
            Ok(running) => {
                let start = running.start;
                self.state = State::Running(running);
                Ok(start)
            }
            Err(error) => {
                stop.stop();
                Err(error)
            }
        }
    }

    /// Whether packets move: it was started, not stopped, and nothing has failed. [`Emulator::stop`] says what has.
    pub fn is_running(&self) -> bool {
        match &self.state {
            State::Running(running) => {
                !running.recorder.is_finished() && !running.link_threads.iter().any(Thread::is_finished)
            }
            State::Ready(_) | State::Ended => false,
        }
    }

    /// What each host of ours has come to: its connections, in the order in which they began.
    pub fn connections(&self) -> Vec<(Host, Vec<Connection>)> {
        self.ours.all().iter().map(|(host, status)| (*host, status.connections())).collect()
    }

    /// Ends all threads and completes the captures; none if it did not run.
    ///
    /// # Errors
    /// What went wrong first: a device, a file, a fault of ours.
    pub fn stop(&mut self) -> Result<Option<Summary>, Error> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Running(running) => running.end().map(Some),
            State::Ready(_) | State::Ended => Ok(None),
        }
    }

    fn launch(&self, devices: Vec<(PortName, Device)>, stop: &Stop) -> Result<Running, Error> {
        let clock = Clock::start();
        let start = clock.now();
        let (link_threads, recorder) =
            assemble(&self.scenario, devices, &self.ours, &self.recording, (clock, start), stop)?;
        let recorder = Thread::spawn("recorder".into(), stop.clone(), move || recorder.run())?;
        let link_threads = link_threads.into_iter().map(|(name, mut link_thread)| {
            Thread::spawn(name, stop.clone(), move || link_thread.run().map(|()| link_thread))
        });
        Ok(Running {
            start,
            clock,
            stop: stop.clone(),
            link_threads: link_threads.collect::<Result<_, Error>>()?,
            recorder,
        })
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Errors are reported to callers that stop it themselves.
        let _ = self.stop();
    }
}

impl Running {
    fn end(self) -> Result<Summary, Error> {
        let ended = self.clock.now();
        self.stop.stop();
        // All are waited for, whatever became of the first.
        let link_threads: Vec<Result<LinkThread, Error>> = self.link_threads.into_iter().map(Thread::join).collect();
        let link_threads: Result<Vec<LinkThread>, Error> = link_threads.into_iter().collect();
        let link_threads =
            link_threads.map(|link_threads| link_threads.into_iter().map(LinkThread::into_counts).collect::<Vec<_>>());
        let records = self.recorder.join();
        let (mut ports, mut links) = (Vec::new(), Vec::new());
        for (of_ports, of_links) in link_threads? {
            ports.extend(of_ports);
            links.extend(of_links);
        }
        Ok(Summary { started: self.start, ended, ports, links, records: records? })
    }
}
