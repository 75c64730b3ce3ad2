use crate::config::{Config, Tcp};
use crate::endpoint::{ConnectionId, Event, Nic};
use crate::metrics::Metrics;
use crate::tuples::Tuples;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::net::IpAddr;

/// What of its host a connection uses.
pub struct Context {
    pub config: Config,
    pub addresses: Vec<Address>,
    /// 4-tuples in use.
    pub tuples: Tuples,
    /// Of destinations; kept only with `ssthresh_cache`.
    pub metrics: Metrics,
    /// The connection that is being called.
    pub connection: ConnectionId,
    /// What the host is to be told.
    pub events: VecDeque<(ConnectionId, Event)>,
    random: Pcg64,
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub ip: IpAddr,
    pub nic: Nic,
    pub mtu_bytes: u32,
}

impl Context {
    /// Of a host without addresses; random numbers come from `seed`.
    pub fn new(config: Config, seed: u64) -> Context {
        Context {
            config,
            addresses: Vec::new(),
            tuples: Tuples::default(),
            metrics: Metrics::default(),
            connection: ConnectionId::default(),
            events: VecDeque::new(),
            random: Pcg64::seed_from_u64(seed),
        }
    }

    /// Settings of a subflow to `remote`, with what is remembered of it.
    pub fn tcp_towards(&self, remote: IpAddr) -> Cow<'_, Tcp> {
        match self.metrics.ssthresh_packets(remote) {
            Some(known) => Cow::Owned(Tcp { initial_ssthresh_packets: Some(known), ..self.config.tcp.clone() }),
            None => Cow::Borrowed(&self.config.tcp),
        }
    }

    /// A random number.
    pub fn random(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Tells the host what happened on the connection that is being called.
    #[inline(never)] // called in many places
    pub fn tell(&mut self, event: Event) {
        self.events.push_back((self.connection, event));
    }
}
