//! Cross traffic: for each a neighbour at the client's end of a link, and a peer of its own at the server's.

use crate::outcome::{self, Crossed};
use host::applications::{Bulk, Sink};
use host::{Application, Host, Interface, Source};
use scenario::form::CrossTraffic;
use scenario::hosts::seed;
use scenario::{Error, Scenario, starts};
use std::net::SocketAddr;
use transport::Nic;
use wire::{Direction, Time};

/// Where peers of TCP listen, and where datagrams go.
const PORT: u16 = 5001;
const MTU_BYTES: u32 = 1500;

/// Both hosts of one.
pub(crate) struct Cross {
    /// Index of the neighbour among the hosts; the peer follows it.
    pub neighbour: usize,
    pub traffic: CrossTraffic,
}

impl Cross {
    /// Neighbour and peer, their interfaces up.
    pub fn hosts(&self, number: usize, scenario: &Scenario, now: Time) -> Result<[Host; 2], Error> {
        let seeds = ["neighbour", "peer"].map(|end| seed(scenario, &format!("cross/{}/{end}", self.traffic.name())));
        let mut config = scenario.transport.client.clone();
        config.mptcp.enabled = false;
        if let CrossTraffic::Tcp { congestion_control, name, .. } = &self.traffic {
            config.congestion_control.clone_from(congestion_control);
            config.congestion_parameters.clear();
            config.check().map_err(|error| Error::fault(format!("cross traffic {name}"), error.to_string()))?;
        }
        let [mut neighbour, mut peer] = [0, 1].map(|end| {
            let interface = Interface::new("eth0", vec![CrossTraffic::addresses(number)[end]], MTU_BYTES);
            let mut host = Host::new(config.clone(), seeds[end], vec![interface]);
            host.attach(now, Nic(0));
            host
        });
        if let CrossTraffic::Tcp { direction, .. } = self.traffic {
            peer.listen(PORT, Box::new(move || application(direction == Direction::Down)));
        } else {
            let (_, stop) = self.traffic.times();
            let start = starts(scenario, &self.traffic).next().expect("datagrams are one flow");
            let times = (now + start, stop.map_or(Time::MAX, |stop| now + stop));
            self.send(number, times, [&mut neighbour, &mut peer])?;
        }
        Ok([neighbour, peer])
    }

    fn send(&self, number: usize, times: (Time, Time), [neighbour, peer]: [&mut Host; 2]) -> Result<(), Error> {
        let CrossTraffic::Udp { name, direction, rate_bits_per_second, packet_bytes, .. } = &self.traffic else {
            return Ok(());
        };
        if *rate_bits_per_second == 0 || *packet_bytes < 28 {
            return Err(Error::fault(format!("cross traffic {name}"), "datagrams need a rate and at least 28 bytes"));
        }
        let [client, server] = CrossTraffic::addresses(number).map(|address| SocketAddr::new(address, PORT));
        let (sender, ends) = match direction {
            Direction::Up => (neighbour, (client, server)),
            Direction::Down => (peer, (server, client)),
        };
        sender.send(Source::new(Nic(0), ends, *packet_bytes, *rate_bits_per_second, times));
        Ok(())
    }

    /// Opens a flow; datagrams have their times.
    pub fn start(&self, number: usize, neighbour: &mut Host, now: Time) {
        if let CrossTraffic::Tcp { direction, .. } = self.traffic {
            let [local, remote] = CrossTraffic::addresses(number);
            let (local, remote) = (SocketAddr::new(local, 0), SocketAddr::new(remote, PORT));
            neighbour.connect(now, local, remote, application(direction == Direction::Up));
        }
    }

    /// What it got in a run that ended after `virtual_ns`.
    pub fn crossed(&self, [neighbour, peer]: [&Host; 2], virtual_ns: i64) -> Crossed {
        let receiver = if self.traffic.direction() == Direction::Down { neighbour } else { peer };
        let (start, stop) = self.traffic.times();
        Crossed {
            name: self.traffic.name().into(),
            bytes: outcome::read(receiver) + receiver.datagrams().bytes,
            active_ns: (stop.unwrap_or(virtual_ns).min(virtual_ns) - start).max(0),
        }
    }
}

fn application(sends: bool) -> Box<dyn Application> {
    if sends { Box::new(Bulk::for_time(i64::MAX)) } else { Box::new(Sink) }
}
