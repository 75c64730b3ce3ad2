/// Why a scenario cannot be run, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not of the form that is known.
    #[error("scenario: {0}")]
    Form(#[from] serde_json::Error),
    /// An element of a link cannot be made.
    #[error("link {link}, {way}, element {}: {fault}", place + 1)]
    Element {
        /// Whose.
        link: String,
        /// `uplink` or `downlink`.
        way: &'static str,
        /// Its place there, from 0.
        place: usize,
        /// Why.
        fault: Box<link::Error>,
    },
    /// A policy of the endpoints cannot be made.
    #[error("transport: {0}")]
    Policy(link::Error),
    /// Something in it contradicts itself or is not known.
    #[error("{place}: {fault}")]
    Fault {
        /// Where.
        place: String,
        /// What.
        fault: String,
    },
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Into a table.
    Name(String),
    /// Into a list.
    Place(usize),
}

impl Error {
    /// Of a contradiction.
    pub fn fault(place: impl Into<String>, fault: impl Into<String>) -> Error {
        Error::Fault { place: place.into(), fault: fault.into() }
    }

    /// Which value of a scenario is at fault, as far as is known, and what is wrong with it.
    pub fn parts(&self) -> (Vec<Key>, String) {
        let name = |name: &str| Key::Name(name.into());
        let (mut at, fault) = match self {
            Error::Element { link, way, place, fault } => {
                (vec![name("link"), name(link), name(way), Key::Place(*place)], &**fault)
            }
            Error::Policy(fault) => (vec![name("mptcp")], fault),
            Error::Form(_) | Error::Fault { .. } => return (Vec::new(), self.to_string()),
        };
        let link::Error::Parameter { what, fault, .. } = fault else { return (at, fault.to_string()) };
        at.extend(match *what {
            "congestion controller" => Some(name("congestion_parameters")),
            "scheduler" => Some(name("scheduler_parameters")),
            "path manager" => Some(name("path_manager_parameters")),
            _ => None,
        });
        at.push(name(&fault.parameter));
        at.extend(fault.within.as_deref().map(name));
        (at, fault.message.clone())
    }
}
