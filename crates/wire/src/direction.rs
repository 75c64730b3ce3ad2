use serde::{Deserialize, Serialize};

/// Where packets or data go between client and server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From client to server.
    #[default]
    Up,
    /// From server to client.
    Down,
}

impl Direction {
    /// Both, in order.
    pub const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];

    /// As in tables and scenarios.
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }

    /// The other one.
    pub const fn reverse(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
}
