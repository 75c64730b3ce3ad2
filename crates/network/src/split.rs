use crate::network::{Network, Path};
use crate::routes::{Owner, Routes};
use crate::timeline::{Action, Timeline};

impl Network {
    /// A network for each link, with its paths and its part of the timeline. They share nothing. Links and paths have
    /// indices of their own in each, hosts keep theirs. Cross traffic is left to its hosts: it starts and stops unsaid.
    pub fn split(self) -> Vec<Network> {
        let Network { links, paths, routes, timeline, .. } = self;
        let mut members: Vec<(Vec<Path>, Routes, Timeline)> = links.iter().map(|_| Default::default()).collect();
        // By path: its link, and its index there.
        let mut moved = Vec::new();
        for path in paths {
            let own = &mut members[path.link].0;
            moved.push((path.link, own.len()));
            own.push(Path { link: 0, ..path });
        }
        for (address, owner) in routes.iter() {
            let mut add = |link: usize, owner| members[link].1.add(address, owner).expect("they were one");
            match owner {
                Owner::Server(_) => (0..links.len()).for_each(|link| add(link, owner)),
                Owner::Path(path) => add(moved[path].0, Owner::Path(moved[path].1)),
                Owner::Neighbour { host, link } => add(link, Owner::Neighbour { host, link: 0 }),
            }
        }
        for (at, action) in timeline.into_actions() {
            let (link, action) = match action {
                Action::Path(path, change) => (moved[path].0, Action::Path(moved[path].1, change)),
                Action::Heard(path, dbm) => (moved[path].0, Action::Heard(moved[path].1, dbm)),
                Action::Profile(link, new) => (link, Action::Profile(0, new)),
                Action::StartTransfer | Action::Start(_) | Action::Stop(_) => continue,
            };
            members[link].2.add(at, action);
        }
        let whole = links.into_iter().zip(members);
        whole.map(|(link, (paths, routes, timeline))| Network::new(vec![link], paths, routes, timeline)).collect()
    }
}
