//! What a connection is for, as the analysis takes it, of what a scenario says.

use crate::errors::PlanError;
use analysis::quality::{Application, Messages, Video, e_model};
use pyo3::{prelude::*, types::PyDict};
use scenario::applications::segment_bytes;
use scenario::form::{Codec, Transfer};

/// Of a planned transfer as a table.
pub(crate) fn read(transfer: &Bound<'_, PyDict>) -> PyResult<Option<Application>> {
    let table: String = transfer.py().import("json")?.call_method1("dumps", (transfer,))?.extract()?;
    let transfer = serde_json::from_str(&table).map_err(|error| PlanError::new_err(format!("transfer: {error}")))?;
    Ok(of(&transfer))
}

/// Of a planned transfer; none where nothing has to be in time.
pub(crate) fn of(transfer: &Transfer) -> Option<Application> {
    match *transfer {
        Transfer::RequestResponse { deadline_ns: Some(deadline_ns), .. } => {
            Some(Application::Responses { deadline_ns })
        }
        Transfer::ConstantBitRate {
            direction,
            rate_bits_per_second,
            message_bytes,
            duration_ns,
            deadline_ns,
            codec,
        } => Some(Application::Messages(Messages {
            direction,
            bytes: message_bytes,
            rate_bits_per_second,
            duration_ns,
            deadline_ns,
            codec: codec.map(model),
        })),
        Transfer::Video {
            direction,
            duration_ns,
            segment_ns,
            lowest_bitrate_bits_per_second: rate,
            startup_ns,
            request_bytes,
            ..
        } => Some(Application::Video(Video {
            direction,
            segment_ns,
            segments: (duration_ns / segment_ns) as u64,
            request_bytes,
            lowest_bytes: segment_bytes(segment_ns, rate),
            startup_ns,
        })),
        _ => None,
    }
}

fn model(codec: Codec) -> e_model::Codec {
    match codec {
        Codec::G711 => e_model::Codec::G711,
        Codec::G729a => e_model::Codec::G729a,
        Codec::G7231 => e_model::Codec::G7231,
        Codec::GsmEfr => e_model::Codec::GsmEfr,
    }
}
