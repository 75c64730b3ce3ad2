//! How well applications were served that have to be in time, worked out by hand from scripts.

mod script;

use analysis::Options;
use analysis::quality::e_model::{Codec, mos, rating};
use analysis::quality::{Application, Messages, Video};
use script::*;

const MS: i64 = 1_000_000;

fn options(application: Application) -> Options {
    Options { application: Some(application), one_clock: true, ..Options::default() }
}

/// Frames of 160 bytes every 20 ms, five of them.
fn voice(deadline_ms: i64) -> Options {
    options(Application::Messages(Messages {
        direction: Down,
        bytes: 160,
        rate_bits_per_second: 64_000,
        duration_ns: 100 * MS,
        deadline_ns: Some(deadline_ms * MS),
        codec: Some(Codec::G711),
    }))
}

/// The way takes 30 ms. The third frame is lost and comes again, and the fourth waits for it.
const CALL: &str = "
    0|30    client wifi S  0   0 0
    60|30   server wifi SA 0   1 0
    60|90   client wifi A  1   1 0
    130|100 server wifi A  1   1 160
    150|120 server wifi A  161 1 160
    -|140   server wifi A  321 1 160
    190|160 server wifi A  481 1 160
    230|200 server wifi A  321 1 160
    231|201 server wifi A  641 1 160
";

/// Delays from the time of each: 30, 30, 90, 70 and 51 ms.
#[test]
fn messages_are_late_by_their_own_time() {
    let packets = || Script::default().packets(CALL);
    let tables = analyze_with(voice(60), packets());
    let down = transfer(&tables, Down);
    assert_eq!((down.messages, down.deadline_ms, down.late_share), (Some(5), Some(60.0), Some(0.4)));
    assert_eq!((down.message_delay_ms_mean, down.message_delay_ms_max), (Some(54.2), Some(90.0)));
    // Heard 60 ms after it was written, and written 20 ms after it began to be spoken.
    let expected = rating(Codec::G711, 80.0, 0.4);
    assert_eq!((down.r_factor, down.mos), (Some(expected), Some(mos(expected))));
    assert_eq!(transfer(&tables, Up).late_share, None);
    // Exactly at the deadline is in time.
    assert_eq!(transfer(&analyze_with(voice(90), packets()), Down).late_share, Some(0.0));
}

/// The application is 50 ms late with its first frame, and has caught up with the fourth: delays of 80, 60, 40, 30 and 30 ms.
#[test]
fn a_late_first_message_makes_the_others_no_earlier() {
    let text = "
        0|30    client wifi S  0   0 0
        60|30   server wifi SA 0   1 0
        60|90   client wifi A  1   1 0
        180|150 server wifi A  1   1 160
        180|150 server wifi A  161 1 160
        180|150 server wifi A  321 1 160
        190|160 server wifi A  481 1 160
        210|180 server wifi A  641 1 160
        ";
    let tables = analyze_with(voice(60), Script::default().packets(text));
    let down = transfer(&tables, Down);
    assert_eq!(
        (down.message_delay_ms_mean, down.message_delay_ms_max, down.late_share),
        (Some(48.0), Some(80.0), Some(0.2))
    );
}

/// Nothing is said of messages where it is not known that there are any.
#[test]
fn a_capture_alone_says_nothing_of_messages() {
    let tables = analyze(Script::default().packets(CALL));
    let down = transfer(&tables, Down);
    assert_eq!((down.messages, down.late_share, down.mos, down.stalls), (None, None, None, None));
}

/// The first answer takes 50 ms, the second 20 ms, the third never comes.
#[test]
fn answers_are_late_or_never_come() {
    let text = "
        0   client wifi S  0   0    0
        20  server wifi SA 0   1    0
        20  client wifi A  1   1    0
        100 client wifi A  1   1    100
        150 server wifi A  1   101  1000
        200 client wifi A  101 1001 100
        220 server wifi A  1001 201 1000
        300 client wifi A  201 2001 100
        ";
    let with = |ms: i64| {
        let application = Application::Responses { deadline_ns: ms * MS };
        let tables = analyze_with(options(application), Script::default().packets(text));
        transfer(&tables, Down).late_share
    };
    assert_eq!((with(20), with(19), with(50)), (Some(2.0 / 3.0), Some(1.0), Some(1.0 / 3.0)));
}

/// Segments of 1 s, of 1000 and 2000 bytes; they come at 120, 220 and 3000 ms.
#[test]
fn a_video_starts_switches_and_stalls() {
    let video = Video {
        direction: Down,
        segment_ns: 1000 * MS,
        segments: 3,
        request_bytes: 100,
        lowest_bytes: 1000,
        startup_ns: 1000 * MS,
    };
    let text = "
        0    client wifi S  0    0    0
        20   server wifi SA 0    1    0
        20   client wifi A  1    1    0
        100  client wifi A  1    1    100
        120  server wifi A  1    101  1000
        121  client wifi A  101  1001 200
        210  server wifi A  1001 301  1000
        220  server wifi A  2001 301  1000
        221  client wifi A  301  3001 100
        3000 server wifi A  3001 401  1000
        ";
    let tables = analyze_with(options(Application::Video(video)), Script::default().packets(text));
    let down = transfer(&tables, Down);
    assert_eq!((down.video_segments, down.startup_ms, down.bitrate_switches), (Some(3), Some(120.0), Some(2)));
    // Of 2 s that had come at 120 and 220 ms the last was played at 2120 ms.
    assert_eq!((down.stalls, down.stall_s), (Some(1), Some(0.88)));
    // 8, 16 and 8 kbit/s.
    close(down.video_mbps_mean, 0.032 / 3.0);
}
