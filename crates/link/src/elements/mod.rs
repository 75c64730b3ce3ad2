//! The elements that scenarios name. To add one: a file here, its `mod` line, and its name in `elements!`.

mod ack_delay;
mod alter_payload;
mod arq;
mod base_station;
mod clamp_mss;
mod clamp_window;
mod clat;
mod coalesce_segments;
mod delay;
mod delay_trace;
mod firewall;
mod garble_options;
mod gilbert_elliott;
mod gilbert_elliott_time;
mod grants;
mod handover;
mod loss;
mod mtu;
mod nat;
mod nat64;
mod periodic_loss;
mod promotion;
mod rate;
mod rate_markov;
mod rate_process;
mod rate_trace;
mod rewrite_sequence;
mod round_loss;
mod split_segments;
mod strip_options;
mod trace;

use crate::random::Stream;
use crate::{Description, Element, Error};
use parameters::{Described, Fault, Parameters, named};
use serde_json::Value;
use wire::Time;

/// What an element is made with besides its parameters.
pub(crate) struct Context<'a> {
    seed: u64,
    /// Full name of the element.
    pub(crate) name: &'a str,
    /// When its processes begin.
    start: Time,
}

impl Context<'_> {
    /// Of what is only made to see whether it can be.
    pub(crate) const NOWHERE: Context<'static> = Context { seed: 0, name: "", start: Time::from_nanos(0) };

    /// The element's stream of random numbers for one purpose.
    pub(crate) fn stream(&self, purpose: &str) -> Stream {
        Stream::new(self.seed, &format!("{}/{purpose}", self.name))
    }

    /// A stream for each direction.
    fn streams(&self) -> [Stream; 2] {
        [self.stream("up"), self.stream("down")]
    }
}

/// Names every element once.
macro_rules! elements {
    ($($module:ident,)*) => {
        /// The elements that there are.
        pub fn elements() -> Vec<Description> {
            vec![$($module::Settings::description()),*]
        }

        /// Makes the element that a scenario describes: a table with its name in `element` and its parameters.
        ///
        /// `seed` is the run's. `name` is the element's full name, unlike any other in the run: it parts streams of
        /// random numbers. Processes that evolve with time begin at `start`.
        ///
        /// # Errors
        /// [`Error`] with the element and the parameter that is wrong.
        pub fn build(value: &Value, seed: u64, name: &str, start: Time) -> Result<Box<dyn Element>, Error> {
            let context = Context { seed, name, start };
            let (table, name) = named(value, "element")?;
            let wrong = |fault: Fault| Error::Parameter { what: "element", name: name.into(), fault };
            $(if name == $module::Settings::NAME {
                let settings = $module::Settings::read(table, Some("element")).map_err(wrong)?;
                return $module::make(settings, &context).map_err(wrong);
            })*
            let known = elements().iter().map(|element| element.name).collect::<Vec<_>>().join(", ");
            Err(Error::Unknown { what: "element", name: name.into(), known })
        }
    };
}

elements! {
    rate,
    rate_process,
    rate_markov,
    trace,
    rate_trace,
    base_station,
    delay,
    delay_trace,
    loss,
    periodic_loss,
    round_loss,
    gilbert_elliott,
    gilbert_elliott_time,
    arq,
    grants,
    promotion,
    handover,
    nat,
    clat,
    nat64,
    firewall,
    strip_options,
    garble_options,
    rewrite_sequence,
    split_segments,
    coalesce_segments,
    clamp_mss,
    clamp_window,
    mtu,
    ack_delay,
    alter_payload,
}
