//! What sees the packets of a simulation.

use crate::behind::Behind;
use crate::record::{End, Record};
use analysis::Analysis;
use sim::Observer;
use std::io;
use std::sync::mpsc::{self, Sender};
use wire::{Body, CaptureDirection, Content, Observation, Packet, PointId, Time};

/// Has packets written and measured while the simulation goes on.
pub struct Watch {
    record: Behind<Record>,
    /// By point: its site.
    sites: Vec<usize>,
    /// By site: packets so far.
    packets: [u64; 2],
    /// What packets carry that is no pattern, in order.
    bodies: Sender<Option<Body>>,
    full_payload: bool,
    /// When the latest packets passed that must stay together: those of one time are yet to be put in order.
    instant: Time,
}

impl Watch {
    pub fn new(analysis: Analysis, points: &[sim::Point], ends: &[End; 2], full_payload: bool) -> io::Result<Watch> {
        let (bodies, come) = mpsc::channel();
        let record = Record::new(analysis, points, ends, come)?;
        let (sites, instant) = (record.sites(), Time::from_nanos(i64::MIN));
        Ok(Watch { record: Behind::new(record), sites, packets: [0; 2], bodies, full_payload, instant })
    }

    /// What went wrong with writing so far.
    pub fn check(&mut self) -> io::Result<()> {
        self.record.check()
    }

    /// Closes the captures and gives what was measured.
    pub fn finish(self) -> io::Result<tables::Tables> {
        self.record.finish()?.finish()
    }
}

impl Observer for Watch {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        if self.instant < at {
            self.instant = at;
            self.record.pause();
        }
        let record = &mut self.packets[self.sites[point]];
        *record += 1;
        let len = packet.frame.wire_len();
        let payload = packet.frame.payload;
        if payload.len > 0 && payload.content == Content::Unsaid {
            // If nobody takes it, writing failed, and `check` says so.
            let _ = self.bodies.send(packet.body.clone());
        }
        // What converters tell each other is always captured.
        let whole = self.full_payload || packet.body.is_some();
        self.record.push(Observation {
            at,
            point: PointId(point as u32),
            direction: Some(direction),
            record: *record,
            captured: if whole { len } else { len - payload.len },
            frame: packet.frame,
        });
    }
}
