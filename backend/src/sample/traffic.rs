//! The large table: who looked at what.

use super::calendar::Moments;
use super::dice::Dice;
use super::goods::{PRODUCTS, hundredths};
use super::people::{CUSTOMERS, TODAY};
use rusqlite::{Connection, Result};

/// Pages that show no product.
const PAGES: [&str; 8] = ["/", "/cart", "/search", "/about", "/account", "/help", "/ideas/autumn", "/thé-et-café"];
/// What they are looked at with; often it is not known.
const DEVICES: [&str; 5] = ["phone", "phone", "phone", "desktop", "tablet"];
/// Words people search for.
const SEARCHES: [&str; 6] = ["lamp", "blue bowl", "Wolldecke", "чайник", "椅子", "gift <20"];

/// Visitors, by numbers that look like chance.
const VISITORS: u64 = 90_000;

/// So many page views, over the last year, in the order of time. A million of them are most of the work of a first start, so what
/// repeats is written out beforehand.
pub fn page_views(to: &Connection, count: u32) -> Result<()> {
    let mut dice = Dice::new(41);
    let mut insert = to.prepare("INSERT INTO page_views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let visitors: Vec<String> = (0..VISITORS).map(|number| format!("{:08x}", number * 47_711)).collect();
    let products: Vec<String> = (1..=PRODUCTS).map(|id| format!("/product/{id}")).collect();
    let searches: Vec<String> = SEARCHES.iter().map(|word| format!("/search?q={word}")).collect();
    let start = (TODAY - 364) * 86_400;
    let step = 364 * 86_400 / i64::from(count.max(1));
    let mut moments = Moments::default();
    for number in 0..i64::from(count) {
        let mut bits = Bits(dice.bits());
        let visitor = at(&visitors, dice.between(0, 89_999));
        let product = (bits.take(8) < 170).then(|| dice.mostly_low(1, PRODUCTS));
        let path = match product {
            Some(product) => at(&products, product - 1),
            None => match at(&PAGES, bits.take(3)) {
                "/search" => at(&searches, dice.between(0, 5)),
                page => page,
            },
        };
        insert.raw_bind_parameter(1, number + 1)?;
        insert.raw_bind_parameter(2, moments.write(start + number * step + bits.take(4)))?;
        insert.raw_bind_parameter(3, visitor)?;
        insert.raw_bind_parameter(4, (bits.take(3) == 0).then(|| dice.mostly_low(1, CUSTOMERS)))?;
        insert.raw_bind_parameter(5, product)?;
        insert.raw_bind_parameter(6, path)?;
        insert.raw_bind_parameter(7, DEVICES.get(usize::try_from(bits.take(3)).unwrap_or(0)).copied())?;
        insert.raw_bind_parameter(8, dice.mostly_low(40, 180_000))?;
        insert.raw_bind_parameter(9, (bits.take(2) != 0).then(|| hundredths(bits.take(7).min(100))))?;
        insert.raw_execute()?;
    }
    Ok(())
}

fn at<T: AsRef<str>>(from: &[T], index: i64) -> &str {
    usize::try_from(index).ok().and_then(|index| from.get(index)).map_or("", AsRef::as_ref)
}

/// Chance that is used up bit by bit.
struct Bits(u64);

impl Bits {
    /// A number of so many bits.
    fn take(&mut self, count: u32) -> i64 {
        let taken = self.0 & ((1 << count) - 1);
        self.0 >>= count;
        i64::try_from(taken).unwrap_or(0)
    }
}
