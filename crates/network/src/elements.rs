//! The elements that a scenario can name, whichever crate they are from.

use link::{Description, Element, Error};
use parameters::named;
use scenario::{Scenario, hosts};
use serde_json::Value;
use wire::Time;

/// What an element is made with besides its parameters.
pub(crate) struct Context<'a> {
    pub scenario: &'a Scenario,
    /// Its full name, which parts its random numbers from those of others.
    pub name: &'a str,
    /// When its processes begin.
    pub start: Time,
}

type Built = Result<Box<dyn Element>, Error>;

/// A crate that has elements.
struct Source {
    elements: fn() -> Vec<Description>,
    build: fn(&Value, &Context) -> Built,
}

const SOURCES: [Source; 2] = [
    Source { elements: link::elements, build: |value, at| link::build(value, at.scenario.seed, at.name, at.start) },
    Source {
        elements: proxy::elements,
        build: |value, at| proxy::build(value, hosts::seed(at.scenario, at.name), at.start, hosts::origin(at.scenario)),
    },
];

/// The elements that there are.
pub fn elements() -> Vec<Description> {
    SOURCES.iter().flat_map(|source| (source.elements)()).collect()
}

/// Makes the element that a table describes: its name in `element`, and its parameters.
pub(crate) fn build(value: &Value, context: &Context) -> Built {
    for source in &SOURCES {
        match (source.build)(value, context) {
            Err(Error::Unknown { what: "element", .. }) => {}
            built => return built,
        }
    }
    let (_, name) = named(value, "element")?;
    let known = elements().iter().map(|element| element.name).collect::<Vec<_>>().join(", ");
    Err(Error::Unknown { what: "element", name: name.into(), known })
}
