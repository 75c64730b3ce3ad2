//! How a column is shown to people, where it is a metric: a number that runs or subflows are compared by.

/// A metric, declared beside its column. Its unit and what it means are the column's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Position among the others where several are listed; those of runs and those of subflows are never listed together.
    pub order: u32,
    /// What is measured: `RTT`. The statistic is the ending of the column's name (`rtt_ms_p95`).
    pub name: &'static str,
    /// The same where there is little room: at the head of a table's column. Empty where the unit says it.
    pub brief: &'static str,
    /// Which values are the better ones.
    pub better: Better,
    /// Whether its values spread over decades, so that its axis may be logarithmic.
    pub logarithmic: bool,
    /// Whether it is a part of a whole, from 0 to 1, and shown in percent.
    pub part: bool,
    /// Column with the number of samples behind it; empty where there is none.
    pub samples: &'static str,
    /// How it is pooled over the flows of a transfer: the sum of the first column over the sum of the second. Such a metric is one of runs,
    /// too. None where it is one of its table's rows alone.
    pub pooled: Option<(&'static str, &'static str)>,
    /// Where it is shown. Frames of campaigns have every metric of a run, and figures for papers take any of them.
    pub shown: &'static [View],
}

/// Which values are the better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Higher ones.
    More,
    /// Lower ones.
    Less,
    /// It describes, and is neither good nor bad.
    Neither,
}

/// Where metrics are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The summary of an analysis on the terminal, by name and value: after what was transferred, or as a column of the subflows.
    Line,
    /// The table with a line per run on the terminal.
    Runs,
    /// The tables of a run's page.
    Page,
    /// Two runs side by side on the terminal.
    Compare,
    /// The document of a comparison.
    Document,
    /// Runs of several seeds side by side, with a test for each.
    Seeds,
    /// The page of a campaign.
    Campaign,
    /// The summary of a campaign.
    Overview,
}

impl Metric {
    /// A metric that is shown everywhere.
    pub const fn new(order: u32, name: &'static str, better: Better) -> Metric {
        let shown = {
            use View::*;
            &[Line, Runs, Page, Compare, Document, Seeds, Campaign, Overview]
        };
        Metric { order, name, brief: name, better, logarithmic: false, part: false, samples: "", pooled: None, shown }
    }

    /// Gives it a shorter name.
    pub const fn brief(self, brief: &'static str) -> Metric {
        Metric { brief, ..self }
    }

    /// Lets its axis be logarithmic.
    pub const fn logarithmic(self) -> Metric {
        Metric { logarithmic: true, ..self }
    }

    /// Says that it is a part of a whole.
    pub const fn part(self) -> Metric {
        Metric { part: true, ..self }
    }

    /// Names the column with the number of its samples.
    pub const fn of(self, samples: &'static str) -> Metric {
        Metric { samples, ..self }
    }

    /// Makes it a metric of runs, too: over the flows of a transfer it is the sum of `part` over the sum of `whole`.
    pub const fn pooled(self, part: &'static str, whole: &'static str) -> Metric {
        Metric { pooled: Some((part, whole)), ..self }
    }

    /// Shows it everywhere but in the summary of an analysis, which has a line of its own for it.
    pub const fn outside_analysis(self) -> Metric {
        use View::*;
        self.only(&[Runs, Page, Compare, Document, Seeds, Campaign, Overview])
    }

    /// Shows it in some views only.
    pub const fn only(self, shown: &'static [View]) -> Metric {
        Metric { shown, ..self }
    }
}
