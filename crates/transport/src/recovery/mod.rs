//! Loss detection and repair: timers, scoreboard, rates.
