//! The E-model: how good a telephone call is (ITU-T G.107, 06/2015), with its default values for all that no network changes.

/// How speech is coded: what the code itself costs and how much loss it bears (ITU-T G.113, Appendix I).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// G.711, 64 kbit/s, with concealment of losses (Appendix I of G.711).
    G711,
    /// G.729A, 8 kbit/s, with detection of silence.
    G729a,
    /// G.723.1, 6.3 kbit/s, with detection of silence.
    G7231,
    /// GSM enhanced full rate, 12.2 kbit/s.
    GsmEfr,
}

/// `Ro`, the signal-to-noise ratio (G.107 §7.2), and `Is`, what comes with the voice (§7.3), of the default values.
const RO: f64 = 94.768_9;
const IS: f64 = 1.413_6;
/// `TELR`, `WEPL`, and the circuit noise `No` with `RLR` = 2 dB, of the default values (G.107 §7.7 and §7.2).
const TELR_DB: f64 = 65.0;
const WEPL_DB: f64 = 110.0;
const ROE: f64 = 94.768_9;

impl Codec {
    /// The equipment impairment factor `Ie` and the robustness against loss of packets `Bpl`.
    pub fn impairment(self) -> (f64, f64) {
        match self {
            Codec::G711 => (0.0, 25.1),
            Codec::G729a => (11.0, 19.0),
            Codec::G7231 => (15.0, 16.1),
            Codec::GsmEfr => (5.0, 10.0),
        }
    }
}

/// The transmission rating `R` of a call whose listener hears what is said `delay_ms` later, but for `lost` of it (0 to 1), lost
/// at random (`BurstR` = 1): `R = Ro - Is - Id - Ie,eff` (G.107 §7.1).
pub fn rating(codec: Codec, delay_ms: f64, lost: f64) -> f64 {
    let (ie, bpl) = codec.impairment();
    let percent = lost * 100.0;
    // G.107 §7.5.
    let equipment = ie + (95.0 - ie) * percent / (percent + bpl);
    RO - IS - delay_impairment(delay_ms) - equipment
}

/// What users think of a call with the rating `R`, from 1 to 4.5 (G.107 Annex B).
pub fn mos(rating: f64) -> f64 {
    match rating {
        r if r <= 0.0 => 1.0,
        r if r >= 100.0 => 4.5,
        r => 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6,
    }
}

/// `Id` = talker echo + listener echo + absolute delay (G.107 §7.4); the echo goes the same way, there and back.
fn delay_impairment(delay_ms: f64) -> f64 {
    let t = delay_ms.max(0.0);
    // Talker echo.
    let terv = TELR_DB - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
    let re = 80.0 + 2.5 * (terv - 14.0);
    let half = (ROE - re) / 2.0;
    let talker = (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - libm::exp(-t));
    // Listener echo, whose way is twice as long.
    let rle = 10.5 * (WEPL_DB + 7.0) * libm::pow(2.0 * t + 1.0, -0.25);
    let half = (RO - rle) / 2.0;
    let listener = half + (half * half + 169.0).sqrt();
    talker + listener + absolute_delay(t)
}

/// `Idd`: the delay itself, which is not noticed below 100 ms (G.107 §7.4; sT = 1, mT = 100 ms).
fn absolute_delay(t: f64) -> f64 {
    if t <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(t / 100.0);
    let root = |value: f64| libm::pow(1.0 + libm::pow(value, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() <= within, "{value} is not {expected}");
    }

    /// With all its default values the model gives R = 93.2 and MOS 4.41 (G.107 §7.7).
    #[test]
    fn the_default_values_give_the_published_rating() {
        let r = rating(Codec::G711, 0.0, 0.0);
        close(r, 93.2, 0.05);
        close(mos(r), 4.41, 0.005);
    }

    /// R and MOS of the categories of quality (G.107 Table B.1, which has 4.03 where its formula gives 4.024).
    #[test]
    fn ratings_have_the_published_opinion() {
        for (r, expected) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            close(mos(r), expected, 0.0061);
        }
        assert_eq!((mos(-5.0), mos(120.0)), (1.0, 4.5));
    }

    /// `Ro` and `Is` of the default values, worked out by §7.2 and §7.3.
    #[test]
    fn constants_follow_from_the_default_values() {
        let (slr, rlr, stmr, ds, dr, ps, pr) = (8.0, 2.0, 15.0, 3.0, 3.0, 35.0, 35.0);
        let olr = slr + rlr;
        let power = |db: f64| libm::pow(10.0, db / 10.0);
        let nos: f64 = ps - slr - ds - 100.0 + 0.004 * libm::pow(ps - olr - ds - 14.0, 2.0);
        let pre = pr + 10.0 * libm::log10(1.0 + power(10.0 - (stmr + dr)));
        let nor = rlr - 121.0 + pre + 0.008 * libm::pow(pre - 35.0, 2.0);
        let no = 10.0 * libm::log10(power(-70.0) + power(nos) + power(nor) + power(-64.0 + rlr));
        close(15.0 - 1.5 * (slr + no), RO, 5e-4);
        close(-1.5 * (no - rlr), ROE, 5e-4);
        // The overall loudness, the sidetone, and one unit of quantising distortion.
        let xolr = olr + 0.2 * (64.0 + no - rlr);
        let iolr = 20.0 * (libm::pow(1.0 + libm::pow(xolr / 8.0, 8.0), 1.0 / 8.0) - xolr / 8.0);
        let stmro = -10.0 * libm::log10(power(-stmr) + power(-65.0));
        let part = |x: f64, n: f64| libm::pow(1.0 + libm::pow(x, n), 1.0 / n);
        let ist = 12.0 * part((stmro - 13.0) / 6.0, 8.0)
            - 28.0 * part((stmro + 1.0) / 19.4, 35.0)
            - 13.0 * part((stmro - 3.0) / 33.0, 13.0)
            + 29.0;
        let q = 37.0;
        let g = 1.07 + 0.258 * q + 0.0602 * q * q;
        let y = (RO - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
        let z = 46.0 / 30.0 - g / 40.0;
        let iq = 15.0 * libm::log10(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z));
        close(iolr + ist + iq, IS, 5e-3);
    }

    /// Half of what can be lost is, at `Ppl` = `Bpl`; more delay and more loss are never better.
    #[test]
    fn loss_and_delay_cost_what_the_formulas_say() {
        let without = rating(Codec::G729a, 0.0, 0.0);
        close(without, 93.2 - 11.0, 0.05);
        close(without - rating(Codec::G729a, 0.0, 0.19), (95.0 - 11.0) / 2.0, 1e-9);
        // X = 1 at 200 ms: Idd = 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2).
        close(absolute_delay(200.0), 3.0440, 1e-3);
        assert_eq!(absolute_delay(100.0), 0.0);
        let ratings = [0.0, 50.0, 100.0, 150.0, 200.0, 300.0, 400.0].map(|ms| rating(Codec::G711, ms, 0.0));
        assert!(ratings.is_sorted_by(|a, b| a > b), "{ratings:?}");
    }
}
