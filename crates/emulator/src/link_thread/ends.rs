//! What stands at the ends of a network: ports and hosts of ours.

use super::{BATCH, LinkThread, Watch};
use crate::Error;
use crate::device::pool;
use crate::link_thread::port::Received;
use crate::port_name::Host;
use host::Reception;
use link::Reason;
use network::{CLIENT, Entry, Event, Exit, Network, SERVER, cross_hosts};
use std::cell::Cell;
use std::net::IpAddr;
use wire::{CaptureDirection, Direction, Packet};

/// Which port leads to whom.
#[derive(Debug)]
pub(crate) struct PortMap {
    /// By path: the client's port.
    client: Vec<Option<usize>>,
    /// By path: the server's.
    server: Vec<Option<usize>>,
    /// By host: of cross traffic.
    others: Vec<Option<usize>>,
}

impl PortMap {
    pub fn new(paths: usize, cross_traffic: usize) -> PortMap {
        let [none_yet, _] = cross_hosts(cross_traffic);
        PortMap { client: vec![None; paths], server: vec![None; paths], others: vec![None; none_yet] }
    }

    /// The port of a host: the client's and the server's by path, others by the index of the host.
    pub fn of(&mut self, host: Host, index: usize) -> &mut Option<usize> {
        match host {
            Host::Client => &mut self.client[index],
            Host::Server => &mut self.server[index],
            Host::Neighbour | Host::Peer => &mut self.others[index],
        }
    }
}

impl LinkThread {
    /// Takes a batch from each device; says whether there may be more.
    pub(super) fn receive(&mut self, readable: &[usize]) -> Result<bool, Error> {
        let mut more = false;
        for &port in readable {
            more |= self.receive_from(port)?;
        }
        Ok(more)
    }

    pub(super) fn receive_from(&mut self, index: usize) -> Result<bool, Error> {
        let LinkThread { ports, network, watch, wait, .. } = self;
        let port = &mut ports[index];
        let (entry, point) = (port.entry, port.point);
        let (received, mut local) = (Cell::new(0), 0);
        let mut each = |packet: Box<Packet>| {
            received.set(received.get() + 1);
            if is_local(packet.frame.ip.destination) {
                local += 1;
                return;
            }
            if let Some(point) = point {
                watch.feed.passed(watch.now, point, CaptureDirection::Outbound, &packet);
            }
            inject(network, watch, entry, packet);
        };
        while received.get() < BATCH {
            match port.receive(&mut each)? {
                Received::Frame => {}
                Received::Nothing => break,
                Received::Gone => {
                    wait.remove(&port.device);
                    break;
                }
            }
        }
        port.counts.received += received.get();
        port.counts.local += local;
        self.deliver_all();
        Ok(received.get() >= BATCH)
    }

    /// Gives the kernel what has come to the ports.
    pub(super) fn hand_over(&mut self) -> Result<(), Error> {
        self.ports.iter_mut().filter(|port| !port.out.is_empty()).try_for_each(|port| port.send())
    }

    /// Hands on what has come through the network, in the order in which it came.
    pub(super) fn deliver_all(&mut self) {
        while let Some((exit, packet)) = self.network.poll(self.watch.now, &mut self.watch) {
            self.deliver(exit, packet);
        }
    }

    fn deliver(&mut self, exit: Exit, packet: Box<Packet>) {
        match exit {
            Exit::Client { path } => match self.port_map.client[path as usize] {
                Some(port) => self.reach(port, packet),
                None => self.visit(CLIENT, path as usize, packet),
            },
            Exit::Server { host, link } if host as usize == SERVER => {
                match self.network.path_over(link as usize, packet.frame.ip.source) {
                    Some(path) => match self.port_map.server[path] {
                        Some(port) => self.reach(port, packet),
                        None => self.visit(SERVER, path, packet),
                    },
                    None => self.lose(link as usize, Direction::Up, packet, Reason::Unreachable),
                }
            }
            Exit::Server { host, link } => self.reach_other(host, (link, Direction::Up), packet),
            Exit::Neighbour { host, link } => self.reach_other(host, (link, Direction::Down), packet),
        }
    }

