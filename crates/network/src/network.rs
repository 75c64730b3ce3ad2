use crate::routes::{Owner, Routes};
use crate::tap::{DropPoint, Tap};
use crate::timeline::{Action, Timeline};
use link::{Chain, Change, Dropped, Element, Out, QueueState, Reason};
use std::collections::VecDeque;
use std::hint::select_unpredictable;
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Direction, Packet, Time};

/// All that stands between hosts, and what happens to it. See the crate for the order of calls.
pub struct Network {
    /// By name.
    pub(crate) links: Vec<Link>,
    /// As the scenario lists them.
    pub(crate) paths: Vec<Path>,
    pub(crate) routes: Routes,
    pub(crate) timeline: Timeline,
    /// Of the timeline, then of each link. There are few: looking through them is quicker than keeping them in order.
    deadlines: Vec<Time>,
    /// What goes on at this instant.
    hops: VecDeque<(Hop, Box<Packet>)>,
    /// Reused: what a chain gives back.
    out: Out,
}

/// A link that paths and cross traffic may share.
pub struct Link {
    /// Its name.
    pub name: Arc<str>,
    pub(crate) chain: Chain,
    /// In the order of the chain: full name, direction, and what tables call it.
    pub(crate) elements: Vec<(String, Direction, Arc<str>)>,
}

/// What joins an interface of the client to its link.
pub struct Path {
    /// Its name.
    pub name: Arc<str>,
    /// Index of its link.
    pub link: usize,
    /// Gate and translator; none where nothing ever happens to the path.
    pub(crate) chain: Option<Chain>,
}

/// Where a packet enters the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// From the client, up the path with this index.
    Path(usize),
    /// From a neighbour, up the link with this index.
    Link(usize),
    /// From behind the router, down the link behind which its destination is.
    Router,
}

/// Where it leaves the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// At the client, from this path.
    Client {
        /// Index of the path.
        path: u32,
    },
    /// At the host with this index behind the router, up this link.
    Server {
        /// Index of the host.
        host: u32,
        /// Index of the link.
        link: u32,
    },
    /// At the neighbour with this index, down this link.
    Neighbour {
        /// Index of the host.
        host: u32,
        /// Index of the link.
        link: u32,
    },
}

/// What the timeline did that concerns who drives the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The client's interface on this path is there.
    Attached(usize),
    /// It is gone.
    Detached(usize),
    /// Its radio there hears this, in dBm.
    Heard(usize, i32),
    /// This link has other elements.
    Replaced(usize),
    /// The transfer starts, later than the run.
    TransferStarted,
    /// A flow of this cross traffic starts.
    Started(usize),
    /// This cross traffic stops.
    Stopped(usize),
}

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// When; [`Time::MAX`] for never.
    pub at: Time,
    /// Index of the deadline.
    index: usize,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
enum Hop {
    Link(u32, Direction),
    /// One that has a chain.
    Path(u32, Direction),
    Exit(Exit),
}

impl Network {
    pub(crate) fn new(links: Vec<Link>, paths: Vec<Path>, routes: Routes, timeline: Timeline) -> Network {
        let deadlines = links.iter().map(|link| link.chain.deadline());
        let deadlines = std::iter::once(timeline.deadline()).chain(deadlines).collect();
        Network { links, paths, routes, timeline, deadlines, hops: VecDeque::new(), out: Out::default() }
    }

    /// A host sends a packet. It is given back if nobody has its destination.
    ///
    /// # Errors
    /// The packet.
    #[inline]
    pub fn inject(
        &mut self,
        now: Time,
        entry: Entry,
        packet: Box<Packet>,
        tap: &mut impl Tap,
    ) -> Result<(), Box<Packet>> {
        let (link, direction) = match entry {
            Entry::Path(path) if self.paths[path].chain.is_some() => {
                self.hops.push_back((Hop::Path(path as u32, Direction::Up), packet));
                return Ok(());
            }
            Entry::Path(path) => (self.paths[path].link, Direction::Up),
            Entry::Link(link) => (link, Direction::Up),
            Entry::Router => match self.routes.find(packet.frame.ip.destination) {
                Some(Owner::Path(path)) => (self.paths[path].link, Direction::Down),
                Some(Owner::Neighbour { link, .. }) => (link, Direction::Down),
                _ => return Err(packet),
            },
        };
        self.enter(now, link, direction, packet, tap);
        Ok(())
    }

