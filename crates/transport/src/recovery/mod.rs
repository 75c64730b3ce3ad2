//! Loss detection and repair: timers, scoreboard, rates. Each mechanism is one file and knows nothing of segments.

pub mod delivery;
pub mod least;
pub mod newreno;
pub mod pacing;
pub mod prr;
pub mod rack;
pub mod ranges;
pub mod rto;
pub mod scoreboard;
pub mod tlp;
pub mod undo;
pub mod usage;
pub mod wheel;
