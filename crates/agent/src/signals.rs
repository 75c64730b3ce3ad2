//! What the radios of interfaces hear. Of Wi-Fi the kernel says it; of modems whoever talks to them writes it into a file.

use std::path::Path;

/// As wireless extensions have it (net/wireless/wext-proc.c), for cfg80211's devices too.
const WIRELESS: &str = "/proc/net/wireless";

/// Each interface that is known, with its signal in dBm. A file that cannot be read knows none.
pub fn read(file: Option<&Path>) -> Vec<(String, i32)> {
    let text = std::fs::read_to_string(file.unwrap_or(Path::new(WIRELESS))).unwrap_or_default();
    text.lines().filter_map(if file.is_some() { written } else { of_wireless }).collect()
}

/// `wwan0 -104`
fn written(line: &str) -> Option<(String, i32)> {
    let (interface, dbm) = line.trim().split_once(char::is_whitespace)?;
    let dbm: f64 = dbm.trim().trim_end_matches("dBm").trim().parse().ok()?;
    (-200.0..=0.0).contains(&dbm).then(|| (interface.to_owned(), dbm.round() as i32))
}

/// `wlan0: 0000   70.  -40.  -256        0      0      0      0     26        0`: status, quality of the link, signal.
fn of_wireless(line: &str) -> Option<(String, i32)> {
    let (interface, rest) = line.split_once(':')?;
    let signal = rest.split_whitespace().nth(2)?.trim_end_matches('.');
    // Drivers without dBm give what they like from 0 up.
    signal.parse().ok().filter(|dbm| (-200..0).contains(dbm)).map(|dbm| (interface.trim().to_owned(), dbm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_interfaces_and_powers() {
        let known = |interface: &str, dbm| Some((interface.to_owned(), dbm));
        assert_eq!(written("wwan0 -104"), known("wwan0", -104));
        assert_eq!(written(" wlan0\t-71.6 dBm "), known("wlan0", -72));
        for wrong in ["", "wlan0", "wlan0 good", "wlan0 12", "wlan0 -500"] {
            assert_eq!(written(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_kernels_own_file_reads() {
        // net/wireless/wext-proc.c: its heading, a card that knows dBm, and one that does not.
        let file = "Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE\n \
            face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22\n \
            wlan0: 0000   70.  -40.  -256        0      0      0      0     26        0\n \
            wlan1: 0000   30   174   0        0      0      0      0     0        0\n";
        let found: Vec<_> = file.lines().filter_map(of_wireless).collect();
        assert_eq!(found, [("wlan0".to_owned(), -40)]);
    }
}
