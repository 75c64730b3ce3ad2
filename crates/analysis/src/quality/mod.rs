//! How well an application was served that has to be in time: what it is, and how its figures follow from when data came.

pub mod e_model;
pub mod player;

use e_model::Codec;
use tables::Direction;
use wire::Time;

/// What an application sends, and when it wants it. A capture alone does not say so: whoever made the run does.
#[derive(Clone, Debug)]
pub enum Application {
    /// Messages of one size at even times, which begin as the one says that leaves the sender earliest for its time.
    Messages(Messages),
    /// Requests, each with an answer that is late after so long, nanoseconds.
    Responses {
        /// From the first data of a request until the last of its answer is in order.
        deadline_ns: i64,
    },
    /// Segments of a video, each asked for when the one before has come.
    Video(Video),
}

/// Messages of one size at even times.
#[derive(Clone, Debug)]
pub struct Messages {
    /// The receiver.
    pub direction: Direction,
    /// Bytes of each.
    pub bytes: u64,
    /// Bits of messages per second.
    pub rate_bits_per_second: u64,
    /// How long messages are sent, nanoseconds.
    pub duration_ns: i64,
    /// Later than this it is of no use, nanoseconds.
    pub deadline_ns: Option<i64>,
    /// What the messages are frames of.
    pub codec: Option<Codec>,
}

/// Segments of a video, of which each step of the bitrate has twice the bytes of the one below.
#[derive(Clone, Debug)]
pub struct Video {
    /// The receiver.
    pub direction: Direction,
    /// Media time of each, nanoseconds.
    pub segment_ns: i64,
    /// How many.
    pub segments: u64,
    /// Bytes that ask for as much as a segment of the lowest bitrate.
    pub request_bytes: u64,
    /// Bytes of a segment of the lowest bitrate.
    pub lowest_bytes: u64,
    /// Media time in the buffer with which it begins to play, and goes on after a stall, nanoseconds.
    pub startup_ns: i64,
}

impl Messages {
    /// How many are written.
    pub(crate) fn count(&self) -> u64 {
        let bits = u128::from(self.bytes) * 8_000_000_000;
        let written = self.duration_ns.max(0) as u128 * u128::from(self.rate_bits_per_second);
        written.div_ceil(bits) as u64
    }

    /// From the first to another, and from one to the next.
    pub(crate) fn due_ns(&self, number: u64) -> i64 {
        let bits = u128::from(number) * u128::from(self.bytes) * 8_000_000_000;
        (bits / u128::from(self.rate_bits_per_second.max(1))) as i64
    }
}

/// What one end saw of an application. Delays of messages need both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    /// When messages began to be due, by the sender's clock.
    pub(crate) began: Option<Time>,
    /// When each message was in order at the receiver, by its clock.
    pub(crate) came: Option<Vec<Time>>,
}
