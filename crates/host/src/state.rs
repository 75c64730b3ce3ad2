use crate::applications::{Application, Progress, Stream};
use crate::converter::{Converter, Converting};
use crate::datagrams::{Datagrams, Source};
use crate::{Deadlines, Interface, Tap, echo, probes};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use transport::path_manager::Budgeted;
use transport::{Config, ConnectionId, Endpoint, Event, Nic, PathDecision};
use wire::{CaptureDirection, Frame, Ip, L4, Packet, Payload, Time, TooBig};

/// Makes the application of a connection that a peer opens.
pub type Service = Box<dyn Fn() -> Box<dyn Application> + Send>;

/// Interfaces, a TCP endpoint and what uses it.
pub struct Host {
    interfaces: Vec<Interface>,
    endpoint: Endpoint,
    services: Vec<(u16, Service)>,
    /// Peers that have not answered our SYN/ACK yet, and where they want to go.
    knocking: Vec<(ConnectionId, u16)>,
    /// Ordered by connection.
    served: Vec<Served>,
    /// Of applications, by their index in `served`.
    deadlines: Deadlines,
    sources: Vec<Source>,
    datagrams: Datagrams,
    converter: Option<Converter>,
    echoes: VecDeque<Packet>,
    spent: Vec<Spent>,
    decided: Vec<Decided>,
    closed: usize,
    done: usize,
}

struct Served {
    connection: ConnectionId,
    application: Box<dyn Application>,
    progress: Progress,
}

/// A budget that a connection has used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// When.
    pub at: Time,
    /// The address that is not to carry more.
    pub address: IpAddr,
    /// What it lacks.
    pub budget: Budgeted,
}

/// What a path manager found of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// When.
    pub at: Time,
    /// Whose path manager: both ends of the connection's first subflow.
    pub ends: (SocketAddr, SocketAddr),
    /// The address whose path it is.
    pub address: IpAddr,
    /// What, on what evidence.
    pub decision: guard::Decision,
}

/// What became of a packet that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// The host had it.
    Taken,
    /// The interface is down.
    Down,
    /// It is for none of the interface's addresses.
    NotAddressed,
}

impl Host {
    /// A host whose interfaces are down. Everything that is drawn by chance in its endpoint comes from `seed`.
    pub fn new(config: Config, seed: u64, interfaces: Vec<Interface>) -> Host {
        Host {
            interfaces,
            endpoint: Endpoint::new(config, seed),
            services: Vec::new(),
            knocking: Vec::new(),
            served: Vec::new(),
            deadlines: Deadlines::default(),
            sources: Vec::new(),
            datagrams: Datagrams::default(),
            converter: None,
            echoes: VecDeque::new(),
            spent: Vec::new(),
            decided: Vec::new(),
            closed: 0,
            done: 0,
        }
    }

    /// Its interfaces; the index of each is its [`Nic`].
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Its endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Begins with what the same host remembered of destinations in an earlier run.
    pub fn recall(&mut self, earlier: &Host) {
        self.endpoint.recall(&earlier.endpoint);
    }

    /// The interface comes up with its addresses. Nothing happens if it is up.
    pub fn attach(&mut self, now: Time, nic: Nic) {
        let interface = &mut self.interfaces[nic.0 as usize];
        if !std::mem::replace(&mut interface.up, true) {
            for address in &interface.addresses {
                self.endpoint.address_up(now, nic, *address, interface.mtu_bytes);
            }
            self.serve(now);
        }
    }

    /// The interface goes down, and its addresses go. Nothing happens if it is down.
    pub fn detach(&mut self, now: Time, nic: Nic) {
        let interface = &mut self.interfaces[nic.0 as usize];
        if std::mem::replace(&mut interface.up, false) {
            for address in &interface.addresses {
                self.endpoint.address_down(now, *address);
            }
            self.serve(now);
        }
    }

    /// The radio of the interface hears this from now on, in dBm.
    pub fn heard(&mut self, now: Time, nic: Nic, dbm: i32) {
        for address in &self.interfaces[nic.0 as usize].addresses {
            self.endpoint.heard(now, *address, dbm);
        }
        self.serve(now);
    }

    /// Accepts connections to `port`, each served by an application of its own.
    pub fn listen(&mut self, port: u16, service: Service) {
        self.endpoint.listen(port);
        self.services.push((port, service));
    }

