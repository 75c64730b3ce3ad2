use std::collections::HashMap;

use wire::{Point, PointId};

use crate::Reader;

/// Where in a capture a packet was seen: its interface, and the host's number of it where the link layer says.
pub(crate) type Place = (u32, Option<u32>);

/// More places of one capture are taken for garbage; they are lumped together with their interface.
const MOST: usize = 65_536;

/// The points that stand for the places of a capture.
pub(crate) struct Places {
    site: u32,
    known: HashMap<Place, PointId>,
    last: Option<(Place, PointId)>,
}

impl Places {
    pub fn new(site: u32) -> Places {
        Places { site, known: HashMap::new(), last: None }
    }

    #[inline]
    pub fn point(&mut self, place: Place, reader: &Reader, points: &mut Vec<Point>) -> PointId {
        match self.last {
            Some((last, point)) if last == place => point,
            _ => self.find(place, reader, points),
        }
    }

    fn find(&mut self, mut place: Place, reader: &Reader, points: &mut Vec<Point>) -> PointId {
        if self.known.len() >= MOST && !self.known.contains_key(&place) {
            place.1 = None;
        }
        let point = *self.known.entry(place).or_insert_with(|| {
            let interface = match place {
                (_, Some(number)) => format!("if{number}"),
                (index, None) => reader.interfaces()[index as usize].name.clone(),
            };
            points.push(Point { capture: reader.name().to_owned(), site: self.site, interface });
            PointId(points.len() as u32 - 1)
        });
        self.last = Some((place, point));
        point
    }
}