    /// What is due first; of what is due at one time the timeline, then the links in their order.
    #[inline]
    pub fn next(&self) -> Due {
        let mut first = (Time::MAX, 0);
        for (index, &at) in self.deadlines.iter().enumerate() {
            // Nobody can tell whose turn it is: a branch would often be guessed wrong.
            first = select_unpredictable(at < first.0, (at, index), first);
        }
        Due { at: first.0, index: first.1 }
    }

    /// It is time for what is due. To be called again while it gives an event: hosts answer it before the timeline
    /// goes on.
    #[inline]
    pub fn wake(&mut self, now: Time, due: Due, tap: &mut impl Tap) -> Option<Event> {
        match due.index.checked_sub(1) {
            None => self.act(now, tap),
            Some(link) => {
                let woken = &mut self.links[link];
                woken.chain.wake(now, &mut self.out);
                if tap.looks_at_queues() {
                    woken.chain.catch_up(now, &mut self.out);
                }
                self.deadlines[1 + link] = woken.chain.deadline();
                self.leave(now, link, tap);
                None
            }
        }
    }

    /// The next packet that comes to a host at this instant.
    #[inline(always)] // every packet passes here
    pub fn poll(&mut self, now: Time, tap: &mut impl Tap) -> Option<(Exit, Box<Packet>)> {
        while let Some((hop, packet)) = self.hops.pop_front() {
            match hop {
                Hop::Link(link, direction) => self.enter(now, link as usize, direction, packet, tap),
                Hop::Path(path, direction) => self.pass(now, path as usize, direction, packet, tap),
                Hop::Exit(exit) => return Some((exit, packet)),
            }
        }
        None
    }

    /// Has the timeline do what is due, up to the next event. To be called again while it gives one.
    #[cold]
    pub fn act(&mut self, now: Time, tap: &mut impl Tap) -> Option<Event> {
        let mut event = None;
        while event.is_none()
            && let Some(action) = self.timeline.next(now)
        {
            event = self.carry_out(now, action, tap);
        }
        self.deadlines[0] = self.timeline.deadline();
        event
    }

    /// Links do what is to be done within them up to a time at which nothing leaves them.
    pub fn catch_up(&mut self, now: Time, tap: &mut impl Tap) {
        for link in 0..self.links.len() {
            let chain = &mut self.links[link].chain;
            chain.catch_up(now, &mut self.out);
            self.deadlines[1 + link] = chain.deadline();
            self.leave_at_once(now, link, tap);
        }
    }

    /// Its links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The client's paths.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Owners of addresses.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Index of the path by which a packet of this source came up a link. A source may be none of the link's paths'.
    pub fn path_over(&self, link: usize, source: IpAddr) -> Option<usize> {
        let is_on = |path: &usize| self.paths[*path].link == link;
        self.routes.path(source).filter(is_on).or_else(|| (0..self.paths.len()).find(is_on))
    }

    fn carry_out(&mut self, now: Time, action: Action, tap: &mut impl Tap) -> Option<Event> {
        match action {
            Action::Path(path, change) => {
                let event = match change {
                    Change::Attach => Some(Event::Attached(path)),
                    Change::Detach => Some(Event::Detached(path)),
                    Change::Rebind(address) => {
                        // An address that another has already stays that other's: what is sent to it goes there.
                        let _ = self.routes.add(address, Owner::Path(path));
                        None
                    }
                    _ => None,
                };
                if let Some(chain) = &mut self.paths[path].chain {
                    chain.change(now, change, &mut self.out).expect("paths have a gate and a translator");
                    self.leave_path(path, tap);
                }
                event
            }
            Action::Profile(link, new) => {
                let old = &mut self.links[link];
                let change = Change::Profile(Box::new(new.chain));
                old.chain.change(now, change, &mut self.out).expect("chains take profiles");
                old.elements = new.elements;
                self.deadlines[1 + link] = old.chain.deadline();
                self.leave_at_once(now, link, tap);
                Some(Event::Replaced(link))
            }
            Action::Heard(path, dbm) => Some(Event::Heard(path, dbm)),
            Action::StartTransfer => Some(Event::TransferStarted),
            Action::Start(traffic) => Some(Event::Started(traffic)),
            Action::Stop(traffic) => Some(Event::Stopped(traffic)),
        }
    }

