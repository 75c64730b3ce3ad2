use parameters::{Duration, Fault, Number, Text, fault, parameters};

parameters! {
    /// How soon the guard suspects, and what it asks for before it leaves a path or comes back.
    pub struct Settings {
        /// Margin before a path is suspect. A path is suspect if data on it is not acknowledged within its round-trip
        /// time, four times its deviation and this margin; or if nothing arrives for the usual time between arrivals,
        /// four times its deviation and this margin. Probes are sent after half of that time. Linux delays ACKs by up
        /// to 40 ms (TCP_DELACK_MIN), and timers of a busy host fire a few milliseconds late. After each suspicion that
        /// proved wrong the margin doubles, up to eight times its value.
        margin: Duration = Duration(60_000_000),
        /// Minimum time that the probes over a suspect path have to be answered. The first probe is sent at once, the
        /// others during the second quarter of this time, so the last one has half of it. Mobile networks pause for 30
        /// to 80 ms at a handover.
        probe_timeout: Duration = Duration(90_000_000),
        /// The time is also at least this many current round-trip times of the path, since a growing queue can double
        /// the round-trip time within a few; from 1 to 100.
        probe_factor: Number = Number(2.0),
        /// Number of probes that must stay unanswered. A single answer clears the path. With 5 % loss in each
        /// direction, six probes or their answers are all lost by chance in one of a million cases; from 2 to 10.
        probes: Number = Number(6.0),
        /// What happens to a suspended path. `remove` deletes its endpoint: REMOVE_ADDR is sent over another path, and
        /// the peer moves all data from the path. `backup` asks the peer with MP_PRIO, over the path itself, to stop
        /// using it, and data in flight waits for its time-out. A path that already is a backup is removed.
        then: Text = Text("remove".into()),
        /// Time between probes over a suspended path.
        trial_interval: Duration = Duration(150_000_000),
        /// Probes in a row that must be answered before the path is used again; from 1 to 100.
        trial_answers: Number = Number(3.0),
        /// Minimum time during which they must be answered. It doubles with each further suspension.
        hold_down: Duration = Duration(300_000_000),
        /// Maximum that this time doubles to.
        longest_hold_down: Duration = Duration(30_000_000_000),
        /// Time without a suspension after which earlier suspensions of the path are forgotten.
        forgive: Duration = Duration(60_000_000_000),
        /// Signal strength in dBm (RSSI for Wi-Fi, RSRP for LTE) below which a path is left while another one is good;
        /// from -200 to 0. If left out, signals are ignored.
        leave_below: Option<Number> = None,
        /// Signal strength at which the path is used again, if its probes are answered as well. If left out, 5 dB above
        /// `leave_below`.
        return_above: Option<Number> = None,
        /// How long the signal must be below `leave_below`, or above `return_above`.
        signal_for: Duration = Duration(1_000_000_000),
    }
}

/// Whoever waits longer has mistaken the unit.
const MOST_NS: u64 = 86_400_000_000_000;

impl Settings {
    /// Whether a path that is suspended becomes a backup.
    pub fn makes_backups(&self) -> bool {
        self.then.0 == "backup"
    }

    /// Those, if they make sense.
    ///
    /// # Errors
    /// What does not.
    pub fn check(self) -> Result<Settings, Fault> {
        for (name, value, range) in
            [("probes", self.probes.0, 2.0..=10.0), ("trial_answers", self.trial_answers.0, 1.0..=100.0)]
        {
            if !range.contains(&value) || value.fract() != 0.0 {
                return Err(fault(name, format!("is not a whole number from {} to {}", range.start(), range.end())));
            }
        }
        if !["remove", "backup"].contains(&self.then.0.as_str()) {
            return Err(fault("then", "must be remove or backup"));
        }
        if !(1.0..=100.0).contains(&self.probe_factor.0) {
            return Err(fault("probe_factor", "must be from 1 to 100"));
        }
        for (name, value) in [("leave_below", self.leave_below), ("return_above", self.return_above)] {
            if value.is_some_and(|value| !(-200.0..=0.0).contains(&value.0)) {
                return Err(fault(name, "must be from -200 to 0 dBm"));
            }
        }
        if self.return_above.is_some_and(|back| self.leave_below.is_none_or(|leave| back.0 < leave.0)) {
            return Err(fault("return_above", "needs a leave_below that is not greater"));
        }
        for (name, value) in [("probe_timeout", self.probe_timeout), ("trial_interval", self.trial_interval)] {
            if value.0 < 1_000_000 {
                return Err(fault(name, "must be at least 1 ms"));
            }
        }
        for (name, value) in [
            ("margin", self.margin),
            ("probe_timeout", self.probe_timeout),
            ("trial_interval", self.trial_interval),
            ("hold_down", self.hold_down),
            ("longest_hold_down", self.longest_hold_down),
            ("forgive", self.forgive),
            ("signal_for", self.signal_for),
        ] {
            if value.0 > MOST_NS {
                return Err(fault(name, "must be at most a day"));
            }
        }
        Ok(self)
    }
}
