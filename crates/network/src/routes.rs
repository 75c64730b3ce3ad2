//! Owners of addresses.

use scenario::Error;
use std::net::IpAddr;

/// The owner of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A host behind the router.
    Server(usize),
    /// A path of the client.
    Path(usize),
    /// A host at the client's end of a link.
    Neighbour {
        /// Its index.
        host: usize,
        /// Index of the link.
        link: usize,
    },
}

/// Addresses and who has them.
#[derive(Clone, Debug, Default)]
pub struct Routes(Vec<(IpAddr, Owner)>);

impl Routes {
    /// Adds an address, and the public one that it has behind a NAT64.
    ///
    /// # Errors
    /// When another has it.
    pub fn add(&mut self, address: IpAddr, owner: Owner) -> Result<(), Error> {
        if let Some(public) = link::behind_nat64(address) {
            self.add(public, owner)?;
        }
        match self.find(address) {
            Some(other) if other != owner => Err(Error::fault("addresses", format!("{address} is given twice"))),
            Some(_) => Ok(()),
            None => {
                self.0.push((address, owner));
                Ok(())
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (IpAddr, Owner)> {
        self.0.iter().copied()
    }

    /// Index of the path that has the address, if one has it.
    pub fn path(&self, address: IpAddr) -> Option<usize> {
        match self.find(address) {
            Some(Owner::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// The owner of the address, if there is one. There are few: looking through them is quicker than hashing.
    #[inline]
    pub fn find(&self, address: IpAddr) -> Option<Owner> {
        self.0.iter().find(|(known, _)| *known == address).map(|(_, owner)| *owner)
    }
}
