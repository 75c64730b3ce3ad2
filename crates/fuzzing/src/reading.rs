//! What holds for every capture.

use std::io::{Cursor, Read};

use capture::{FileStatistics, Merge, Reader};
use wire::Observation;

/// Gives at most three bytes at a time, as a pipe may.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(3);
        self.0.read(&mut into[..most])
    }
}

pub fn check(data: &[u8]) {
    let whole = observe(Reader::new("fuzz", Cursor::new(data.to_vec())));
    let trickled = observe(Reader::new("fuzz", Trickle(Cursor::new(data.to_vec()))));
    // How much a decompressor gives before it comes to damage depends on how much it is asked for.
    let compressed = data.starts_with(b"\x1f\x8b") || data.starts_with(b"\x28\xb5\x2f\xfd");
    if !compressed {
        assert_eq!(whole, trickled);
    }
    let Ok((observations, found)) = whole else { return };
    let observed = found.tcp + found.other_ip;
    let left_out = found.not_ip + found.malformed + found.truncated_headers + found.unsupported;
    assert_eq!(found.packets, observed + left_out);
    assert_eq!(observations.len() as u64, observed);
    // Time goes back only where it cannot be put right.
    let back = observations.windows(2).filter(|pair| pair[1].at < pair[0].at).count() as u64;
    assert!(back <= found.not_reordered);
}

fn observe(reader: Result<Reader, capture::Error>) -> Result<(Vec<Observation>, FileStatistics), String> {
    let mut merge = Merge::new(vec![reader.map_err(|error| error.to_string())?]);
    let mut observations = Vec::new();
    while let Some(observation) = merge.next() {
        observations.push(*observation.map_err(|error| error.to_string())?);
    }
    Ok((observations, merge.statistics()[0].clone()))
}
