use crate::row::row;

row! {
    /// One row per position of the client. Field runs with gpsd fill it, and `mptcplab annotate` from a log; no analysis has rows.
    pub struct Position {
        /// Where it comes from: `gpsd`, or the name of a file.
        source: String,
        /// Time, Unix time, by the clock of the client.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Latitude in WGS 84, north positive.
        latitude_deg: f64,
        /// Longitude in WGS 84, east positive.
        longitude_deg: f64,
        /// Altitude above mean sea level.
        altitude_m: Option<f64>,
        /// Speed over ground.
        speed_mps: Option<f64>,
        /// Course over ground, clockwise from true north.
        course_deg: Option<f64>,
        /// How far off the position may be, as the source estimates it.
        accuracy_m: Option<f64>,
    }
}
