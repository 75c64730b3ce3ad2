//! Captures, whatever their bytes, are analysed to tables that agree with each other.

use std::io::Cursor;

use analysis::{Analysis, Options};
use capture::{Merge, Reader};

/// The first two bytes say where a second capture begins, if any: small inputs find what two captures do to each other.
pub fn check(data: &[u8]) {
    let Some((split, captures)) = data.split_first_chunk() else { return };
    let split = usize::from(u16::from_le_bytes(*split));
    let parts = captures.split_at_checked(split).map_or(vec![captures], |(first, second)| vec![first, second]);
    let readers = parts.iter().filter_map(|part| Reader::new("fuzz", Cursor::new(part.to_vec())).ok());
    let mut merge = Merge::new(readers.collect());
    let mut analysis = Analysis::new(Options { samples: true, ..Options::default() });
    let mut points = 0;
    while let Some(observation) = merge.next() {
        let Ok(observation) = observation.copied() else { continue };
        merge.points()[points..].iter().for_each(|point| analysis.add_point(point.clone()));
        points = merge.points().len();
        analysis.observe(&observation);
    }
    let tables = analysis.finish();
    let connections = tables.connections.len();
    assert_eq!(tables.transfers.len(), 2 * connections);
    assert_eq!(tables.flows.len(), 2 * tables.subflows.len());
    assert_eq!(tables.connections.iter().map(|row| row.subflows as usize).sum::<usize>(), tables.subflows.len());
    for table in tables::Tables::NAMES {
        assert!(tables.batch(table).is_some());
        tables.write_csv(table, std::io::sink()).expect("a sink takes everything");
    }
    tables.write_json(std::io::sink()).expect("a sink takes everything");
}
