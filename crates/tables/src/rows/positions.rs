use crate::row::row;

row! {
    /// One row per position of the client. From field runs with gpsd, or from a log by `mptcplab annotate`; analyses
    /// have none.
    pub struct Position {
        /// Source: `gpsd`, or the name of a file.
        source: String,
        /// Unix time, by the client's clock.
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
        /// Accuracy of the position, as estimated by the source.
        accuracy_m: Option<f64>,
    }
}
