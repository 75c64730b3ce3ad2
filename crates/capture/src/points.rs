use std::collections::HashMap;

use wire::{Point, PointId};

use crate::Reader;

/// Where in a capture a packet was seen: its interface, and the host's number of it where the link layer says.
pub(crate) type Origin = (u32, Option<u32>);

/// More points of one capture are taken for garbage; they are lumped together with their interface.
const MOST: usize = 65_536;

/// The points that stand for the origins of packets in a capture.
pub(crate) struct Points {
    site: u32,
    known: HashMap<Origin, PointId>,
    /// So many of the interfaces that the capture names are known.
    named: u32,
    /// The last two that were looked up: the packets of two paths come in turns.
    recent: [Option<(Origin, PointId)>; 2],
}

impl Points {
    pub fn new(site: u32) -> Points {
        Points { site, known: HashMap::new(), named: 0, recent: [None; 2] }
    }

    #[inline]
    pub fn point(&mut self, origin: Origin, reader: &Reader, points: &mut Vec<Point>) -> PointId {
        match self.recent {
            [Some((known, point)), _] | [_, Some((known, point))] if known == origin => point,
            _ => self.find(origin, reader, points),
        }
    }

    fn find(&mut self, mut origin: Origin, reader: &Reader, points: &mut Vec<Point>) -> PointId {
        if self.known.len() >= MOST && !self.known.contains_key(&origin) {
            origin.1 = None;
        }
        let point = self.add(origin, reader, points);
        if origin.1.is_none() {
            // A host has the interfaces that its capture names, also those on which nothing passes.
            let interfaces = reader.interfaces().len() as u32;
            for index in std::mem::replace(&mut self.named, interfaces)..interfaces {
                self.add((index, None), reader, points);
            }
        }
        self.recent = [Some((origin, point)), self.recent[0]];
        point
    }

    fn add(&mut self, origin: Origin, reader: &Reader, points: &mut Vec<Point>) -> PointId {
        *self.known.entry(origin).or_insert_with(|| {
            let interface = match origin {
                (_, Some(number)) => format!("if{number}"),
                (index, None) => reader.interfaces()[index as usize].name.clone(),
            };
            points.push(Point { capture: reader.name().to_owned(), site: self.site, interface });
            PointId(points.len() as u32 - 1)
        })
    }
}
