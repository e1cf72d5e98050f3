//! What several statements came to: when they stop, and the sentences for it. Pure.

use super::words;
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::TransactionState;

/// Why a script does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A statement failed, and that is where it stops.
    AtError,
    /// It was stopped on request.
    Cancelled,
    /// The session is gone, and with it what the statements before had set up.
    SessionLost,
    /// The transaction takes nothing but its end.
    TransactionFailed,
    /// The server did not even run the statement.
    NotRun,
}

impl Stop {
    /// Whether a failed statement is the last one.
    pub fn after(problem: &Problem, cancelled: bool, past_errors: bool) -> Option<Self> {
        let lost = matches!(problem.code, ErrorCode::ConnectionLost | ErrorCode::ConnectFailed);
        match problem.code {
            _ if cancelled => Some(Self::Cancelled),
            _ if !past_errors => Some(Self::AtError),
            _ if lost => Some(Self::SessionLost),
            _ if problem.transaction == Some(TransactionState::Failed) => Some(Self::TransactionFailed),
            ErrorCode::Rejected | ErrorCode::TooLarge => None,
            _ => Some(Self::NotRun),
        }
    }

    /// Why, where the error itself does not say it.
    fn reason(self) -> Option<&'static str> {
        match self {
            Self::AtError | Self::Cancelled | Self::NotRun => None,
            Self::SessionLost => Some("the session was lost"),
            Self::TransactionFailed => Some("the transaction has failed, and takes nothing but Roll back"),
        }
    }
}

/// How far a script came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Statements it has.
    pub of: usize,
    /// Those that ended well.
    pub done: usize,
    /// Those that failed.
    pub failed: usize,
    /// Why it stopped, if it did.
    pub stop: Option<Stop>,
}

impl Score {
    /// Nothing ran yet.
    pub fn new(of: usize) -> Self {
        Self { of, done: 0, failed: 0, stop: None }
    }

    /// Every statement ended well.
    pub fn is_whole(&self) -> bool {
        self.done == self.of
    }

    /// The number of the statement it stands at, from 1.
    fn at(&self) -> usize {
        self.done + self.failed + usize::from(self.stop == Some(Stop::Cancelled))
    }

    /// For the status line.
    pub fn words(&self) -> String {
        match self.stop {
            Some(Stop::Cancelled) => format!("Cancelled at {} of {}", self.at(), self.of),
            Some(_) => format!("Failed at {} of {}", self.at(), self.of),
            None if self.failed > 0 => format!("{} of {} failed", self.failed, self.of),
            None => format!("{} statements", words::grouped(self.of as u64)),
        }
    }

    /// For the log.
    pub fn sentence(&self, elapsed_ms: f64) -> String {
        let elapsed = words::elapsed(elapsed_ms);
        if self.is_whole() {
            return format!("Script done: {} statements in {elapsed}", words::grouped(self.of as u64));
        }
        let mut counts = vec![format!("{} done", self.done)];
        counts.extend((self.failed > 0).then(|| format!("{} failed", self.failed)));
        let left = self.of.saturating_sub(self.at());
        counts.extend((left > 0).then(|| format!("{left} not run")));
        let counts = counts.join(", ");
        match self.stop {
            Some(stop) => {
                let why = stop.reason().map(|why| format!(" because {why}")).unwrap_or_default();
                format!("Script stopped at statement {} of {}{why}: {counts}, in {elapsed}", self.at(), self.of)
            }
            None => format!("Script done with errors: {counts}, in {elapsed}"),
        }
    }
}

/// `line 3, column 15` of a place in a text, both from 1; a column counts characters.
pub fn line_and_column(text: &str, place: usize) -> (usize, usize) {
    let head = text.get(..place).unwrap_or(text);
    let line = head.matches('\n').count() + 1;
    let column = head.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(code: ErrorCode, transaction: Option<TransactionState>) -> Problem {
        Problem { transaction, ..Problem::new(code, "no") }
    }

    #[test]
    fn a_script_stops_at_its_first_error_unless_told_otherwise() {
        let refused = problem(ErrorCode::Rejected, Some(TransactionState::None));
        assert_eq!(Stop::after(&refused, false, false), Some(Stop::AtError));
        assert_eq!(Stop::after(&refused, false, true), None);
        assert_eq!(Stop::after(&problem(ErrorCode::Rejected, Some(TransactionState::Open)), false, true), None);
        assert_eq!(Stop::after(&refused, true, true), Some(Stop::Cancelled));
    }

    #[test]
    fn what_makes_the_rest_pointless_stops_it_all_the_same() {
        let failed = problem(ErrorCode::Rejected, Some(TransactionState::Failed));
        assert_eq!(Stop::after(&failed, false, true), Some(Stop::TransactionFailed));
        assert_eq!(Stop::after(&problem(ErrorCode::ConnectionLost, None), false, true), Some(Stop::SessionLost));
        assert_eq!(Stop::after(&problem(ErrorCode::TooMany, None), false, true), Some(Stop::NotRun));
        assert_eq!(Stop::after(&problem(ErrorCode::Internal, None), false, true), Some(Stop::NotRun));
    }

    #[test]
    fn a_script_says_how_far_it_came() {
        let score = Score { of: 4, done: 2, failed: 1, stop: Some(Stop::AtError) };
        assert_eq!(score.words(), "Failed at 3 of 4");
        assert_eq!(score.sentence(12.0), "Script stopped at statement 3 of 4: 2 done, 1 failed, 1 not run, in 12 ms");
        let lost = Score { stop: Some(Stop::SessionLost), ..score };
        assert_eq!(
            lost.sentence(12.0),
            "Script stopped at statement 3 of 4 because the session was lost: 2 done, 1 failed, 1 not run, in 12 ms"
        );
        let cancelled = Score { of: 4, done: 2, failed: 0, stop: Some(Stop::Cancelled) };
        assert_eq!(cancelled.words(), "Cancelled at 3 of 4");
        assert_eq!(cancelled.sentence(12.0), "Script stopped at statement 3 of 4: 2 done, 1 not run, in 12 ms");
        let gone_on = Score { of: 4, done: 3, failed: 1, stop: None };
        assert_eq!(
            (gone_on.words(), gone_on.sentence(12.0)),
            ("1 of 4 failed".to_owned(), "Script done with errors: 3 done, 1 failed, in 12 ms".to_owned())
        );
        let whole = Score { of: 4, done: 4, failed: 0, stop: None };
        assert_eq!((whole.words(), whole.sentence(12.0)), ("4 statements".to_owned(), "Script done: 4 statements in 12 ms".to_owned()));
    }

    #[test]
    fn e07_a_place_has_a_line_and_a_column() {
        let text = "SELECT 1;\nSELECT 2;\nSELECT * FROM nope;\nSELECT 4;";
        assert_eq!(line_and_column(text, text.find("nope").unwrap()), (3, 15));
        assert_eq!(line_and_column("é nope", 3), (1, 3));
        assert_eq!(line_and_column("", 9), (1, 1));
    }
}
