//! What the interface knows, in small owners.
//!
//! Invariant: no owner reads another's signals behind its back; pure logic stands in functions without `web_sys`, tested natively.

pub mod result;
