//! A host: interfaces, endpoint, applications, taps.
