//! x
pub mod advance;
pub mod columns;
pub mod extent;
pub mod fetch_plan;
pub mod geometry;
pub mod keys;
pub mod page_cache;
pub mod selection;
