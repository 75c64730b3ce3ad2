//! Time that was lost, which two findings never claim both.

/// What comes faster than at best makes up for what came too slowly up to so long before: it had been on its way then, and its
/// acknowledgements came late.
const MADE_UP_S: f64 = 1.0;

/// What of each short time was lost and is nobody's fault yet, seconds.
#[derive(Debug, Default)]
pub(super) struct Lost {
    begin_s: f64,
    width_s: f64,
    left: Vec<f64>,
}

impl Lost {
    /// Of short times with a width, from `begin_s` on, in which `bytes` came, and at best `best` would have.
    pub(super) fn new(begin_s: f64, width_s: f64, bytes: impl Iterator<Item = f64>, best: f64) -> Lost {
        let lost = |bytes: f64| if best > 0.0 { (1.0 - bytes / best) * width_s } else { 0.0 };
        let mut left: Vec<f64> = bytes.map(lost).collect();
        let before = (MADE_UP_S / width_s) as usize;
        for index in 0..left.len() {
            let mut more = (-left[index]).max(0.0);
            left[index] = left[index].max(0.0);
            for earlier in left[index.saturating_sub(before)..index].iter_mut().rev() {
                let made_up = f64::min(*earlier, more);
                *earlier -= made_up;
                more -= made_up;
            }
        }
        Lost { begin_s, width_s, left }
    }

    /// Claims what is left of a span, and at most `most` seconds.
    pub(super) fn claim(&mut self, from_s: f64, to_s: f64, most_s: f64) -> f64 {
        let mut claimed = 0.0;
        let place = |seconds: f64| ((seconds - self.begin_s) / self.width_s).clamp(0.0, self.left.len() as f64);
        let span = place(from_s) as usize..place(to_s).ceil() as usize;
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

#[cfg(test)]
mod tests {
    use super::Lost;

    #[test]
    fn what_catches_up_soon_was_not_lost() {
        let mut caught_up = Lost::new(0.0, 0.25, [100.0, 0.0, 50.0, 250.0, 100.0].into_iter(), 100.0);
        assert_eq!(caught_up.claim(0.0, 9.0, 9.0), 0.0);
        let mut too_late = Lost::new(0.0, 0.25, [0.0, 100.0, 100.0, 100.0, 100.0, 200.0].into_iter(), 100.0);
        assert_eq!(too_late.claim(0.0, 9.0, 9.0), 0.25);
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
