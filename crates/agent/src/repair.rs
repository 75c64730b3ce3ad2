//! Repairs routes: what comes from the address of a path goes over its own interface, by a table and a rule for each, made when the address comes and
//! removed when it goes. Without, a subflow from a second address leaves by the default route of the first, where it is dropped as a stranger's.
//! What is in a table is what the host's own table has over the interface: who configures it, be it by DHCP or router advertisements, goes on to do so.

use crate::kernel::Address;
use crate::netlink::Hearing;
use crate::routes::{MAIN, OURS, Route, Routes, Rule, Which};
use std::collections::HashSet;
use std::io::{Error, Result};
use wire::Time;

/// Tables are this and the interface's index; rules have it as their priority: before the host's own table (32766), after what people give small numbers.
const BASE: u32 = 11_300;
const ROUTE: isize = 0;
/// RTNLGRP_IPV4_IFADDR, _IPV4_ROUTE, _IPV4_RULE, _IPV6_IFADDR, _IPV6_ROUTE, _IPV6_RULE
const GROUPS: [u32; 6] = [5, 7, 8, 9, 11, 19];
/// What changes, changes again at once: so long is waited.
const SETTLES_NS: i64 = 100_000_000;
/// What no event reported is looked for as often.
const LOOK_NS: i64 = 2_000_000_000;
/// For how long the kernel may refuse to say what there is.
const FAILING_NS: i64 = 5_000_000_000;

/// What there should be, and what cannot.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    routes: Vec<Route>,
    rules: Vec<Rule>,
    notes: Vec<String>,
}

/// What could not be done, and why.
type Refused = (String, Error);

/// Keeps routes and rules of the paths.
pub struct Repair {
    routes: Routes,
    events: Hearing,
    observes: bool,
    due: Time,
    /// Since when the kernel has not said what there is.
    silent: Option<Time>,
    /// Since when it refuses something.
    refusing: Option<Time>,
    noted: HashSet<String>,
}

impl Repair {
    /// Nothing is made yet; or never, if it only `observes`.
    ///
    /// # Errors
    /// Netlink cannot be used.
    pub fn new(observes: bool) -> Result<Repair> {
        let (routes, events) = (Routes::new()?, Hearing::new(ROUTE, &GROUPS)?);
        Ok(Repair {
            routes,
            events,
            observes,
            due: Time::default(),
            silent: None,
            refusing: None,
            noted: HashSet::new(),
        })
    }

    /// Makes what is missing for these addresses and removes what is no longer wanted; gives what is new to tell.
    ///
    /// An interface that comes or goes has many an error: it is gone or down, its gateway cannot be reached yet, IPv6 is off. What is refused is
    /// tried again, at first without a word.
    ///
    /// # Errors
    /// The kernel has not said for long what there is.
    pub fn step(&mut self, now: Time, addresses: &[Address]) -> Result<Vec<String>> {
        if self.events.heard() {
            self.due = self.due.min(now + SETTLES_NS);
        }
        if now < self.due {
            return Ok(Vec::new());
        }
        let (mut notes, refused) = match self.repaired(addresses) {
            Ok(done) => {
                self.silent = None;
                done
            }
            Err(error) => {
                self.due = now + SETTLES_NS;
                let since = *self.silent.get_or_insert(now);
                return if now - since < FAILING_NS { Ok(Vec::new()) } else { Err(error) };
            }
        };
        let since = if refused.is_empty() { None } else { Some(self.refusing.unwrap_or(now)) };
        self.refusing = since;
        if since.is_some_and(|since| now - since < LOOK_NS) {
            self.due = now + SETTLES_NS;
        } else {
            self.due = now + LOOK_NS;
            notes.extend(refused.iter().map(|(what, error)| format!("{what}, and will be tried again: {error}")));
        }
        // What is over may be reported again.
        self.noted.retain(|note| notes.contains(note));
        notes.retain(|note| self.noted.insert(note.clone()));
        Ok(notes)
    }

