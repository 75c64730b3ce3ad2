//! The host that probes ask, and by what means: one that connections go to now.

use crate::kernel::Means;
use std::net::SocketAddr;
use wire::Time;

/// A host that has not answered so many probes of one kind is sent the other kind, and then another host is asked.
const MOST_UNANSWERED: u32 = 6;
/// For so long a host is asked after its last connection.
const REMEMBERED_NS: i64 = 60_000_000_000;

/// Of IPv4 and of IPv6: every path is asked of the same host, or one could not witness for another.
#[derive(Default)]
pub struct Targets {
    of_ipv4: Target,
    of_ipv6: Target,
}

#[derive(Default)]
struct Target {
    remote: Option<SocketAddr>,
    seen: Time,
    by_handshakes: bool,
    has_answered: bool,
    unanswered: u32,
    /// Asked in vain.
    given_up: Vec<SocketAddr>,
}

impl Targets {
    /// Takes to whom subflows go now, and from which path each; says whether another host is asked from now on.
    pub fn see(&mut self, now: Time, subflows: &[(usize, SocketAddr)]) -> bool {
        let of = |ipv4: bool| {
            subflows.iter().copied().filter(move |(_, remote)| remote.is_ipv4() == ipv4).collect::<Vec<_>>()
        };
        self.of_ipv4.see(now, &of(true)) | self.of_ipv6.see(now, &of(false))
    }

    /// The host to ask, and by what means.
    pub fn of(&self, ipv4: bool) -> Option<(SocketAddr, Means)> {
        let target = if ipv4 { &self.of_ipv4 } else { &self.of_ipv6 };
        Some((target.remote?, if target.by_handshakes { Means::Handshake } else { Means::Ping }))
    }

    /// Whether there is anybody to ask.
    pub fn has_any(&self) -> bool {
        self.of_ipv4.remote.or(self.of_ipv6.remote).is_some()
    }

    /// A probe went out.
    pub fn sent(&mut self, ipv4: bool) {
        let target = self.target(ipv4);
        target.unanswered += 1;
        if !target.has_answered && target.unanswered > MOST_UNANSWERED {
            target.unanswered = 0;
            if target.by_handshakes {
                target.given_up.extend(target.remote);
            }
            target.by_handshakes = !target.by_handshakes;
        }
    }

    /// One was answered.
    pub fn answered(&mut self, ipv4: bool) {
        let target = self.target(ipv4);
        (target.has_answered, target.unanswered) = (true, 0);
    }

    fn target(&mut self, ipv4: bool) -> &mut Target {
        if ipv4 { &mut self.of_ipv4 } else { &mut self.of_ipv6 }
    }
}

impl Target {
    fn see(&mut self, now: Time, subflows: &[(usize, SocketAddr)]) -> bool {
        let goes_to = |remote: SocketAddr| subflows.iter().any(|&(_, other)| other == remote);
        if let Some(remote) = self.remote {
            let is_given_up = !self.has_answered && self.given_up.contains(&remote);
            if goes_to(remote) && !is_given_up {
                self.seen = now;
                return false;
            }
        }
        let Some(best) = self.best(subflows) else {
            if now - self.seen >= REMEMBERED_NS {
                *self = Target::default();
            }
            return false;
        };
        if Some(best) == self.remote {
            self.seen = now;
            return false;
        }
        // Another port of the same host proves as much, except where only handshakes do.
        let is_same =
            self.remote.is_some_and(|remote| remote.ip() == best.ip()) && self.has_answered && !self.by_handshakes;
        let given_up = std::mem::take(&mut self.given_up);
        let before = std::mem::take(self);
        *self = Target { remote: Some(best), seen: now, given_up, ..Target::default() };
        if is_same {
            self.has_answered = before.has_answered;
        }
        !is_same
    }

    /// The host that most paths go to; one that did not answer only if there is no other.
    fn best(&mut self, subflows: &[(usize, SocketAddr)]) -> Option<SocketAddr> {
        let mut remotes: Vec<_> = subflows.iter().map(|&(_, remote)| remote).collect();
        remotes.sort_unstable();
        remotes.dedup();
        self.given_up.retain(|remote| remotes.contains(remote));
        if !remotes.is_empty() && remotes.iter().all(|remote| self.given_up.contains(remote)) {
            self.given_up.clear();
        }
        let paths = |remote: SocketAddr| {
            let mut paths: Vec<_> = subflows.iter().filter(|one| one.1 == remote).map(|&(path, _)| path).collect();
            paths.sort_unstable();
            paths.dedup();
            paths.len()
        };
        remotes.into_iter().filter(|remote| !self.given_up.contains(remote)).max_by_key(|&remote| paths(remote))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_host_is_asked_as_long_as_it_is_talked_to() {
        let (a, b) = (remote("192.0.2.1:80"), remote("192.0.2.2:443"));
        let mut targets = Targets::default();
        assert!(targets.see(Time::default(), &[(0, a), (1, b), (0, b)]));
        assert_eq!(targets.of(true), Some((b, Means::Ping)), "two paths go to it");
        assert!(!targets.see(Time::default(), &[(0, a), (1, a), (2, a), (0, b)]));
        assert_eq!(targets.of(true), Some((b, Means::Ping)));
        assert!(targets.see(Time::default(), &[(0, a)]));
        assert_eq!(targets.of(true), Some((a, Means::Ping)));
        // It is remembered for a minute.
        assert!(!targets.see(Time::default() + 59_000_000_000, &[]) && targets.has_any());
        targets.see(Time::default() + 61_000_000_000, &[]);
        assert!(!targets.has_any());
    }

    #[test]
    fn who_drops_pings_is_asked_by_handshakes_and_then_another() {
        let (a, b) = (remote("192.0.2.1:80"), remote("192.0.2.2:443"));
        let subflows = [(0, a), (1, a), (0, b)];
        let mut targets = Targets::default();
        let mut asked = Vec::new();
        for _ in 0..20 {
            targets.see(Time::default(), &subflows);
            asked.extend(targets.of(true));
            asked.dedup();
            targets.sent(true);
        }
        assert_eq!(asked, [(a, Means::Ping), (a, Means::Handshake), (b, Means::Ping)]);
        // A host that has answered may be silent for long: that is what is looked for.
        targets.answered(true);
        (0..50).for_each(|_| targets.sent(true));
        targets.see(Time::default(), &subflows);
        assert_eq!(targets.of(true), Some((b, Means::Ping)));
    }
}
