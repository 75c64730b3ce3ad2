//! What sees the packets of a simulation: the analysis, and the captures that are written.

use crate::behind::Behind;
use analysis::Analysis;
use capture::Writer;
use sim::Observer;
use std::{fs::File, io, path::PathBuf};
use wire::{Direction, Observation, Packet, Point, PointId, Time};

/// One end of the transfer, and where its capture goes.
pub struct End {
    pub host: &'static str,
    pub path: Option<PathBuf>,
}

/// Hands packets to the analysis and to the captures.
pub struct Watch {
    analysis: Behind,
    sites: Vec<Site>,
    /// By point: its site, its number in the site's capture.
    points: Vec<(usize, u32)>,
    full_payload: bool,
    bytes: Vec<u8>,
    /// What was seen at one time: put in the order in which it would be read from captures.
    instant: Vec<Observation>,
    named: Vec<Point>,
    fault: Option<io::Error>,
}

struct Site {
    capture: Option<Writer<File>>,
    interfaces: usize,
    records: u64,
}

impl Watch {
    pub fn new(mut analysis: Analysis, points: &[sim::Point], ends: [End; 2], full_payload: bool) -> io::Result<Watch> {
        let mut sites = Vec::new();
        for end in &ends {
            let writer = |path| Writer::new(File::create(path)?, end.host);
            let capture = end.path.as_ref().map(writer).transpose()?;
            sites.push(Site { capture, interfaces: 0, records: 0 });
        }
        let (mut places, mut named) = (Vec::new(), Vec::new());
        for point in points {
            let site = usize::from(point.host != ends[0].host);
            let end = &mut sites[site];
            let interface = end.interfaces as u32;
            end.interfaces += 1;
            if let Some(capture) = &mut end.capture {
                capture.interface(&point.interface)?;
            }
            // As captures name it.
            let interface_name = format!("{}:{}", point.host, point.interface);
            let seen =
                Point { capture: format!("{}.pcapng", point.host), site: site as u32, interface: interface_name };
            analysis.add_point(seen.clone());
            named.push(seen);
            places.push((site, interface));
        }
        let (bytes, instant, fault) = (Vec::new(), Vec::new(), None);
        let analysis = Behind::new(analysis);
        Ok(Watch { analysis, sites, points: places, full_payload, bytes, instant, named, fault })
    }

    /// What went wrong with writing so far.
    pub fn check(&mut self) -> io::Result<()> {
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Closes the captures and gives what was measured.
    pub fn finish(mut self) -> io::Result<tables::Tables> {
        self.flush();
        for site in self.sites {
            if let Some(capture) = site.capture {
                capture.finish(&vec![0; site.interfaces])?;
            }
        }
        Ok(self.analysis.finish().finish())
    }
}

impl Watch {
    fn flush(&mut self) {
        if self.instant.len() > 1 {
            capture::sort(&mut self.instant, &self.named);
        }
        self.instant.iter().for_each(|seen| self.analysis.observe(seen));
        self.instant.clear();
    }
}

impl Observer for Watch {
    fn passed(&mut self, at: Time, point: usize, direction: Direction, packet: &Packet) {
        if self.instant.first().is_some_and(|seen| seen.at < at) {
            self.flush();
        }
        let (place, interface) = self.points[point];
        let site = &mut self.sites[place];
        site.records += 1;
        let len = packet.frame.wire_len();
        let captured = if self.full_payload { len } else { len - packet.frame.payload.len };
        if let Some(capture) = &mut site.capture {
            self.bytes.clear();
            packet.emit(&mut self.bytes, Some(captured as usize)).expect("hosts send packets that can be written");
            let written = capture.packet(interface, at, Some(direction), len, &self.bytes);
            if let Err(error) = written {
                self.fault.get_or_insert(error);
            }
        }
        self.instant.push(Observation {
            at,
            point: PointId(point as u32),
            direction: Some(direction),
            record: site.records,
            captured,
            frame: packet.frame,
        });
    }
}
