//! Reads captures, analyses them, and tells how many packets there were:
//! `cargo run --release -p sim --example analyze FILE...`.

use analysis::{Analysis, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<std::path::PathBuf> = std::env::args_os().skip(1).map(Into::into).collect();
    let mut merge = capture::Merge::open(&paths)?;
    let mut analysis = Analysis::new(Options::default());
    let (mut count, mut points) = (0u64, 0);
    while let Some(observation) = merge.next() {
        let observation = *observation?;
        // A point is known before the first that was seen there.
        for point in merge.points().iter().skip(points) {
            analysis.add_point(point.clone());
            points += 1;
        }
        analysis.observe(&observation);
        count += 1;
    }
    println!("{count} packets, {} connections", analysis.finish().connections.len());
    Ok(())
}
