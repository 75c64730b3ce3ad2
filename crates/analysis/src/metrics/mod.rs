//! What is measured: one metric, one file. A metric is fed the flow events of one connection at one end and fills its
//! columns when the connection is finished. To add one, write its file and name it in `metrics!`.

mod distribution;
mod metric;

pub(crate) use metric::{Metric, PerFlow};
pub(crate) use quality::of_both_ends;

use crate::Options;
use crate::closing::Closing;
use crate::event::FlowEvent;
use crate::report::Report;
use wire::Time;

macro_rules! of_datagrams {
    ($($file:ident::$metric:ident,)*) => {
        /// The metrics that datagrams have, too: those that ask for no acknowledgements.
        pub(crate) struct OfDatagrams {
            $($file: $file::$metric,)*
        }

        impl Metric for OfDatagrams {
            fn new(options: &Options, start: Time) -> Self {
                OfDatagrams { $($file: Metric::new(options, start),)* }
            }

            #[inline(always)]
            fn on(&mut self, event: &FlowEvent) {
                $(self.$file.on(event);)*
            }

            fn finish(&mut self, closing: &Closing, report: &mut Report) {
                $(self.$file.finish(closing, report);)*
            }
        }
    };
}

macro_rules! metrics {
    ($($file:ident::$metric:ident,)*) => {
        $(mod $file;)*

        /// Every metric. Which of them an event concerns is known when this is compiled.
        pub(crate) struct Metrics {
            $($file: $file::$metric,)*
        }

        impl Metric for Metrics {
            fn new(options: &Options, start: Time) -> Self {
                Metrics { $($file: Metric::new(options, start),)* }
            }

            #[inline(always)]
            fn on(&mut self, event: &FlowEvent) {
                $(self.$file.on(event);)*
            }

            fn finish(&mut self, closing: &Closing, report: &mut Report) {
                $(self.$file.finish(closing, report);)*
            }
        }
    };
}

metrics! {
    volume::Volume,
    delivery::Delivery,
    segments::Segments,
    rtt::Rtt,
    reordering::Reordering,
    responses::Responses,
    quality::Quality,
    window::Window,
    throughput::Throughput,
    gaps::Gaps,
    pauses::Pauses,
    events::Events,
    watch::Watch,
}

of_datagrams! {
    volume::Volume,
    delivery::Delivery,
    segments::Segments,
    throughput::Throughput,
    gaps::Gaps,
}
