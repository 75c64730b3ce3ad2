//! What the radio of a path hears, with hysteresis: a signal that lies at a threshold goes above and below it again and again.

use crate::Settings;
use wire::Time;

/// What return needs beyond `leave_below` unless it is set. Of an LTE device at rest RSRP is to be known to 6 dB (TS 36.133 §9.1.2), and Wi-Fi varies by as much from one beacon to the next: ours to guess.
const HYSTERESIS_DB: f64 = 5.0;

/// The signal of a path.
#[derive(Default)]
pub struct Signal {
    /// The last that was heard, in dBm, and since when it is below or above the threshold in question.
    dbm: Option<i32>,
    beyond: Option<Time>,
    is_weak: bool,
}

impl Signal {
    /// This is heard now, in dBm; none: nobody knows, and it is no reason for anything.
    pub fn hear(&mut self, dbm: Option<i32>) {
        self.dbm = dbm;
        if dbm.is_none() {
            *self = Signal::default();
        }
    }

    /// What was heard last, in dBm.
    pub fn dbm(&self) -> i32 {
        self.dbm.unwrap_or_default()
    }

    /// Time has passed: a threshold counts once the signal was beyond it for long enough.
    pub fn tick(&mut self, now: Time, settings: &Settings) {
        let (Some(dbm), Some(leave)) = (self.dbm.map(f64::from), settings.leave_below) else { return };
        let back = settings.return_above.map_or(leave.0 + HYSTERESIS_DB, |back| back.0);
        let is_beyond = if self.is_weak { dbm >= back } else { dbm < leave.0 };
        if !is_beyond {
            self.beyond = None;
            return;
        }
        let since = *self.beyond.get_or_insert(now);
        if now - since >= settings.signal_for.nanos() {
            (self.is_weak, self.beyond) = (!self.is_weak, None);
        }
    }

    /// Whether the path is not to be used for it.
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }
}
