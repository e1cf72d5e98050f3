//! The large table: who looked at what.

use super::calendar::moment;
use super::dice::Dice;
use super::goods::{PRODUCTS, hundredths};
use super::people::{CUSTOMERS, TODAY};
use rusqlite::{Connection, Result};
use std::fmt::Write as _;

/// Pages that show no product.
const PAGES: [&str; 8] = ["/", "/cart", "/search", "/about", "/account", "/help", "/ideas/autumn", "/thé-et-café"];
/// Words people search for.
const SEARCHES: [&str; 6] = ["lamp", "blue bowl", "Wolldecke", "чайник", "椅子", "gift <20"];

/// So many page views, over the last year, in the order of time.
pub fn page_views(to: &Connection, count: u32) -> Result<()> {
    let mut dice = Dice::new(41);
    let mut insert = to.prepare("INSERT INTO page_views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let start = (TODAY - 364) * 86_400;
    let step = 364 * 86_400 / i64::from(count.max(1));
    let mut visitor = String::new();
    let mut path = String::new();
    for number in 0..count {
        let id = i64::from(number) + 1;
        let bits = dice.bits();
        visitor.clear();
        let _ = write!(visitor, "{:08x}", (bits >> 8) as u32 % 90_000 * 47_711);
        let product = (bits & 0xff < 170).then(|| dice.mostly_low(1, PRODUCTS));
        path.clear();
        match product {
            Some(product) => {
                let _ = write!(path, "/product/{product}");
            }
            None => {
                path.push_str(dice.pick(&PAGES));
                if path == "/search" {
                    let _ = write!(path, "?q={}", dice.pick(&SEARCHES));
                }
            }
        }
        insert.raw_bind_parameter(1, id)?;
        insert.raw_bind_parameter(2, moment(start + i64::from(number) * step + ((bits >> 40) & 15) as i64))?;
        insert.raw_bind_parameter(3, visitor.as_str())?;
        insert.raw_bind_parameter(4, (bits & 0x300 == 0).then(|| dice.mostly_low(1, CUSTOMERS)))?;
        insert.raw_bind_parameter(5, product)?;
        insert.raw_bind_parameter(6, path.as_str())?;
        insert.raw_bind_parameter(7, ["phone", "phone", "desktop", "tablet"].get((bits >> 60 & 7) as usize).copied())?;
        insert.raw_bind_parameter(8, dice.mostly_low(40, 180_000))?;
        insert.raw_bind_parameter(9, (bits & 0xc00 != 0).then(|| hundredths((bits >> 20 & 127).min(100) as i64)))?;
        insert.raw_execute()?;
    }
    Ok(())
}
