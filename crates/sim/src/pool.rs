use wire::Packet;

/// Boxes of packets that ended, for those to come: in the long run nothing is allocated for a packet.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    // Boxes are what is kept: packets travel in them.
    #[allow(clippy::vec_box)]
    free: Vec<Box<Packet>>,
}

impl Pool {
    pub fn take(&mut self) -> Box<Packet> {
        self.free.pop().unwrap_or_else(|| Box::new(host::blank()))
    }

    pub fn give(&mut self, packet: Box<Packet>) {
        self.free.push(packet);
    }
}