    /// A host of cross traffic may be at a link that is not in this network.
    fn reach_other(&mut self, host: u32, (link, direction): (u32, Direction), packet: Box<Packet>) {
        match self.port_map.others[host as usize] {
            Some(port) => self.reach(port, packet),
            None => self.lose(link as usize, direction, packet, Reason::Unreachable),
        }
    }

    fn reach(&mut self, port: usize, packet: Box<Packet>) {
        let port = &mut self.ports[port];
        if let Some(point) = port.point {
            self.watch.feed.passed(self.watch.now, point, CaptureDirection::Inbound, &packet);
        }
        port.add(self.due, packet);
    }

    /// A packet comes to a host of ours.
    fn visit(&mut self, host: usize, path: usize, packet: Box<Packet>) {
        let LinkThread { local_hosts, network, watch, .. } = self;
        let local_host = local_hosts[host].as_mut().expect("checked: there is a port, or a host of ours");
        let reception = local_host.handle(watch.now, path, &packet, &mut watch.feed, network.routes());
        let (link, direction) =
            (network.paths()[path].link, if host == CLIENT { Direction::Down } else { Direction::Up });
        match reception {
            Reception::Taken => pool::give(packet),
            Reception::Down => self.lose(link, direction, packet, Reason::Detached),
            Reception::NotAddressed => self.lose(link, direction, packet, Reason::Unreachable),
        }
        self.pump(host);
    }

    /// Takes what a host of ours has to send now.
    pub(super) fn pump(&mut self, host: usize) {
        let LinkThread { local_hosts, network, watch, .. } = self;
        let Some(local_host) = &mut local_hosts[host] else { return };
        loop {
            let mut packet = pool::take();
            let sent = local_host.transmit(watch.now, &mut packet, &mut watch.feed, network.routes());
            let Some(nic) = sent else { return pool::give(packet) };
            let entry = if host == CLIENT { Entry::Path(nic.0 as usize) } else { Entry::Router };
            inject(network, watch, entry, packet);
        }
    }

    /// What the timeline did. An interface of the kernel is its host's; one of ours is here.
    pub(super) fn carry_out(&mut self, event: Event) {
        let now = self.watch.now;
        match event {
            Event::Detached(path) => {
                if let Some(client) = &mut self.local_hosts[CLIENT] {
                    client.detach(now, path);
                }
                self.pump(CLIENT);
            }
            Event::Attached(path) => {
                if let Some(client) = &mut self.local_hosts[CLIENT] {
                    client.attach(now, path);
                }
                self.pump(CLIENT);
            }
            Event::Heard(path, dbm) => {
                if let Some(client) = &mut self.local_hosts[CLIENT] {
                    client.heard(now, path, dbm);
                }
                self.pump(CLIENT);
            }
            Event::Replaced(_) => self.keep_pace(),
            // Cross traffic is the kernel's, and who has an endpoint here starts it when the run does.
            Event::TransferStarted | Event::Started(_) | Event::Stopped(_) => {}
        }
    }

    fn lose(&mut self, link: usize, direction: Direction, packet: Box<Packet>, reason: Reason) {
        self.watch.lose(&self.network, link, direction, packet, reason);
    }
}

/// A packet enters the network. One to an unknown address is counted at the first link.
fn inject(network: &mut Network, watch: &mut Watch, entry: Entry, packet: Box<Packet>) {
    if let Err(packet) = network.inject(watch.now, entry, packet, watch) {
        watch.lose(network, 0, Direction::Down, packet, Reason::Unreachable);
    }
}

/// Whether it is for the link alone: neighbours are looked for, routers, groups. There is nobody there.
fn is_local(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast() || address.is_link_local(),
        IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
    }
}