    /// Becomes a converter, which takes connections to `port`. By `lan` it speaks TCP with who is behind it.
    pub fn convert(&mut self, lan: Nic, port: u16, converting: Converting) {
        self.endpoint.speak_plain(lan);
        if converting.is_asked && converting.fast_open {
            self.endpoint.open_fast();
        }
        self.endpoint.listen(port);
        self.converter = Some(Converter::new(converting));
    }

    /// How many of a converter's connections have not ended.
    pub fn converts(&self) -> usize {
        self.converter.as_ref().map_or(0, Converter::open)
    }

    /// Connections that are not over: those of applications, and those that a converter has over its paths.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        let open = self.served.iter().filter(|served| served.progress.closed.is_none());
        let converted = self.converter.iter().flat_map(Converter::connections);
        open.map(|served| served.connection).chain(converted)
    }

    /// Opens a connection for an application.
    pub fn connect(
        &mut self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        application: Box<dyn Application>,
    ) -> ConnectionId {
        let connection = self.endpoint.connect(now, local, remote);
        self.insert(connection, application);
        self.serve(now);
        connection
    }

    /// Sends datagrams from now on.
    pub fn send(&mut self, source: Source) {
        self.sources.push(source);
    }

    /// Gives all connections up.
    pub fn abort_all(&mut self, now: Time) {
        for served in &self.served {
            if served.progress.closed.is_none() {
                self.endpoint.abort(now, served.connection);
            }
        }
        self.serve(now);
    }

    /// How far each connection has come, in the order in which they began.
    pub fn progress(&self) -> impl ExactSizeIterator<Item = (ConnectionId, &Progress)> {
        self.served.iter().map(|served| (served.connection, &served.progress))
    }

    /// Budgets that connections have used up, in this order.
    pub fn spent(&self) -> &[Spent] {
        &self.spent
    }

    /// How many connections have ended.
    pub fn closed(&self) -> usize {
        self.closed
    }

    /// For how many connections nothing is left to do for their applications.
    pub fn done(&self) -> usize {
        self.done
    }

    /// What path managers have found of paths, in this order.
    pub fn decided(&self) -> &[Decided] {
        &self.decided
    }

    /// Datagrams that came in.
    pub fn datagrams(&self) -> Datagrams {
        self.datagrams
    }

    /// A packet arrives by `nic`.
    #[inline(always)] // every packet passes here
    pub fn handle(&mut self, now: Time, nic: Nic, packet: &Packet, tap: &mut impl Tap) -> Reception {
        let interface = &self.interfaces[nic.0 as usize];
        if !interface.up {
            return Reception::Down;
        }
        if !interface.addresses.contains(&packet.frame.ip.destination) {
            return Reception::NotAddressed;
        }
        tap.passed(now, nic, CaptureDirection::Inbound, packet);
        match packet.frame.l4 {
            L4::Tcp(_) => {
                self.endpoint.handle(now, nic, packet);
                self.serve(now);
            }
            L4::Udp { .. } => {
                self.datagrams.packets += 1;
                self.datagrams.bytes += u64::from(packet.frame.payload.len);
            }
            L4::Icmp { .. } => match TooBig::of(packet) {
                Some(too_big) => self.endpoint.too_big(&too_big),
                None => match probes::answered(packet) {
                    Some((connection, number)) => {
                        self.endpoint.answered(now, connection, packet.frame.ip.destination, number);
                        self.serve(now);
                    }
                    None => self.echoes.extend(echo::answer(packet)),
                },
            },
            L4::Other(_) => {}
        }
        Reception::Taken
    }

    /// Writes the next packet to `packet` and says by which interface it leaves; none: nothing to send now.
    #[inline]
    pub fn transmit(&mut self, now: Time, packet: &mut Packet, tap: &mut impl Tap) -> Option<Nic> {
        loop {
            let nic = self.next_packet(now, packet)?;
            if self.interfaces[nic.0 as usize].up {
                tap.passed(now, nic, CaptureDirection::Outbound, packet);
                return Some(nic);
            }
        }
    }

    /// Whether [`Host::transmit`] surely has nothing to send now.
    #[inline]
    pub fn has_sent_all(&self) -> bool {
        self.echoes.is_empty() && self.sources.is_empty() && self.endpoint.has_sent_all()
    }

    #[inline]
    fn next_packet(&mut self, now: Time, packet: &mut Packet) -> Option<Nic> {
        if let Some(echo) = self.echoes.pop_front() {
            *packet = echo;
            return self.route(packet.frame.ip.source);
        }
        if let Some(nic) = self.sources.iter_mut().find_map(|source| source.transmit(packet)) {
            return Some(nic);
        }
        self.endpoint.transmit(now, packet)
    }

    /// When [`Host::timeout`] is to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        let sources = self.sources.iter().map(Source::deadline).min().unwrap_or(Time::MAX);
        self.endpoint.deadline().min(self.deadlines.first().0).min(sources)
    }

    /// The deadline has come. First the endpoint, then applications in the order in which their connections began.
    pub fn timeout(&mut self, now: Time) {
        if self.endpoint.deadline() <= now {
            self.endpoint.timeout(now);
        }
        self.serve(now);
        while let (at, index) = self.deadlines.first()
            && at <= now
        {
            self.with(now, index, |application, stream| application.wake(now, stream));
            self.serve(now);
        }
        self.sources.iter_mut().for_each(|source| source.timeout(now));
    }

    /// Tells applications what happened.
    #[inline]
    fn serve(&mut self, now: Time) {
        while let Some((connection, event)) = self.endpoint.event() {
            self.tell(now, connection, event);
        }
    }

    #[inline(never)] // most packets tell nothing
    fn tell(&mut self, now: Time, connection: ConnectionId, event: Event) {
        if !matches!(event, Event::Readable | Event::Writable) {
            self.note(now, connection, &event);
        }
        if let Some(index) = self.served(connection) {
            self.with(now, index, |application, stream| application.on(now, event, stream));
        } else if let Some(converter) = &mut self.converter {
            converter.on(now, connection, &event, &mut self.endpoint, &self.interfaces);
        }
    }

    fn served(&self, connection: ConnectionId) -> Option<usize> {
        self.served.binary_search_by_key(&connection, |served| served.connection).ok()
    }

    /// What happened that is not only the application's.
    #[cold]
    #[inline(never)]
    fn note(&mut self, now: Time, connection: ConnectionId, event: &Event) {
        match *event {
            Event::Accepted { .. } | Event::Connected | Event::Closed(_) => self.answer(connection, event),
            Event::Spent { address, budget } => self.spent.push(Spent { at: now, address, budget }),
            Event::Probe { local, remote, number } => {
                self.echoes.push_back(probes::request(connection, local, remote, number));
            }
            Event::Decided(ref found) => {
                let PathDecision { ends, address, decision } = **found;
                self.decided.push(Decided { at: now, ends, address, decision });
            }
            Event::Readable | Event::Writable | Event::Finished | Event::Delivered => {}
        }
        if let Some(index) = self.served(connection) {
            self.closed += usize::from(matches!(event, Event::Closed(_)));
            let progress = &mut self.served[index].progress;
            let before = progress.is_done();
            progress.on(event);
            self.done += usize::from(progress.is_done() && !before);
        }
    }

    /// A connection that a peer opens is an application's once its handshake is complete, as `accept` has it. What is
    /// reset before, such as a join whose options were stripped, never was one (RFC 9293 §3.10.7.4).
    fn answer(&mut self, connection: ConnectionId, event: &Event) {
        if let &Event::Accepted { port } = event {
            return self.knocking.push((connection, port));
        }
        let Some(index) = self.knocking.iter().position(|(known, _)| *known == connection) else { return };
        let (_, port) = self.knocking.remove(index);
        if *event == Event::Connected
            && let Some((_, service)) = self.services.iter().find(|(listening, _)| *listening == port)
        {
            let application = service();
            self.insert(connection, application);
        }
    }

    fn insert(&mut self, connection: ConnectionId, application: Box<dyn Application>) {
        self.endpoint.set_no_delay(connection, !application.gathers());
        let index = self.served.partition_point(|served| served.connection < connection);
        self.served.insert(index, Served { connection, application, progress: Progress::default() });
        for (moved, served) in self.served.iter().enumerate().skip(index) {
            self.deadlines.set(moved, served.application.deadline());
        }
    }

    fn with(&mut self, now: Time, index: usize, act: impl FnOnce(&mut dyn Application, &mut Stream)) {
        let Served { connection, application, progress } = &mut self.served[index];
        let mut stream = Stream { now, connection: *connection, transport: &mut self.endpoint, progress };
        act(&mut **application, &mut stream);
        self.deadlines.set(index, application.deadline());
    }

    fn route(&self, source: IpAddr) -> Option<Nic> {
        let index = self.interfaces.iter().position(|interface| interface.addresses.contains(&source))?;
        Some(Nic(index as u32))
    }
}

/// A packet to write to.
pub fn blank() -> Packet {
    let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    Packet {
        frame: Frame {
            ip: Ip { source: nobody, destination: nobody, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None },
            l4: L4::Other(u8::MAX),
            payload: Payload::default(),
        },
        body: None,
    }
}
