//! What is made of a connection when it is finished: it is judged, its metrics fill their rows, and what no metric knows is
//! added.

mod between;
mod captures;
mod coverage;
mod ends;
mod figures;
mod in_common;
mod left_out;
mod opening;
mod remarks;
mod rows;
mod shares;

pub(super) use captures::Captures;
pub(super) use in_common::InCommon;
pub(super) use rows::path_name;

use super::connection::Connection;
use crate::Options;
use crate::closing::Closing;
use crate::findings;
use crate::metrics::Metric;
use crate::report::Report;
use tables::Direction;

/// Makes the rows of a finished connection.
pub(super) fn report(mut connection: Connection, captures: &Captures, options: &Options) -> Report {
    let ends = connection.judge_ends();
    let mut report = rows::rows(&connection, &ends, captures);
    let both = ends.iter().flatten().count() == 2;
    let mut carried = Direction::BOTH.map(|direction| connection.carried_by(direction, &ends));
    for (index, judged) in ends.iter().enumerate() {
        let Some(judged) = judged else { continue };
        let lacks_data = Direction::BOTH.map(|direction| connection.lacks_data(index, direction));
        let Some(end) = &mut connection.ends[index] else { continue };
        // The host at the right end tells, but for captures of a part.
        let coverage = &connection.coverage;
        let tells = |sends: Direction| {
            !both || coverage.is_part(1 - index) || judged.sends == Some(sends) && !coverage.is_part(index)
        };
        let carried = carried.each_mut().map(|carried| carried.take_if(|carried| carried.end == index));
        let closing = Closing {
            speaks_mptcp: connection.version.is_some(),
            delivered_bytes: end.streams.each_ref().map(|stream| stream.delivered_bytes()),
            last_ack: end.last_ack,
            options,
            start: end.first.at,
            origin: captures.origin,
            captures: captures.names,
            sends: judged.sends,
            only_end: !both,
            tells_time: tells(Direction::Up),
            tells_delivered: Direction::BOTH.map(|direction| tells(direction.reverse())),
            carried: carried.map(|carried| carried.map(|carried| carried.bytes)),
            lacks_data,
        };
        let before = report.events.len();
        end.metrics.finish(&closing, &mut report);
        if judged.sends == Some(Direction::Down) {
            report.server_events = before..report.events.len();
        }
    }
    if both && !connection.coverage.unrelated {
        connection.join_ends(&ends, options, &mut report);
    }
    let lacks_path = Direction::BOTH.map(|direction| connection.lacks_path(direction, &ends));
    connection.rates(lacks_path, &mut report);
    connection.remark(&ends, captures, &mut report);
    let sites = connection.subflows.iter().flat_map(|subflow| subflow.views.iter().flatten().map(|view| view.site));
    let several_interfaces = sites.into_iter().any(|site| captures.has_several_interfaces(site));
    findings::find(&mut report, captures.origin, several_interfaces);
    report
}
