use super::{Application, Backlog, Stream};
use transport::Event;
use wire::Time;

/// A video's bitrates: each step has twice the bytes of the one below.
#[derive(Clone, Copy, Debug)]
pub struct Ladder {
    /// Bytes of a segment of the lowest bitrate.
    pub lowest_bytes: u64,
    /// How many bitrates there are.
    pub steps: u32,
    /// Bytes that ask for as much as a segment of the lowest bitrate.
    pub request_bytes: u64,
}

/// Media times of a video, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Media {
    /// Of each segment.
    pub segment_ns: i64,
    /// In the buffer when it begins to play, and when it goes on after a stall.
    pub startup_ns: i64,
    /// The most in the buffer.
    pub buffer_ns: i64,
}

/// A player of adaptive video: asks for one segment after the other, each of the bitrate that its buffer allows.
///
/// The rule is BBA-0 (Huang et al.: A buffer-based approach to rate adaptation, SIGCOMM 2014, Algorithm 1): the lowest bitrate
/// while the buffer is within its reservoir, the highest above reservoir and cushion, and between them a line from one to the other,
/// followed only from one step to the next. Reservoir and cushion are the parts of the buffer that they are there: 90 and 126 of 240 s.
///
/// A segment of `2^step` times the lowest bitrate is asked for by as many requests at once, so that a server that answers requests
/// of one size by answers of one size can serve it.
#[derive(Clone, Debug)]
pub struct Player {
    ladder: Ladder,
    media: Media,
    /// Segments still to be asked for.
    left: u64,
    step: u32,
    /// Bytes of the segment that are still to come.
    awaited: u64,
    buffered_ns: i64,
    /// When `buffered_ns` was right, and whether it plays since.
    at: Time,
    playing: bool,
    next: Time,
    backlog: Backlog,
}

/// Where the lowest bitrate ends and where the highest begins, as parts of the buffer in 240ths.
const RESERVOIR: i64 = 90;
const UPPER: i64 = 216;
const WHOLE: i64 = 240;

impl Player {
    /// Plays `segments` of a video.
    pub fn new(ladder: Ladder, media: Media, segments: u64) -> Player {
        Player {
            ladder,
            media,
            left: segments,
            step: 0,
            awaited: 0,
            buffered_ns: 0,
            at: Time::default(),
            playing: false,
            next: Time::MAX,
            backlog: Backlog::default(),
        }
    }

    fn ask(&mut self, now: Time, stream: &mut Stream) {
        self.play_until(now);
        self.step = self.choose();
        self.left -= 1;
        self.awaited = self.ladder.lowest_bytes << self.step;
        self.backlog.add(self.ladder.request_bytes << self.step);
        self.backlog.flush(stream);
    }

    /// A whole segment has come.
    fn came(&mut self, now: Time, stream: &mut Stream) {
        self.play_until(now);
        self.buffered_ns += self.media.segment_ns;
        self.playing |= self.buffered_ns >= self.media.startup_ns;
        if self.left == 0 {
            stream.finish();
            return;
        }
        let over_ns = self.buffered_ns + self.media.segment_ns - self.media.buffer_ns;
        if over_ns > 0 {
            self.next = now + over_ns;
        } else {
            self.ask(now, stream);
        }
    }

    fn play_until(&mut self, now: Time) {
        if self.playing {
            self.buffered_ns -= now - self.at;
            if self.buffered_ns < 0 {
                (self.playing, self.buffered_ns) = (false, 0);
            }
        }
        self.at = now;
    }

    /// Algorithm 1, its rates as multiples of the lowest.
    fn choose(&self) -> u32 {
        let highest = self.ladder.steps - 1;
        let (reservoir_ns, upper_ns) = (self.part(RESERVOIR), self.part(UPPER));
        if self.buffered_ns <= reservoir_ns {
            return 0;
        }
        if self.buffered_ns >= upper_ns {
            return highest;
        }
        // The line from 1 to 2^highest, times its length: whole numbers are the same on every machine.
        let (along, length) = (i128::from(self.buffered_ns - reservoir_ns), i128::from(upper_ns - reservoir_ns));
        let line = length + along * ((1_i128 << highest) - 1);
        let rate = |step: u32| (1_i128 << step) * length;
        if line >= rate((self.step + 1).min(highest)) {
            (0..=highest).rev().find(|&step| rate(step) < line).unwrap_or(0)
        } else if line <= rate(self.step.saturating_sub(1)) {
            (0..=highest).find(|&step| rate(step) > line).unwrap_or(highest)
        } else {
            self.step
        }
    }

    fn part(&self, of: i64) -> i64 {
        self.media.buffer_ns / WHOLE * of
    }
}

impl Application for Player {
    fn on(&mut self, now: Time, event: Event, stream: &mut Stream) {
        match event {
            Event::Connected => {
                self.at = now;
                self.ask(now, stream);
            }
            Event::Writable => {
                self.backlog.flush(stream);
            }
            Event::Readable | Event::Finished => {
                let read = stream.read();
                if self.awaited > 0 {
                    self.awaited = self.awaited.saturating_sub(read);
                    if self.awaited == 0 {
                        self.came(now, stream);
                    }
                }
            }
            Event::Closed(_) => self.next = Time::MAX,
            Event::Accepted { .. }
            | Event::Spent { .. }
            | Event::Probe { .. }
            | Event::Decided { .. }
            | Event::Delivered => {}
        }
    }

    fn wake(&mut self, now: Time, stream: &mut Stream) {
        if now >= self.next {
            self.next = Time::MAX;
            self.ask(now, stream);
        }
    }

    fn deadline(&self) -> Time {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    /// Five steps over a buffer of 240 s: the map of the paper. The line rises by 15 in 126 s.
    fn chosen(buffered_s: i64, before: u32) -> u32 {
        let ladder = Ladder { lowest_bytes: 1000, steps: 5, request_bytes: 100 };
        let media = Media { segment_ns: 4 * S, startup_ns: 4 * S, buffer_ns: 240 * S };
        let player = Player { buffered_ns: buffered_s * S, step: before, ..Player::new(ladder, media, 10) };
        player.choose()
    }

    #[test]
    fn reservoir_and_cushion_have_the_ends_of_the_ladder() {
        assert_eq!([0, 90].map(|s| chosen(s, 4)), [0, 0]);
        assert_eq!([216, 240].map(|s| chosen(s, 0)), [4, 4]);
    }

    /// At 111 s the line is at 3.5, at 132 s at 6, at 160 s at 9.3, at 174 s at 11.
    #[test]
    fn a_step_is_left_only_when_the_line_reaches_the_next() {
        assert_eq!([0, 1, 2, 3].map(|before| chosen(111, before)), [1, 1, 2, 2]);
        assert_eq!([0, 1, 2, 3].map(|before| chosen(132, before)), [2, 2, 2, 3]);
        assert_eq!([2, 3, 4].map(|before| chosen(160, before)), [3, 3, 4]);
        assert_eq!([2, 3, 4].map(|before| chosen(174, before)), [3, 3, 4]);
    }
}
