//! What becomes of the packets of a simulation: they are written to the captures, and measured.

use crate::behind::Work;
use analysis::Analysis;
use capture::Writer;
use std::{fs::File, io, path::PathBuf, sync::mpsc::Receiver};
use wire::{Body, Content, Observation, Packet, Point};

/// One end of the transfer, and where its capture goes.
pub struct End {
    pub host: &'static str,
    pub path: Option<PathBuf>,
}

/// The captures and the analysis.
pub struct Record {
    sites: [Site; 2],
    /// By point.
    locations: Vec<Location>,
    points: Vec<Point>,
    analysis: Analysis,
    bodies: Receiver<Option<Body>>,
}

#[derive(Default)]
struct Site {
    capture: Option<Writer<File>>,
    interfaces: u32,
}

/// The site of a point, and the number of its interface in the site's capture.
struct Location {
    site: usize,
    interface: u32,
}

impl Record {
    /// `bodies` gives what packets carry that is no pattern, in the order in which they come.
    pub fn new(
        mut analysis: Analysis,
        points: &[sim::Point],
        ends: &[End; 2],
        bodies: Receiver<Option<Body>>,
    ) -> io::Result<Record> {
        let mut sites = [Site::default(), Site::default()];
        for (site, end) in sites.iter_mut().zip(ends) {
            let writer = |path| Writer::new(File::create(path)?, end.host);
            site.capture = end.path.as_ref().map(writer).transpose()?;
        }
        let (mut locations, mut named) = (Vec::new(), Vec::new());
        for point in points {
            let number = usize::from(point.host != ends[0].host);
            let site = &mut sites[number];
            if let Some(capture) = &mut site.capture {
                capture.interface(&point.interface)?;
            }
            locations.push(Location { site: number, interface: site.interfaces });
            site.interfaces += 1;
            // As captures name it.
            let interface = format!("{}:{}", point.host, point.interface);
            let point = Point { capture: format!("{}.pcapng", point.host), site: number as u32, interface };
            analysis.add_point(point.clone());
            named.push(point);
        }
        Ok(Record { sites, locations, points: named, analysis, bodies })
    }

    /// The site of each point.
    pub fn sites(&self) -> Vec<usize> {
        self.locations.iter().map(|location| location.site).collect()
    }

    /// Closes the captures and gives what was measured.
    pub fn finish(self) -> io::Result<tables::Tables> {
        for Site { capture, interfaces } in self.sites {
            if let Some(capture) = capture {
                capture.finish(&vec![0; interfaces as usize])?;
            }
        }
        Ok(self.analysis.finish())
    }

    fn write(&mut self, seen: &Observation) -> io::Result<()> {
        let payload = seen.frame.payload;
        let says = payload.len > 0 && payload.content == Content::Unsaid;
        let body = if says { self.bodies.recv().expect("it was sent before") } else { None };
        let Location { site, interface } = self.locations[seen.point.0 as usize];
        let Some(capture) = &mut self.sites[site].capture else { return Ok(()) };
        capture.packet_with(interface, seen.at, seen.direction, seen.frame.wire_len(), |out| {
            let packet = Packet { frame: seen.frame, body };
            packet.emit(out, Some(seen.captured as usize)).expect("hosts send packets that can be written");
        })
    }
}

impl Work for Record {
    fn take(&mut self, mut seen: &mut [Observation]) -> io::Result<()> {
        seen.iter().try_for_each(|seen| self.write(seen))?;
        while let Some(&Observation { at, .. }) = seen.first() {
            let same = seen.iter().position(|seen| seen.at > at).unwrap_or(seen.len());
            let (instant, later) = seen.split_at_mut(same);
            if instant.len() > 1 {
                // As they would be read from the captures.
                capture::sort(instant, &self.points);
            }
            instant.iter().for_each(|seen| self.analysis.observe(seen));
            seen = later;
        }
        Ok(())
    }
}
