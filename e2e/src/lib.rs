//! Black-box tests of Sheaf. This crate sees the binary and the wire, nothing inside.
