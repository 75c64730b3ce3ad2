//! Reads captures, tells what was in them and how fast that went.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<std::path::PathBuf> = std::env::args_os().skip(1).map(Into::into).collect();
    let start = std::time::Instant::now();
    let mut merge = capture::Merge::open(&paths)?;
    let (mut count, mut bytes) = (0u64, 0u64);
    while let Some(observation) = merge.next() {
        count += 1;
        bytes += u64::from(observation?.frame.payload.len);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{:#?}\n{:#?}", merge.points(), merge.statistics());
    println!(
        "{count} observations, {bytes} bytes of payload, {seconds:.3} s, {:.1} million/s",
        count as f64 / seconds / 1e6
    );
    Ok(())
}
