//! A process of its own for a database library that blocks, and may crash: the server's own binary under a hidden command, asked over a
//! socket.
//!
//! Invariant: nothing of such a library runs in the server; what its process does can end its own sessions and nothing else. On the
//! server's side start at [`session`], in the process at [`served`].

pub mod child;
pub mod desk;
pub mod frames;
pub mod jail;
pub mod messages;
pub mod process;
pub mod served;
pub mod session;
pub mod signals;