    /// Gives what to tell, and what was refused.
    fn repaired(&mut self, addresses: &[Address]) -> Result<(Vec<String>, Vec<Refused>)> {
        let (routes, rules) = (self.present(addresses)?, self.routes.rules()?);
        let Plan { routes: wanted, rules: mut chosen, mut notes } = plan(addresses, &routes, &rules);
        let mut refused = Vec::new();
        if !self.observes {
            refused = self.remove(&routes, &rules, &wanted, &chosen);
            for route in wanted.iter().filter(|one| !routes.contains(one)) {
                if let Err(error) = self.routes.add_route(route) {
                    refused.push((format!("table {} cannot be made", route.table), error));
                    // Half a table is worse than none.
                    chosen.retain(|rule| rule.table != route.table || rule.from.is_ipv4() != route.is_ipv4);
                }
            }
            if !refused.is_empty() {
                refused.extend(self.remove(&[], &rules, &[], &chosen));
            }
            chosen.retain(|rule| {
                let made = if rules.contains(rule) { Ok(()) } else { self.routes.add_rule(rule) };
                made.map_err(|error| refused.push((format!("the rule for {} cannot be made", rule.from), error)))
                    .is_ok()
            });
        }
        notes.extend(chosen.iter().map(|rule| {
            let Rule { from, table, priority, .. } = rule;
            let goes = if self.observes && !rules.contains(rule) { "would go" } else { "goes" };
            format!("what comes from {from} {goes} by table {table} (rule {priority})")
        }));
        Ok((notes, refused))
    }

    /// Removes all that is ours, also what an earlier guard left that was killed.
    ///
    /// # Errors
    /// Some of it is still there.
    pub fn end(&mut self) -> Result<()> {
        if self.observes {
            return Ok(());
        }
        let (routes, rules) = (self.present(&[])?, self.routes.rules()?);
        self.remove(&routes, &rules, &[], &[])
            .pop()
            .map_or(Ok(()), |(what, error)| Err(Error::new(error.kind(), format!("{what}: {error}"))))
    }

    /// Routes that are ours, and those that it takes to keep them for these addresses.
    fn present(&mut self, addresses: &[Address]) -> Result<Vec<Route>> {
        let mut routes = self.routes.routes(Which { protocol: Some(OURS), ..Which::default() })?;
        let interfaces: HashSet<u32> = addresses.iter().map(|one| one.index).collect();
        for index in interfaces {
            let main = Which { table: Some(MAIN), interface: Some(index), protocol: None };
            let own = Which { table: Some(table_of(index)), ..Which::default() };
            for which in [main, own] {
                routes.extend(self.routes.routes(which)?.into_iter().filter(|route| route.protocol != OURS));
            }
        }
        Ok(routes)
    }

    /// Removes what is ours beside what is wanted: rules first, or they would lead nowhere for a moment. Gives what was refused.
    fn remove(&mut self, routes: &[Route], rules: &[Rule], wanted: &[Route], chosen: &[Rule]) -> Vec<Refused> {
        let mut refused = Vec::new();
        for rule in rules.iter().filter(|one| one.protocol == OURS && !chosen.contains(one)) {
            if let Err(error) = self.routes.delete_rule(rule) {
                refused.push((format!("the rule for {} cannot be removed", rule.from), error));
            }
        }
        for route in routes.iter().filter(|one| one.protocol == OURS && !wanted.contains(one)) {
            if let Err(error) = self.routes.delete_route(route) {
                refused.push((format!("a route of table {} cannot be removed", route.table), error));
            }
        }
        refused
    }
}

/// The table of what comes over an interface.
fn table_of(index: u32) -> u32 {
    BASE.saturating_add(index)
}

