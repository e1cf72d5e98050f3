//! A command is a list of steps; each shows its number, its name and how long it took.

use crate::failure::Outcome;
use crate::place::Place;
use std::time::{Duration, Instant};

type Work<'a> = Box<dyn FnOnce(&Place) -> Outcome<()> + 'a>;

/// One thing to do.
pub struct Step<'a> {
    title: &'static str,
    run: Work<'a>,
}

impl<'a> Step<'a> {
    /// A step that shows as `title`.
    pub fn new(title: &'static str, run: impl FnOnce(&Place) -> Outcome<()> + 'a) -> Self {
        Self { title, run: Box::new(run) }
    }
}

/// Does them in order, up to the first that fails. Progress goes to stderr.
pub fn perform(place: &Place, steps: Vec<Step<'_>>) -> Outcome<()> {
    let begun = Instant::now();
    let total = steps.len();
    for (index, step) in steps.into_iter().enumerate() {
        let number = index + 1;
        let step_begun = Instant::now();
        eprintln!("[{number}/{total}] {} …", step.title);
        (step.run)(place)?;
        eprintln!("[{number}/{total}] {}: done in {} (total {})", step.title, shown(step_begun.elapsed()), shown(begun.elapsed()));
    }
    Ok(())
}

fn shown(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 60 { format!("{:.1} s", elapsed.as_secs_f64()) } else { format!("{} min {:02} s", seconds / 60, seconds % 60) }
}
