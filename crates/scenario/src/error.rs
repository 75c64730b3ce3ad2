/// Why a scenario cannot be run, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not of the form that is known.
    #[error("scenario: {0}")]
    Form(#[from] serde_json::Error),
    /// An element of a link cannot be made.
    #[error("{place}: {fault}")]
    Element {
        /// Which.
        place: String,
        /// Why.
        fault: link::Error,
    },
    /// Something in it contradicts itself or is not known.
    #[error("{place}: {fault}")]
    Fault {
        /// Where.
        place: String,
        /// What.
        fault: String,
    },
}

impl Error {
    /// Of a contradiction.
    pub fn fault(place: impl Into<String>, fault: impl Into<String>) -> Error {
        Error::Fault { place: place.into(), fault: fault.into() }
    }
}
