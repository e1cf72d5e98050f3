//! Suppliers, categories, products with their translations and pictures, warehouses and what lies in them, settings.

use super::calendar::date;
use super::dice::Dice;
use super::people::{OPENED, TODAY};
use super::picture;
use super::words::{CATEGORIES, COUNTRIES, LANGUAGES, Of, SERIES, THINGS, company};
use rusqlite::{Connection, Result, params};

/// Products: every thing of every material of every series.
pub const PRODUCTS: i64 = 34 * 14;
/// Suppliers.
const SUPPLIERS: i64 = 36;
/// Warehouses.
pub const WAREHOUSES: i64 = 6;

/// Suppliers and categories.
pub fn sources(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(21);
    let mut insert = to.prepare("INSERT INTO suppliers VALUES (?, ?, ?, ?, ?, ?)")?;
    for id in 1..=SUPPLIERS {
        let country = COUNTRIES.get(usize::try_from(id).unwrap_or(0) % COUNTRIES.len()).map_or("AV", |(code, ..)| code);
        let contact = dice.percent(80).then(|| {
            format!(
                r#"{{"phone":"+00 {} {}","desk":{{"open":"08:30","days":["mon","tue","thu"]}}}}"#,
                dice.between(100, 999),
                dice.between(10_000, 99_999)
            )
        });
        let rating = dice.percent(90).then(|| hundredths(dice.between(180, 500)));
        // The number keeps the name unique.
        let name = format!("{} {}", company(&mut dice), roman(id));
        insert.execute(params![id, name, country, contact, date(OPENED - dice.between(0, 3_000)), rating])?;
    }
    let mut insert = to.prepare("INSERT INTO categories VALUES (?, ?, ?, ?)")?;
    let mut id = 0;
    for (parent, children) in CATEGORIES {
        id += 1;
        let parent_id = id;
        insert.execute(params![id, None::<i64>, parent, slug(parent)])?;
        for child in children {
            id += 1;
            insert.execute(params![id, parent_id, child, slug(child)])?;
        }
    }
    Ok(())
}

/// Products and their translations.
pub fn products(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(22);
    let mut product = to.prepare(
        "INSERT INTO products (id, sku, name, category_id, supplier_id, price_cents, weight_grams, attributes, picture, added_on, discontinued_on)
         SELECT ?, ?, ?, id, ?, ?, ?, ?, ?, ?, ? FROM categories WHERE name = ?",
    )?;
    let mut translation = to.prepare("INSERT INTO product_translations VALUES (?, ?, ?, ?)")?;
    let mut id = 0_i64;
    for series in SERIES {
        for (thing, (_, category, materials)) in THINGS.iter().enumerate() {
            for of in *materials {
                id += 1;
                let english = LANGUAGES.first().map(|language| language.say(thing, *of)).unwrap_or_default();
                let price = dice.mostly_low(490, 48_000) / 10 * 10 + 9;
                let added = dice.between(OPENED, TODAY - 100);
                let gone = dice.percent(8).then(|| date(dice.between(added, TODAY)));
                let weight = dice.percent(94).then(|| dice.mostly_low(60, 9_000));
                let picture = dice.percent(90).then(|| picture::png(&mut dice));
                let attributes = dice.percent(85).then(|| attributes(&mut dice));
                let sku = format!("{}-{:04}", slug(category).get(..3).unwrap_or("xxx").to_ascii_uppercase(), id);
                let supplier = dice.between(1, SUPPLIERS);
                product.execute(params![
                    id,
                    sku,
                    format!("{series} {}", english.to_lowercase()),
                    supplier,
                    price,
                    weight,
                    attributes,
                    picture,
                    date(added),
                    gone,
                    category
                ])?;
                translate(&mut translation, &mut dice, id, series, thing, *of)?;
            }
        }
    }
    Ok(())
}

fn translate(insert: &mut rusqlite::Statement<'_>, dice: &mut Dice, id: i64, series: &str, thing: usize, of: Of) -> Result<()> {
    for language in &LANGUAGES {
        if dice.percent(96) {
            let name = format!("{} “{series}”", language.say(thing, of));
            let description = dice.percent(90).then_some(language.description);
            insert.execute(params![id, language.code, name, description])?;
        }
    }
    Ok(())
}

/// Warehouses and stock.
pub fn storage(to: &Connection) -> Result<()> {
    let mut dice = Dice::new(23);
    let mut insert = to.prepare("INSERT INTO warehouses VALUES (?, ?, ?, ?, ?)")?;
    let names = ["North Dock", "Südlager", "Entrepôt Étang", "Склад № 4", "中央倉庫", "مخزن الميناء"];
    for (id, name) in (1..=WAREHOUSES).zip(names) {
        let country = COUNTRIES.get(usize::try_from(id * 2).unwrap_or(0)).map_or("AV", |(code, ..)| code);
        insert.execute(params![id, name, country, hundredths(dice.between(-5_500, 6_800)), hundredths(dice.between(-17_000, 17_000))])?;
    }
    let mut insert = to.prepare("INSERT INTO stock VALUES (?, ?, ?, ?, ?)")?;
    for warehouse in 1..=WAREHOUSES {
        for product in 1..=PRODUCTS {
            if dice.percent(70) {
                let level = dice.percent(80).then(|| dice.between(2, 20) * 5);
                let counted = dice.percent(75).then(|| date(TODAY - dice.between(0, 400)));
                insert.execute(params![warehouse, product, dice.mostly_low(0, 400), level, counted])?;
            }
        }
    }
    Ok(())
}

/// Settings: values of every storage class in one column.
pub fn settings(to: &Connection) -> Result<()> {
    to.execute_batch(
        "INSERT INTO settings VALUES
            ('shop.name', 'Fennimoor'), ('shop.opened', '2021-01-01'), ('shop.closed', NULL),
            ('orders.free_shipping_from_cents', 7500), ('orders.largest_number', 9007199254740993),
            ('search.fuzziness', 0.35), ('search.boost', 1e-3), ('search.stop_words', '[\"the\",\"a\",\"of\"]'),
            ('ui.accent', x'2a9d8f'), ('ui.motto', 'Slow things, well made — 丁寧に'), ('ui.blank', '');",
    )
}

/// A number with two places, as near as a REAL comes.
pub fn hundredths(number: i64) -> f64 {
    // Small whole numbers are exact in a float, and so the quotient is the same everywhere.
    number as f64 / 100.0
}

fn attributes(dice: &mut Dice) -> String {
    let colour = dice.pick(&["moss", "clay", "night", "straw", "chalk", "rust"]);
    format!(
        r#"{{"colour":"{colour}","size_mm":[{},{},{}],"care":{{"wash":{},"oil":{}}}}}"#,
        dice.between(40, 900),
        dice.between(40, 600),
        dice.between(2, 400),
        dice.percent(40),
        dice.percent(20)
    )
}

fn slug(name: &str) -> String {
    name.to_ascii_lowercase().replace(" & ", "-").replace(' ', "-")
}

fn roman(number: i64) -> String {
    let digits = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")];
    let mut rest = number;
    let mut text = String::new();
    for (value, letters) in digits {
        while rest >= value {
            text.push_str(letters);
            rest -= value;
        }
    }
    text
}