    #[inline(always)] // every packet passes here
    fn enter(&mut self, now: Time, link: usize, direction: Direction, packet: Box<Packet>, tap: &mut impl Tap) {
        let bytes = packet.frame.wire_len();
        let entered = &mut self.links[link];
        entered.chain.push(now, direction, packet, &mut self.out);
        if tap.looks_at_queues() {
            // They are as they are now where somebody looks.
            entered.chain.catch_up(now, &mut self.out);
        }
        tap.arrived(link, entered, direction, bytes);
        self.deadlines[1 + link] = entered.chain.deadline();
        if !self.out.sent.is_empty() || !self.out.dropped.is_empty() {
            self.leave_at_once(now, link, tap);
        }
    }

    /// As [`Network::leave`], where it seldom happens.
    #[inline(never)]
    fn leave_at_once(&mut self, now: Time, link: usize, tap: &mut impl Tap) {
        self.leave(now, link, tap);
    }

    /// What left a link goes on.
    #[inline(always)] // every packet passes here
    fn leave(&mut self, now: Time, link: usize, tap: &mut impl Tap) {
        if !self.out.sent.is_empty() {
            self.forward(now, link, tap);
        }
        if !self.out.dropped.is_empty() {
            self.record_drops(link, None, tap);
        }
    }

    #[inline(always)] // as above
    fn forward(&mut self, now: Time, link: usize, tap: &mut impl Tap) {
        let left = &self.links[link];
        self.out.sent.reverse();
        while let Some((direction, packet)) = self.out.sent.pop() {
            tap.departed(link, left, direction, packet.frame.wire_len());
            let hop = match (direction, self.routes.find(packet.frame.ip.destination)) {
                (Direction::Up, Some(Owner::Server(host))) => {
                    Hop::Exit(Exit::Server { host: host as u32, link: link as u32 })
                }
                (Direction::Down, Some(Owner::Path(path))) if self.paths[path].chain.is_none() => {
                    Hop::Exit(Exit::Client { path: path as u32 })
                }
                (Direction::Down, Some(Owner::Path(path))) => Hop::Path(path as u32, direction),
                (Direction::Down, Some(Owner::Neighbour { host, .. })) => {
                    Hop::Exit(Exit::Neighbour { host: host as u32, link: link as u32 })
                }
                _ => {
                    let (reason, element) = (Reason::Unreachable, u32::MAX);
                    self.out.dropped.push(Dropped { packet, direction, reason, at: now, element });
                    continue;
                }
            };
            self.hops.push_back((hop, packet));
        }
    }

    /// A packet meets a path's gate and translator.
    fn pass(&mut self, now: Time, path: usize, direction: Direction, packet: Box<Packet>, tap: &mut impl Tap) {
        let chain = self.paths[path].chain.as_mut().expect("only such paths are met");
        chain.push(now, direction, packet, &mut self.out);
        self.leave_path(path, tap);
    }

    /// What left a path goes on.
    fn leave_path(&mut self, path: usize, tap: &mut impl Tap) {
        let link = self.paths[path].link;
        for (direction, packet) in self.out.sent.drain(..) {
            let hop = match direction {
                Direction::Up => Hop::Link(link as u32, direction),
                Direction::Down => Hop::Exit(Exit::Client { path: path as u32 }),
            };
            self.hops.push_back((hop, packet));
        }
        if !self.out.dropped.is_empty() {
            self.record_drops(link, Some(path), tap);
        }
    }

    #[cold]
    fn record_drops(&mut self, link: usize, path: Option<usize>, tap: &mut impl Tap) {
        let path = path.map(|path| &self.paths[path]);
        let at = || DropPoint { index: link, link: &self.links[link], path };
        self.out.dropped.drain(..).for_each(|dropped| tap.dropped(at(), dropped));
    }
}

impl Link {
    /// What tables call the element that dropped a packet; none where no element did.
    pub fn element(&self, dropped: &Dropped) -> Option<&Arc<str>> {
        self.elements.get(dropped.element as usize).map(|(_, _, short)| short)
    }

    /// Its queues: direction, what tables call the element, and what it holds.
    pub fn queues(&self) -> impl Iterator<Item = (Direction, &Arc<str>, QueueState<'_>)> {
        let mut states = Vec::new();
        self.chain.queues(&mut states);
        states.into_iter().filter_map(|state| {
            let (_, direction, short) = self.elements.iter().find(|(full, _, _)| full == state.element)?;
            Some((*direction, short, state))
        })
    }

    /// Nanoseconds that every packet takes through it at least.
    pub fn shortest_ns(&self) -> i64 {
        self.chain.shortest_ns()
    }

    /// Its earliest deadline.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.chain.deadline()
    }

    /// Bytes that a proxy in it took in the server's place, and those that it sent in it.
    pub fn answered(&self) -> [u64; 2] {
        self.chain.answered()
    }
}