/// What there should be for these addresses on a host that has these.
fn plan(addresses: &[Address], routes: &[Route], rules: &[Rule]) -> Plan {
    let mut plan = Plan::default();
    for Address { address, index, interface, .. } in addresses {
        let table = table_of(*index);
        if let Some(other) = rules.iter().find(|rule| rule.from == *address && rule.protocol != OURS) {
            let Rule { table, priority, .. } = other;
            plan.notes
                .push(format!("{address} has a rule that is not ours (table {table}, rule {priority}): it stays"));
            continue;
        }
        let is_foreign = |route: &&Route| route.table == table && route.protocol != OURS;
        if routes.iter().any(|route| is_foreign(&route))
            || rules.iter().any(|rule| rule.table == table && rule.protocol != OURS)
        {
            plan.notes.push(format!("table {table} is in use by others: no routes for {address}"));
            continue;
        }
        let mut own: Vec<_> = routes
            .iter()
            .filter(|route| route.table == MAIN && route.interface == *index && route.is_ipv4 == address.is_ipv4())
            .map(|route| Route { table, protocol: OURS, source: None, ..route.clone() })
            .collect();
        if !own.iter().any(|route| route.bits == 0) {
            plan.notes.push(format!("{interface} has no default route yet: no routes for {address}"));
            continue;
        }
        // A gateway has to be known as a neighbour before it can be one.
        own.sort_by_key(|route| std::cmp::Reverse(route.bits));
        own.retain(|route| !plan.routes.contains(route));
        plan.routes.extend(own);
        plan.rules.push(Rule { from: *address, table, priority: BASE, protocol: OURS });
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str, index: u32) -> Address {
        Address { address: text.parse().unwrap(), index, interface: format!("if{index}"), is_running: true }
    }

    fn route(bits: u8, gateway: Option<&str>, interface: u32) -> Route {
        Route {
            table: MAIN,
            protocol: 16,
            destination: (bits > 0).then(|| "10.0.1.0".parse().unwrap()),
            bits,
            scope: 0,
            gateway: gateway.map(|text| text.parse().unwrap()),
            interface,
            source: None,
            metric: 600,
            flags: 0,
            is_ipv4: true,
        }
    }

    fn rule(from: &str, table: u32, protocol: u8) -> Rule {
        Rule { from: from.parse().unwrap(), table, priority: BASE, protocol }
    }

    #[test]
    fn each_address_gets_what_the_host_has_over_its_interface() {
        let routes = [route(0, Some("10.0.1.1"), 3), route(24, None, 3), route(0, Some("10.0.2.1"), 4)];
        let made = plan(&[address("10.0.1.2", 3), address("10.0.1.3", 3)], &routes, &[]);
        let found: Vec<_> = made.routes.iter().map(|one| (one.table, one.bits, one.interface, one.protocol)).collect();
        assert_eq!(found, [(BASE + 3, 24, 3, OURS), (BASE + 3, 0, 3, OURS)]);
        assert_eq!(made.rules, [rule("10.0.1.2", BASE + 3, OURS), rule("10.0.1.3", BASE + 3, OURS)]);
        assert!(made.notes.is_empty());
        // The same once it is made.
        let all = [&routes[..], &made.routes[..]].concat();
        assert_eq!(plan(&[address("10.0.1.2", 3), address("10.0.1.3", 3)], &all, &made.rules), made);
    }

    #[test]
    fn what_others_made_is_not_overruled() {
        let routes = [route(0, Some("10.0.1.1"), 3)];
        let of_others = plan(&[address("10.0.1.2", 3)], &routes, &[rule("10.0.1.2", 1, 0)]);
        assert!(of_others.rules.is_empty() && of_others.notes[0].contains("is not ours"), "{of_others:?}");
        let used = [routes[0].clone(), Route { table: BASE + 3, ..routes[0].clone() }];
        let of_others = plan(&[address("10.0.1.2", 3)], &used, &[]);
        assert!(of_others.rules.is_empty() && of_others.notes[0].contains("in use"), "{of_others:?}");
        let of_nobody = plan(&[address("10.0.1.2", 3)], &[route(24, None, 3)], &[]);
        assert!(of_nobody.rules.is_empty() && of_nobody.notes[0].contains("no default route"), "{of_nobody:?}");
    }
}
