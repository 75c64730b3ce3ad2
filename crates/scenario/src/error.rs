/// Why a scenario cannot be run, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not of the form that is known.
    #[error("scenario: {0}")]
    Form(#[from] serde_json::Error),
    /// An element of a link cannot be made.
    #[error("link {link}, {direction}, element {}: {fault}", index + 1)]
    Element {
        /// Whose.
        link: String,
        /// `uplink` or `downlink`.
        direction: &'static str,
        /// Its index there, from 0.
        index: usize,
        /// Why.
        fault: Box<link::Error>,
    },
    /// A policy of the endpoints cannot be made.
    #[error("transport: {0}")]
    Policy(link::Error),
    /// Something in it contradicts itself or is not known.
    #[error("{section}: {fault}")]
    Fault {
        /// Which part of the scenario.
        section: String,
        /// What.
        fault: String,
    },
}

/// A step of a key path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Into a table.
    Name(String),
    /// Into a list.
    Index(usize),
}

impl Error {
    /// Of a contradiction.
    pub fn fault(section: impl Into<String>, fault: impl Into<String>) -> Error {
        Error::Fault { section: section.into(), fault: fault.into() }
    }

    /// The key path of the value at fault, as far as it is known, and what is wrong with it.
    pub fn parts(&self) -> (Vec<Key>, String) {
        let name = |name: &str| Key::Name(name.into());
        let (mut at, fault) = match self {
            Error::Element { link, direction, index, fault } => {
                (vec![name("link"), name(link), name(direction), Key::Index(*index)], &**fault)
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
