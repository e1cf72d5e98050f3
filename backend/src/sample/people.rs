//! Countries, languages, employees, customers and where they live.

use super::calendar::{date, moment};
use super::dice::Dice;
use super::goods::WAREHOUSES;
use super::picture;
use super::words::{CITIES, COUNTRIES, LANGUAGES, STREETS, person};
use rusqlite::{Connection, Result, params};

/// Customers.
pub const CUSTOMERS: i64 = 5_000;
/// Employees.
pub const EMPLOYEES: i64 = 64;
/// 2021-01-01 in days.
pub const OPENED: i64 = 18_628;
/// 2025-12-31 in days.
pub const TODAY: i64 = 20_453;

/// Countries and languages.
pub fn lands(to: &Connection) -> Result<()> {
    let mut insert = to.prepare("INSERT INTO countries VALUES (?, ?, ?, ?, ?)")?;
    for (code, name, local, currency, vat) in COUNTRIES {
        insert.execute(params![code, name, local, currency, vat])?;
    }
    let mut insert = to.prepare("INSERT INTO languages VALUES (?, ?, ?, ?, ?)")?;
    for language in &LANGUAGES {
        let right_to_left = matches!(language.script, "Arabic" | "Hebrew");
        insert.execute(params![language.code, language.name, language.own_name, language.script, right_to_left])?;
    }
    Ok(())
}

/// Employees; each has a manager of a smaller number, the first has none.
pub fn employees(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(11);
    let mut insert = to.prepare("INSERT INTO employees VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for id in 1..=EMPLOYEES {
        let manager = (id > 1).then(|| (id / 5).max(1));
        let title = match id {
            1 => "Founder",
            2..=5 => "Head of house",
            _ => dice.pick(&["Picker", "Packer", "Clerk", "Buyer", "Driver", "Bookkeeper"]),
        };
        let hired = dice.between(OPENED, TODAY - 60);
        let left = dice.percent(12).then(|| date(dice.between(hired, TODAY)));
        let warehouse = dice.percent(85).then(|| dice.between(1, WAREHOUSES));
        let salary = dice.between(2_200, 6_400) * 1_000 / id.min(5) + 150_000;
        let badge = dice.percent(80).then(|| picture::png(&mut dice));
        insert.execute(params![id, manager, warehouse, person(&mut dice), title, date(hired), left, salary, badge])?;
    }
    Ok(())
}

/// Customers and their addresses. Address numbers below `CUSTOMERS` belong to the customer of the same number.
pub fn customers(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(12);
    let mut insert = to.prepare("INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for id in 1..=CUSTOMERS {
        let email = format!(
            "{}{id}@{}.example",
            dice.pick(&["hello", "post", "me", "mail", "kim", "lo"]),
            dice.pick(&["moor", "fen", "hill", "brook"])
        );
        let (country, ..) = countries(&mut dice);
        let language = dice.percent(90).then(|| language(&mut dice));
        let born = dice.percent(70).then(|| date(dice.between(-12_000, 13_500)));
        let joined = moment(dice.between(OPENED, TODAY) * 86_400 + dice.between(0, 86_399));
        let credit = dice.percent(20).then(|| dice.between(1, 50) * 10_000);
        let preferences = dice.percent(60).then(|| preferences(&mut dice));
        let name = person(&mut dice);
        insert.execute(params![id, email, name, country, language, born, joined, dice.percent(35), credit, preferences])?;
    }
    let mut insert = to.prepare("INSERT INTO addresses VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    for id in 1..=CUSTOMERS * 7 / 5 {
        let (customer, kind) = if id <= CUSTOMERS { (id, "home") } else { (dice.between(1, CUSTOMERS), dice.pick(&["work", "other"])) };
        let street = format!("{} {}", dice.pick(&STREETS), dice.between(1, 180));
        let postcode = dice.percent(95).then(|| format!("{:05}", dice.between(400, 99_999)));
        let (country, ..) = countries(&mut dice);
        insert.execute(params![id, customer, kind, street, postcode, dice.pick(&CITIES), country])?;
    }
    Ok(())
}

fn countries(dice: &mut Dice) -> (&'static str, usize) {
    let last = i64::try_from(COUNTRIES.len()).unwrap_or(1) - 1;
    let at = usize::try_from(dice.mostly_low(0, last)).unwrap_or(0);
    (COUNTRIES.get(at).map_or("AV", |(code, ..)| code), at)
}

fn language(dice: &mut Dice) -> &'static str {
    let last = i64::try_from(LANGUAGES.len()).unwrap_or(1) - 1;
    let at = usize::try_from(dice.mostly_low(0, last)).unwrap_or(0);
    LANGUAGES.get(at).map_or("en", |language| language.code)
}

fn preferences(dice: &mut Dice) -> String {
    let theme = dice.pick(&["light", "dark", "auto"]);
    let wishes: Vec<String> = (0..dice.between(0, 4)).map(|_| dice.between(1, super::goods::PRODUCTS).to_string()).collect();
    format!(r#"{{"theme":"{theme}","wishes":[{}],"gift_wrap":{}}}"#, wishes.join(","), dice.percent(30))
}
