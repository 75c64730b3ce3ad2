//! How well an application was served that has to be in time, where it is known which one it is.

use super::metric::Metric;
use crate::Options;
use crate::closing::Closing;
use crate::event::{FlowEvent, Kind};
use crate::quality::player::{self, Segment};
use crate::quality::{Application, Messages, Video};
use crate::report::Report;
use wire::Time;

/// Nothing but for connections of which it is known what they are for.
pub(crate) struct Quality(Option<Box<Watched>>);

struct Watched {
    application: Application,
    start: Time,
    latest: Time,
    /// When messages began to be due, as those say that left earliest for their time.
    began: Option<Time>,
    /// Data in order, of each direction.
    bytes: [u64; 2],
    /// When each message was whole.
    came: Vec<Time>,
    /// Segments of video: bytes asked for when it was, and when it was whole.
    segments: Vec<Asked>,
}

struct Asked {
    requested_bytes: u64,
    came: Option<Time>,
}

impl Metric for Quality {
    fn new(options: &Options, start: Time) -> Self {
        Quality(options.application.clone().map(|application| {
            Box::new(Watched {
                application,
                start,
                latest: start,
                began: None,
                bytes: [0; 2],
                came: Vec::new(),
                segments: Vec::new(),
            })
        }))
    }

    #[inline(always)]
    fn on(&mut self, event: &FlowEvent) {
        if let Some(watched) = &mut self.0 {
            watched.on(*event);
        }
    }

    fn finish(&mut self, closing: &Closing, report: &mut Report) {
        let Some(watched) = self.0.take() else { return };
        match &watched.application {
            Application::Messages(messages) => {
                let served = &mut report.served;
                if closing.is_sender(messages.direction) {
                    served.began = watched.began;
                }
                if closing.is_receiver(messages.direction) {
                    served.came = Some(watched.came);
                }
            }
            Application::Video(video) if closing.is_receiver(video.direction) => watched.played(video, report),
            Application::Video(_) | Application::Responses { .. } => {}
        }
    }
}

impl Watched {
    fn on(&mut self, event: FlowEvent) {
        let (at, direction) = (event.seen.at, event.direction);
        self.latest = self.latest.max(at);
        let bytes = match event.kind {
            Kind::Data(data) if data.has_payload() => {
                if let Application::Messages(messages) = &self.application
                    && direction == messages.direction
                {
                    self.began.get_or_insert(at);
                }
                return;
            }
            Kind::Progress { bytes } => bytes,
            _ => return,
        };
        self.bytes[direction as usize] += bytes;
        match &self.application {
            Application::Messages(messages) if direction == messages.direction => {
                let whole = (self.bytes[direction as usize] / messages.bytes).min(messages.count());
                if whole as usize > self.came.len() {
                    self.came.resize(whole as usize, at);
                    let began = at + -messages.due_ns(whole - 1);
                    self.began = self.began.map(|known| known.min(began));
                }
            }
            Application::Video(video) if direction == video.direction => {
                let here = self.bytes[direction as usize];
                if let Some(segment) = self.segments.last_mut()
                    && segment.came.is_none()
                    && here >= self.bytes[direction.reverse() as usize] / video.request_bytes * video.lowest_bytes
                {
                    segment.came = Some(at);
                }
            }
            Application::Video(_) => match self.segments.last_mut() {
                Some(Asked { requested_bytes, came: None }) => *requested_bytes += bytes,
                _ => self.segments.push(Asked { requested_bytes: bytes, came: None }),
            },
            Application::Messages(_) | Application::Responses { .. } => {}
        }
    }

    fn played(&self, video: &Video, report: &mut Report) {
        let steps = |asked: &Asked| (asked.requested_bytes / video.request_bytes).max(1).ilog2();
        let mut segments: Vec<_> =
            self.segments.iter().map(|asked| Segment { came: asked.came, step: steps(asked) }).collect();
        let whole: Vec<_> = segments.iter().filter(|segment| segment.came.is_some()).map(|one| one.step).collect();
        if (segments.len() as u64) < video.segments {
            // It ended before it asked for all.
            segments.push(Segment { came: None, step: segments.last().map_or(0, |last| last.step) });
        }
        let times = (video.segment_ns, video.startup_ns);
        let playback = player::play(&segments, times, (self.start, self.latest));
        let row = &mut report.transfers[video.direction as usize];
        let segment_mbits = |step: u32| (video.lowest_bytes << step) as f64 * 8e3 / video.segment_ns as f64;
        row.video_segments = Some(whole.len() as u64);
        row.startup_ms = playback.startup_ns.map(|ns| ns as f64 / 1e6);
        row.stalls = Some(playback.stalls);
        row.stall_s = Some(playback.stalled_ns as f64 / 1e9);
        row.video_mbps_mean =
            (!whole.is_empty()).then(|| whole.iter().copied().map(segment_mbits).sum::<f64>() / whole.len() as f64);
        row.bitrate_switches = Some(playback.switches);
    }
}

/// Fills what takes both ends: when messages were written says the sender's, when they came the receiver's, whose clock is
/// `ahead_ns` ahead; none where that is not known.
pub(crate) fn of_both_ends(messages: &Messages, ahead_ns: Option<i64>, report: &mut Report) {
    let served = std::mem::take(&mut report.served);
    let (Some(ahead_ns), Some(came)) = (ahead_ns, served.came) else { return };
    let written = messages.count();
    let delays: Vec<i64> = match served.began {
        Some(began) => {
            came.iter().zip(0..).map(|(&at, number)| (at - began - ahead_ns - messages.due_ns(number)).max(0)).collect()
        }
        None => return,
    };
    let mut times = crate::histogram::Histogram::default();
    delays.iter().for_each(|&delay| times.add(delay as u64));
    let row = &mut report.transfers[messages.direction as usize];
    row.messages = Some(written);
    row.message_delay_ms_mean = times.mean_ms();
    row.message_delay_ms_median = times.quantile_ms(0.5);
    row.message_delay_ms_p95 = times.quantile_ms(0.95);
    row.message_delay_ms_p99 = times.quantile_ms(0.99);
    row.message_delay_ms_max = times.max_ms();
    let Some(deadline_ns) = messages.deadline_ns.filter(|_| written > 0) else { return };
    let in_time = delays.iter().filter(|&&delay| delay <= deadline_ns).count();
    let late = (written - in_time as u64) as f64 / written as f64;
    row.deadline_ms = Some(deadline_ns as f64 / 1e6);
    row.late_share = Some(late);
    if let Some(codec) = messages.codec {
        // What a message holds was spoken before it was written; what is in time is heard at the deadline.
        let heard_ms = (deadline_ns + messages.due_ns(1)) as f64 / 1e6;
        let rating = crate::quality::e_model::rating(codec, heard_ms, late);
        row.r_factor = Some(rating);
        row.mos = Some(crate::quality::e_model::mos(rating));
    }
}
