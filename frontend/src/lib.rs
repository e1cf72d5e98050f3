//! The browser side of Sheaf.
