//! What stands around editor, grid and explorer: tabs, tool bar, messages, status line, dialogs.
//!
//! Invariant: knows neither editor, grid nor explorer.

pub mod close_dialog;
pub mod connection_dialog;
mod connection_fields;
pub mod connection_form;
mod connection_ways;
pub mod delete_dialog;
pub mod keys_dialog;
pub mod messages;
pub mod palette;
pub mod parameters_dialog;
pub mod result_head;
pub mod result_tabs;
pub mod sign_in;
pub mod status;
pub mod tabs;
pub mod ticking;
pub mod toolbar;
