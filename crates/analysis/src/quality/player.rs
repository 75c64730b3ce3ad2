//! What the viewer of a video had, given when its segments came.

use wire::Time;

/// A segment of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it was whole; none: never.
    pub came: Option<Time>,
    /// Of which step of the bitrate, 0 the lowest.
    pub step: u32,
}

/// What the viewer had.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playback {
    /// From the start until the first picture; none where nothing was ever played.
    pub startup_ns: Option<i64>,
    /// How often it stood still for want of data after that.
    pub stalls: u64,
    /// How long, all together.
    pub stalled_ns: i64,
    /// How often a segment had another bitrate than the one before.
    pub switches: u64,
}

/// Plays segments of `segment_ns` each, whose first was asked for at `start`; what is missing is waited for until `end`.
///
/// Playing begins with `startup_ns` of media, or with all that is left, stands still when there is none, and goes on as it began.
pub fn play(segments: &[Segment], (segment_ns, startup_ns): (i64, i64), (start, end): (Time, Time)) -> Playback {
    let mut playback = Playback {
        switches: segments.windows(2).filter(|pair| pair[0].step != pair[1].step).count() as u64,
        ..Playback::default()
    };
    // Media in the buffer when the latest segment had come, and whether it plays since.
    let (mut buffered_ns, mut playing) = (0_i64, false);
    let (mut now, mut still_since) = (start, start);
    for (number, segment) in segments.iter().enumerate() {
        let came = segment.came.unwrap_or(end).max(now);
        if playing {
            let passed_ns = came - now;
            if passed_ns > buffered_ns {
                (playing, still_since) = (false, now + buffered_ns);
                playback.stalls += 1;
                buffered_ns = 0;
            } else {
                buffered_ns -= passed_ns;
            }
        }
        now = came;
        if segment.came.is_none() {
            break;
        }
        buffered_ns += segment_ns;
        if !playing && (buffered_ns >= startup_ns || number + 1 == segments.len()) {
            playing = true;
            match playback.startup_ns {
                None => playback.startup_ns = Some(now - start),
                Some(_) => playback.stalled_ns += now - still_since,
            }
        }
    }
    if !playing && playback.startup_ns.is_some() {
        playback.stalled_ns += (end - still_since).max(0);
    }
    playback
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * S)
    }

    fn played(came: &[Option<i64>], startup_s: i64) -> Playback {
        let segments: Vec<_> = came.iter().map(|&came| Segment { came: came.map(at), step: 0 }).collect();
        play(&segments, (4 * S, startup_s * S), (at(0), at(100)))
    }

    #[test]
    fn what_comes_in_time_never_stalls() {
        let playback = played(&[Some(1), Some(2), Some(9), Some(13)], 4);
        assert_eq!(playback, Playback { startup_ns: Some(S), ..Playback::default() });
    }

    /// Nothing comes for `T` with `B` in the buffer: it stands still for `T - B`.
    #[test]
    fn an_outage_stalls_for_what_the_buffer_does_not_bridge() {
        // At 3 s there are 12 - 2 = 10 s in the buffer, and nothing comes for 17 s.
        let playback = played(&[Some(1), Some(2), Some(3), Some(20), Some(21)], 4);
        assert_eq!((playback.stalls, playback.stalled_ns), (1, (17 - 10) * S));
        // It goes on only with 8 s, which are there 1 s later.
        let playback = played(&[Some(1), Some(2), Some(3), Some(20), Some(21)], 8);
        assert_eq!((playback.startup_ns, playback.stalled_ns), (Some(2 * S), (20 - 14 + 1) * S));
    }

    #[test]
    fn what_never_comes_is_waited_for_until_the_end() {
        let playback = played(&[Some(1), None, None], 4);
        assert_eq!((playback.stalls, playback.stalled_ns), (1, (100 - 5) * S));
        let playback = played(&[None], 4);
        assert_eq!(playback, Playback::default());
    }

    /// The last segment is played, however little that is.
    #[test]
    fn a_short_video_is_played_once_it_is_there() {
        assert_eq!(played(&[Some(2)], 8).startup_ns, Some(2 * S));
    }

    #[test]
    fn steps_are_counted() {
        let steps = [0, 0, 1, 2, 2, 1].map(|step| Segment { came: Some(at(1)), step });
        assert_eq!(play(&steps, (S, S), (at(0), at(9))).switches, 3);
    }
}
