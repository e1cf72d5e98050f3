//! What the families measure and measure against: the release, a browser, a database, a bare driver.

pub mod bare_driver;
pub mod browser;
pub mod engine;
pub mod node_sqlite;
pub mod postgres;
pub mod psql;
pub mod sheaf;
