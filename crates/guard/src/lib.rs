//! Which of a host's paths can be relied on: a state machine without I/O, clock or chance. A simulated connection, the kernel
//! engine's client and a real host run the same.
//!
//! ```text
//!         nothing moves though it should            no answer here, one elsewhere
//!   good ────────────────────────────────▶ probed ─────────────────────────────────▶ suspended
//!    ▲ ▲                                     │                                        │   ▲
//!    │ └────── something moves, or answers ──┘                                 answer │   │ an answer is missing
//!    │                                                                                ▼   │
//!    └────────────────────────────── answers in a row, for long enough ────────────── on trial
//! ```
//!
//! Three things hold whatever comes in. A path is taken for bad only on evidence of two paths: probes over it stay without an answer while
//! one that was sent over another path meanwhile is answered, so the last good path stays, as does every path if the peer is
//! gone. Nothing follows from idleness alone. Each return takes longer than the one before.
//!
//! A path is suspended for other reasons, too, but only if another is good: the host lost its address or the carrier, its radio hears too
//! little, or it stands before a quicker path that is back, and is to stand behind that again.

mod decision;
mod guard;
mod path;
mod seen;
mod settings;
mod signal;

pub use decision::{Cause, Decision, Verdict};
pub use guard::{Guard, Order, TICK_NS};
pub use path::State;
pub use seen::Seen;
pub use settings::Settings;
