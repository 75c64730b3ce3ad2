use parameters::{Duration, Fault, Number, Text, fault, parameters};

parameters! {
    /// How soon the guard suspects, and what it asks for before it leaves a path or comes back.
    pub struct Settings {
        /// A path is suspect when nothing is acknowledged on it for its round-trip time, four times its deviation and this; or when nothing comes for the usual time
        /// between arrivals, four times its deviation and this. Probes set out after half of that. Linux sends ACKs up to 40 ms late (TCP_DELACK_MIN), and timers of a host that is busy run
        /// some milliseconds late. Twice as much, up to eight times, after each suspicion that proved wrong.
        margin: Duration = Duration(60_000_000),
        /// Probes over a path that may be bad have this time at least: one is sent at once, the others in its second quarter, and the last of them has half of it to be answered.
        /// Mobile networks stand still for 30 to 80 ms at a handover.
        probe_timeout: Duration = Duration(90_000_000),
        /// So many of the path's present round-trip times they have at least: a queue that has filled doubles it in a few; from 1 to 100.
        probe_factor: Number = Number(2.0),
        /// How many probes have to stay unanswered. One that answers clears the path: with 5 % loss each way six are
        /// lost by chance in one of a million cases; from 2 to 10.
        probes: Number = Number(6.0),
        /// What becomes of a path that is suspended: `remove` (its endpoint is deleted: REMOVE_ADDR goes over another path, and the peer moves all that was on it) or `backup` (MP_PRIO asks the peer to use it no
        /// more, over the path itself, and what is on its way waits for its time-out). One that is a backup is removed.
        then: Text = Text("remove".into()),
        /// Between probes over a path that is suspended.
        trial_interval: Duration = Duration(150_000_000),
        /// How many in a row have to be answered before it is used again; from 1 to 100.
        trial_answers: Number = Number(3.0),
        /// For how long they have to be answered at least. Twice as long after each further suspension.
        hold_down: Duration = Duration(300_000_000),
        /// The longest that this becomes.
        longest_hold_down: Duration = Duration(30_000_000_000),
        /// Once a path was good for so long its past is forgotten.
        forgive: Duration = Duration(60_000_000_000),
        /// A path whose radio hears less than this, in dBm, is left while another is good: RSSI of Wi-Fi, RSRP of LTE; from -200 to 0. Without it no signal is looked at.
        leave_below: Option<Number> = None,
        /// And used again once it hears this and answers as ever; without it 5 dB more.
        return_above: Option<Number> = None,
        /// For so long the signal has to be below the one, or above the other.
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
