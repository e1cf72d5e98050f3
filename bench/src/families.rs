//! The families, one file each, one line in [`FAMILIES`] each.

mod cancel;
mod catalog;
mod first_page;
mod grid_scroll;
mod parallel;
mod rows;
mod size;
mod start;

use crate::record::Record;
use crate::{BenchError, Study};
use std::future::Future;
use std::pin::Pin;

/// A measurement under way.
pub type Measuring<'a> = Pin<Box<dyn Future<Output = Result<(), BenchError>> + 'a>>;

/// One family of measurements.
pub struct Family {
    /// What a person types.
    pub name: &'static str,
    /// Which budgets of the performance page it measures.
    pub budget_ids: &'static str,
    /// What is to be reached.
    pub budget: &'static str,
    /// What is inside the measured time, and what is not.
    pub boundary: &'static str,
    /// Does it.
    pub measure: for<'a> fn(&'a Study, &'a mut Record) -> Measuring<'a>,
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    first_page::FAMILY,
    cancel::FAMILY,
    grid_scroll::FAMILY,
    rows::FAMILY,
    parallel::FAMILY,
    catalog::FAMILY,
    start::FAMILY,
    size::FAMILY,
];

/// The named families, or all.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Family>, BenchError> {
    if names.is_empty() {
        return Ok(FAMILIES.iter().collect());
    }
    names.iter().map(|name| FAMILIES.iter().find(|f| f.name == name).ok_or_else(|| unknown(name))).collect()
}

fn unknown(name: &str) -> BenchError {
    let all: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
    BenchError::NoSuchFamily(name.to_owned(), all.join(", "))
}
