//! What a host remembers of destinations from one connection to the next: Linux's `tcp_metrics`, as far as slow start
//! goes.

use crate::congestion::Window;
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// The slow start threshold of each destination, in packets.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    ssthresh_packets: FxHashMap<IpAddr, u32>,
}

impl Metrics {
    /// Where slow start towards a destination ended.
    pub fn ssthresh_packets(&self, destination: IpAddr) -> Option<u32> {
        self.ssthresh_packets.get(&destination).copied()
    }

    /// A subflow to a destination closed with `window`; `calm` if it was repairing no losses (tcp_update_metrics, in
    /// net/ipv4/tcp_metrics.c and before Linux 3.6 in net/ipv4/tcp_input.c).
    pub fn closed(&mut self, destination: IpAddr, window: &Window, calm: bool) {
        let known = self.ssthresh_packets(destination);
        let half = window.cwnd_packets as u32 / 2;
        let news = if window.ssthresh_packets.is_infinite() {
            // The first slow start did not end: what is known was too little at most.
            known.map(|known| known.max(half))
        } else if window.cwnd_packets > window.ssthresh_packets && calm {
            Some(half.max(window.ssthresh_packets as u32))
        } else {
            known.map(|known| known.max(window.ssthresh_packets as u32))
        };
        if let Some(ssthresh) = news {
            self.ssthresh_packets.insert(destination, ssthresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd_packets: f64, ssthresh_packets: f64) -> Window {
        Window {
            cwnd_packets,
            ssthresh_packets,
            srtt_ns: Some(50_000_000),
            min_rtt_ns: Some(50_000_000),
            mss_bytes: 1448,
            recovering: false,
            usable: false,
        }
    }

    // The three cases of tcp_update_metrics.
    #[test]
    fn what_a_closed_subflow_says() {
        let to = IpAddr::from([192, 0, 2, 1]);
        let mut metrics = Metrics::default();
        metrics.closed(to, &window(100.0, f64::INFINITY), true);
        assert_eq!(metrics.ssthresh_packets(to), None, "slow start without an end says nothing of it");
        metrics.closed(to, &window(5.0, 20.0), true);
        assert_eq!(metrics.ssthresh_packets(to), None, "nor what came after a time-out");
        metrics.closed(to, &window(24.9, 20.0), true);
        assert_eq!(metrics.ssthresh_packets(to), Some(20));
        metrics.closed(to, &window(80.0, 6.0), true);
        assert_eq!(metrics.ssthresh_packets(to), Some(40), "half the window where that is more");
        metrics.closed(to, &window(9.0, 4.0), true);
        assert_eq!(metrics.ssthresh_packets(to), Some(4), "it sinks with the last");
        metrics.closed(to, &window(9.0, 7.0), false);
        assert_eq!(metrics.ssthresh_packets(to), Some(7), "in recovery it only rises");
        metrics.closed(to, &window(30.0, f64::INFINITY), true);
        assert_eq!(metrics.ssthresh_packets(to), Some(15));
        assert_eq!(metrics.ssthresh_packets(IpAddr::from([192, 0, 2, 2])), None);
    }
}
