//! What went wrong, as the one sentence that a person reads: it says what to do.

use std::fmt::Display;

/// A sentence for the person who typed the command.
#[derive(Debug)]
pub struct Failure(pub String);

/// What a step comes to.
pub type Outcome<T> = Result<T, Failure>;

/// Ends with a sentence of one's own.
pub fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Failure(message.into()))
}

/// Adds what was being tried to an error from below.
pub trait WhileTrying<T> {
    /// `what` completes "cannot …".
    fn while_trying(self, what: impl Display) -> Outcome<T>;
}

impl<T, E: Display> WhileTrying<T> for Result<T, E> {
    fn while_trying(self, what: impl Display) -> Outcome<T> {
        self.map_err(|error| Failure(format!("cannot {what}: {error}.")))
    }
}
