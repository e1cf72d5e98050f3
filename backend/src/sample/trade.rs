//! Orders, what is in them, how they were paid, what was thought of it.

use super::calendar::moment;
use super::dice::Dice;
use super::goods::PRODUCTS;
use super::people::{CUSTOMERS, EMPLOYEES, OPENED, TODAY};
use super::words::OPINIONS;
use rusqlite::{Connection, Result, params};

/// Orders.
const ORDERS: i64 = 20_000;
/// Reviews.
const REVIEWS: i64 = 6_000;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// Orders with lines and payments, in the order of time.
pub fn orders(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(31);
    let prices = prices(to)?;
    let mut order = to.prepare("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut line = to.prepare("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?, ?)")?;
    let mut payment = to.prepare("INSERT INTO payments (order_id, method, amount_cents, paid_at, reference) VALUES (?, ?, ?, ?, ?)")?;
    let (first, last) = (OPENED * DAY, TODAY * DAY);
    for id in 1..=ORDERS {
        let at = first + (last - first) / ORDERS * id + dice.between(0, 7_000);
        let customer = dice.mostly_low(1, CUSTOMERS);
        let employee = dice.percent(70).then(|| dice.between(1, EMPLOYEES));
        let status = if last - at < 10 * DAY {
            dice.pick(&["new", "paid", "shipped"])
        } else {
            dice.pick(&["delivered", "delivered", "delivered", "delivered", "shipped", "returned", "cancelled"])
        };
        let shipped = matches!(status, "shipped" | "delivered" | "returned").then(|| moment(at + dice.between(1, 6 * 24) * 3_600));
        let note = dice
            .percent(8)
            .then(|| dice.pick(&["Ring twice.", "Gift 🎁, no invoice please", "Bitte beim Nachbarn abgeben", "اتصل قبل التسليم"]));
        // The address of the same number is the customer's home.
        order.execute(params![id, customer, customer, employee, status, moment(at), shipped, note])?;
        let mut total = 0;
        for number in 1..=dice.mostly_low(1, 7) {
            let product = dice.mostly_low(1, PRODUCTS);
            let price = usize::try_from(product - 1).ok().and_then(|at| prices.get(at)).copied().unwrap_or(100);
            let quantity = dice.mostly_low(1, 6);
            let discount = if dice.percent(15) { dice.pick(&[5_i32, 10, 20]) } else { 0 };
            line.execute(params![id, number, product, quantity, price, f64::from(discount)])?;
            // As the view order_totals counts: each line rounded half up.
            total += (quantity * price * i64::from(100 - discount) + 50) / 100;
        }
        if !matches!(status, "new" | "cancelled") {
            pay(&mut payment, &mut dice, id, total, at)?;
        }
    }
    Ok(())
}

/// One payment, or a voucher and the rest.
fn pay(insert: &mut rusqlite::Statement<'_>, dice: &mut Dice, order: i64, total: i64, ordered: i64) -> Result<()> {
    let at = moment(ordered + dice.between(20, 2 * DAY));
    let voucher = if dice.percent(6) && total > 1_000 { 1_000 } else { 0 };
    if voucher > 0 {
        insert.execute(params![order, "voucher", voucher, at, None::<String>])?;
    }
    let method = dice.pick(&["card", "card", "card", "transfer", "cash"]);
    let reference = (method != "cash").then(|| format!("{:012x}", dice.bits() >> 16));
    insert.execute(params![order, method, total - voucher, at, reference])?;
    Ok(())
}

fn prices(from: &Connection) -> Result<Vec<i64>> {
    let mut select = from.prepare("SELECT price_cents FROM products ORDER BY id")?;
    select.query_map([], |row| row.get(0))?.collect()
}

/// Reviews.
pub fn reviews(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(32);
    let mut insert = to.prepare("INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?)")?;
    for id in 1..=REVIEWS {
        let rating = 6 - dice.mostly_low(1, 5);
        let body = usize::try_from(rating - 1).ok().and_then(|at| OPINIONS.get(at)).map(|said| dice.pick(said));
        let body = if dice.percent(80) { body } else { None };
        let at = moment((OPENED + 30) * DAY + (TODAY - OPENED - 40) * DAY / REVIEWS * id + dice.between(0, 40_000));
        insert.execute(params![id, dice.mostly_low(1, PRODUCTS), dice.mostly_low(1, CUSTOMERS), rating, body, at])?;
    }
    Ok(())
}
