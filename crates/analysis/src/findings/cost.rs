//! Time that was lost, which two findings never claim both.

/// Acknowledgements that were held up come together later: what is acknowledged faster than at best had been on its way up to so
/// long before.
const MADE_UP_S: f64 = 1.0;

/// What of each short time was lost and has no cause yet, seconds.
#[derive(Debug, Default)]
pub(super) struct Lost {
    begin_s: f64,
    width_s: f64,
    /// Bytes that came at best, and in each short time.
    best: f64,
    came: Vec<f64>,
    left: Vec<f64>,
}

impl Lost {
    /// Of short times with a width, from `begin_s` on, in which `bytes` came, and at best `best` would have.
    pub(super) fn new(begin_s: f64, width_s: f64, bytes: impl Iterator<Item = f64>, best: f64) -> Lost {
        let came: Vec<f64> = bytes.collect();
        let left = came.iter().map(|&bytes| lost(bytes, best) * width_s).collect();
        Lost { begin_s, width_s, best, came, left }
    }

    /// The same, of bytes acknowledged, and of whether there was nothing to send.
    pub(super) fn acknowledged(begin_s: f64, width_s: f64, times: &[(f64, bool)], best: f64) -> Lost {
        let mut lost = Lost::new(begin_s, width_s, times.iter().map(|(bytes, _)| *bytes), best);
        let before = (MADE_UP_S / width_s) as usize;
        for (index, (bytes, _)) in times.iter().enumerate().filter(|(_, (bytes, _))| best > 0.0 && *bytes > best) {
            let mut more = (bytes / best - 1.0) * width_s;
            for earlier in (index.saturating_sub(before)..index).rev().take_while(|&earlier| !times[earlier].1) {
                let made_up = lost.left[earlier].min(more);
                lost.left[earlier] -= made_up;
                more -= made_up;
            }
        }
        lost
    }

    /// Claims at most `most_s` of a span in which `rate` bytes per second would have come, also where that is more than at best.
    pub(super) fn claim_at(&mut self, from_s: f64, to_s: f64, rate: f64, most_s: f64) -> f64 {
        let would = rate * self.width_s;
        let index_at = |seconds: f64| ((seconds - self.begin_s) / self.width_s).clamp(0.0, self.left.len() as f64);
        for index in index_at(from_s).ceil() as usize..index_at(to_s) as usize {
            let more = lost(self.came[index], would) - lost(self.came[index], self.best);
            self.left[index] = (self.left[index] + more * self.width_s).max(0.0);
            // Nobody else's.
            self.came[index] = would.max(self.came[index]);
        }
        self.claim(from_s, to_s, most_s)
    }

    /// Claims what is left of a span, and at most `most` seconds.
    pub(super) fn claim(&mut self, from_s: f64, to_s: f64, most_s: f64) -> f64 {
        let mut claimed = 0.0;
        let index_at = |seconds: f64| ((seconds - self.begin_s) / self.width_s).clamp(0.0, self.left.len() as f64);
        let span = index_at(from_s) as usize..index_at(to_s).ceil() as usize;
        let first = span.start;
        for (index, left) in (first..).zip(self.left.get_mut(span).unwrap_or_default()) {
            let start = self.begin_s + index as f64 * self.width_s;
            let covered = (to_s.min(start + self.width_s) - from_s.max(start)).max(0.0);
            let got = (*left * covered / self.width_s).min(most_s - claimed).max(0.0);
            *left -= got;
            claimed += got;
        }
        claimed
    }
}

/// What part of a time was lost in which some bytes came, and at best others would have.
fn lost(bytes: f64, best: f64) -> f64 {
    if best > 0.0 { (1.0 - bytes / best).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::Lost;

    #[test]
    fn what_is_acknowledged_together_later_was_not_lost() {
        let left = |bytes: &[f64], idle: usize| {
            let times: Vec<_> = bytes.iter().enumerate().map(|(index, &bytes)| (bytes, index == idle)).collect();
            Lost::acknowledged(0.0, 0.25, &times, 100.0).claim(0.0, 9.0, 9.0)
        };
        assert_eq!(left(&[100.0, 0.0, 50.0, 250.0, 100.0], 9), 0.0);
        assert_eq!(left(&[0.0, 100.0, 100.0, 100.0, 100.0, 200.0], 9), 0.25, "too long before");
        assert_eq!(left(&[100.0, 0.0, 50.0, 250.0, 100.0], 1), 0.25, "nothing to send");
    }

    #[test]
    fn a_rate_of_its_own_takes_the_place_of_the_best() {
        let mut lost = Lost::new(0.0, 0.5, [100.0, 20.0, 20.0, 0.0].into_iter(), 40.0);
        assert_eq!(lost.claim(1.0, 1.5, 0.125), 0.125);
        // Of 0.5 s each, a tenth came: 0.45 s, of which 0.125 s are claimed.
        assert!((lost.claim_at(0.5, 1.5, 400.0, 1.0) - 0.775).abs() < 1e-9);
        assert_eq!(lost.claim_at(0.0, 1.5, 400.0, 1.5), 0.25, "the first half second alone");
        assert_eq!(lost.claim(0.0, 9.0, 9.0), 0.5);
    }

    #[test]
    fn nothing_is_claimed_twice() {
        let mut lost = Lost::new(1.0, 0.5, [100.0, 0.0, 50.0].into_iter(), 100.0);
        assert_eq!(lost.claim(0.0, 9.0, 0.25), 0.25);
        assert_eq!(lost.claim(0.0, 2.0, 9.0), 0.25);
        assert_eq!(lost.claim(2.25, 9.0, 9.0), 0.125);
        assert_eq!(lost.claim(0.0, 9.0, 9.0), 0.125);
        assert_eq!(lost.claim(0.0, 9.0, 9.0), 0.0);
    }
}
