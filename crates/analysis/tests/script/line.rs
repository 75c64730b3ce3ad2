//! A line of a script, taken apart.

use super::Host::{self, Client, Server};
use wire::Flags;

/// A line, taken apart.
#[derive(Debug)]
pub struct Line {
    /// Time at each host, if one is given: nanoseconds.
    pub times: [Option<i64>; 2],
    /// One time was given, for the host that captures.
    pub one_time: bool,
    pub from: Host,
    pub path: String,
    pub flags: Flags,
    pub seq: i64,
    pub ack: i64,
    pub len: u32,
    pub window: u16,
    pub options: Vec<(String, String)>,
    pub copies: Vec<(String, i64)>,
}

impl Line {
    pub fn parse(line: &str) -> Result<Line, String> {
        let mut rest = line;
        let mut word = || {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            rest = after.trim_start();
            if word.is_empty() { Err("too short".to_owned()) } else { Ok(word) }
        };
        let time = |text: &str| -> Result<Option<i64>, String> {
            match text {
                "-" => Ok(None),
                ms => Ok(Some((ms.parse::<f64>().map_err(|_| format!("time {ms}"))? * 1e6).round() as i64)),
            }
        };
        let (times, one_time) = match word()?.split_once('|') {
            Some((client, server)) => ([time(client)?, time(server)?], false),
            None => {
                let only = time(line.split_whitespace().next().expect("a word"))?;
                ([only, only], true)
            }
        };
        let from = match word()? {
            "client" => Client,
            "server" => Server,
            other => return Err(format!("{other} is neither client nor server")),
        };
        let path = word()?.to_owned();
        let mut flags = Flags::default();
        for letter in word()?.chars() {
            flags = flags.with(match letter {
                'S' => Flags::SYN,
                'A' => Flags::ACK,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                'E' => Flags::ECE,
                'C' => Flags::CWR,
                other => return Err(format!("flag {other}")),
            });
        }
        let mut number = || word()?.parse::<i64>().map_err(|error| error.to_string());
        let (seq, ack, len) = (number()?, number()?, number()?);
        let options = options(rest)?;
        let window = match options.iter().find(|(name, _)| name == "win") {
            Some((_, value)) => value.parse().map_err(|_| "window")?,
            None => 60_000,
        };
        let copies = options.iter().filter(|(name, _)| name == "copy").map(|(_, arguments)| {
            let (interface, ms) = arguments.split_once(' ').expect("copy(INTERFACE MS)");
            (interface.to_owned(), (ms.parse::<f64>().expect("a time") * 1e6) as i64)
        });
        let copies = copies.collect();
        Ok(Line { times, one_time, from, path, flags, seq, ack, len: len as u32, window, options, copies })
    }

    pub fn number(&self, option: &str) -> Option<u32> {
        let (_, value) = self.options.iter().find(|(name, _)| name == option)?;
        Some(value.parse().expect("a number"))
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }

    /// Where it was seen, and when.
    pub fn times(&self, captured_at: Host) -> Vec<(Host, i64)> {
        let hosts = [Client, Server].into_iter().filter(|host| !self.one_time || *host == captured_at);
        hosts.filter_map(|host| Some((host, self.times[host as usize]?))).collect()
    }
}

/// `name(arguments) name …`
fn options(mut rest: &str) -> Result<Vec<(String, String)>, String> {
    let mut options = Vec::new();
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let name_len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at(name_len);
        let (arguments, after) = match after.strip_prefix('(') {
            Some(inner) => inner.split_once(')').ok_or("an option that does not end")?,
            None => ("", after),
        };
        options.push((name.to_owned(), arguments.to_owned()));
        rest = after;
    }
    Ok(options)
}
