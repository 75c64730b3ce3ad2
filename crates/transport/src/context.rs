use crate::config::{Config, Tcp};
use crate::endpoint::{ConnectionId, Event, Nic};
use crate::metrics::Metrics;
use crate::recovery::wheel::Ticks;
use crate::tuples::Tuples;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::net::IpAddr;

/// An hour, more than the longest step of Linux's timers.
const MOST_BOOTED_NS: u64 = 3_600_000_000_000;

/// What of its host a connection uses.
pub struct Context {
    pub config: Config,
    pub addresses: Vec<Address>,
    /// Interfaces over which only TCP is spoken.
    pub plain: Vec<Nic>,
    /// Whether what a SYN carries is taken from it (RFC 7413), without a cookie.
    pub fast_open: bool,
    /// 4-tuples in use.
    pub tuples: Tuples,
    /// Of destinations; kept only with `ssthresh_cache`.
    pub metrics: Metrics,
    /// The connection that is being called.
    pub connection: ConnectionId,
    /// Events for the host.
    pub events: VecDeque<(ConnectionId, Event)>,
    /// When the host's timers end.
    pub ticks: Ticks,
    random: Pcg64,
}

/// A local address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub ip: IpAddr,
    pub nic: Nic,
    pub mtu_bytes: u32,
    /// What its radio hears, in dBm; none: nobody said.
    pub heard_dbm: Option<i32>,
}

impl Context {
    /// Of a host without addresses; random numbers come from `seed`.
    pub fn new(config: Config, seed: u64) -> Context {
        // Of a stream of its own.
        let booted_ns = (Pcg64::seed_from_u64(!seed).next_u64() % MOST_BOOTED_NS) as i64;
        Context {
            ticks: Ticks::new(booted_ns, config.tcp.timer_wheel),
            config,
            addresses: Vec::new(),
            plain: Vec::new(),
            fast_open: false,
            tuples: Tuples::default(),
            metrics: Metrics::default(),
            connection: ConnectionId::default(),
            events: VecDeque::new(),
            random: Pcg64::seed_from_u64(seed),
        }
    }

    /// Whether connections by this interface may be of MPTCP.
    pub fn speaks_mptcp(&self, nic: Nic) -> bool {
        self.config.mptcp.enabled && !self.plain.contains(&nic)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Endpoint;
    use wire::{Content, Frame, Ip, L4, Packet, Payload, Time};

    const NOW: Time = Time::from_nanos(0);

    /// When a SYN is sent again, by a host of each of many seeds.
    fn syn_timeouts_ms(timer_wheel: bool) -> Vec<i64> {
        let nobody = IpAddr::from([0; 4]);
        let ip = Ip { source: nobody, destination: nobody, ttl: 0, tos: 0, id: 0, dont_fragment: true, fragment: None };
        let payload = Payload { len: 0, content: Content::Unsaid };
        let mut packet = Packet { frame: Frame { ip, l4: L4::Other(0), payload }, body: None };
        let mut again_ms = |seed| {
            let config = Config { tcp: Tcp { timer_wheel, ..Tcp::default() }, ..Config::default() };
            let mut end = Endpoint::new(config, seed);
            end.address_up(NOW, Nic(0), IpAddr::from([192, 0, 2, 1]), 1500);
            end.connect(NOW, "192.0.2.1:0".parse().unwrap(), "192.0.2.2:80".parse().unwrap());
            assert!(end.transmit(NOW, &mut packet).is_some() && end.transmit(NOW, &mut packet).is_none(), "a SYN");
            (end.deadline() - NOW) / 1_000_000
        };
        (0..200).map(&mut again_ms).collect()
    }

    // A second ends in steps of 32 ms (kernel/time/timer.c, calc_wheel_index), wherever they lie at that host.
    #[test]
    fn hosts_have_ticks_of_their_own() {
        let mut waits_ms = syn_timeouts_ms(true);
        waits_ms.sort_unstable();
        assert!((1000..1004).contains(&waits_ms[0]), "{waits_ms:?}");
        assert!((1028..1036).contains(&waits_ms[199]), "{waits_ms:?}");
        assert!(waits_ms.windows(2).all(|pair| pair[1] - pair[0] < 4), "{waits_ms:?}");
        assert!(syn_timeouts_ms(false).iter().all(|&wait_ms| wait_ms == 1000));
    }
}
