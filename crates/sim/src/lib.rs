//! Virtual time: hosts joined by links.
