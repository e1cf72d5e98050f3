//! What kind of value a parameter waits for, as far as the statement and the catalog tell. Pure.

use shared::sql::outline::{TableSource, outline};
use shared::sql::{Token, TokenKind, dialect, lex, parameter_places};
use shared::wire::catalog::{Catalog, Column, Relation};
use shared::wire::connection::EngineKind;

/// Between a column and a value of its type.
const COMPARISONS: &[&str] = &["=", "<>", "!=", "<", ">", "<=", ">=", "==", "<=>"];
/// The same as words.
const COMPARING_WORDS: &[&str] = &["LIKE", "ILIKE", "IS", "BETWEEN"];

/// A hint for each value of a statement, in the order of [`shared::sql::parameters`].
pub fn hints(sql: &str, engine: EngineKind, catalog: Option<&Catalog>) -> Vec<Option<String>> {
    let tokens: Vec<Token> = lex(sql, engine).filter(|token| token.is_significant(sql)).collect();
    let reader = Reader { sql, tokens: &tokens, tables: catalog.map(|catalog| tables(sql, &tokens, engine, catalog)).unwrap_or_default() };
    let mut hints: Vec<Option<String>> = Vec::new();
    for (place, value) in parameter_places(sql, engine) {
        if hints.len() <= value {
            hints.resize(value + 1, None);
        }
        let at = tokens.iter().position(|token| token.start == place.start);
        if let (Some(at), Some(hint @ None)) = (at, hints.get_mut(value)) {
            *hint = reader.hint(at);
        }
    }
    hints
}

/// The tables that a statement names, wherever in it.
fn tables<'a>(sql: &str, tokens: &[Token], engine: EngineKind, catalog: &'a Catalog) -> Vec<&'a Relation> {
    let outline = outline(sql, tokens, dialect(engine));
    let named = outline.scopes.iter().flat_map(|scope| &scope.tables).filter_map(|table| match &table.source {
        TableSource::Named(path) => Some(path),
        _ => None,
    });
    let named: Vec<&Vec<String>> = named.collect();
    let is_meant = |schema: &str, relation: &Relation| {
        named.iter().any(|path| match path.as_slice() {
            [.., of, name] => name.eq_ignore_ascii_case(&relation.name) && of.eq_ignore_ascii_case(schema),
            [name] => name.eq_ignore_ascii_case(&relation.name),
            [] => false,
        })
    };
    let all = catalog.schemas.iter().flat_map(|schema| schema.relations.iter().map(move |relation| (schema, relation)));
    all.filter(|(schema, relation)| is_meant(&schema.name, relation)).map(|(_, relation)| relation).collect()
}

struct Reader<'a> {
    sql: &'a str,
    tokens: &'a [Token],
    tables: Vec<&'a Relation>,
}

impl Reader<'_> {
    fn text(&self, at: Option<usize>) -> &str {
        at.and_then(|at| self.tokens.get(at)).map_or("", |token| token.text(self.sql))
    }

    fn is(&self, at: Option<usize>, words: &[&str]) -> bool {
        words.iter().any(|word| self.text(at).eq_ignore_ascii_case(word))
    }

    /// Of the parameter at a token: a cast tells best, then what it is compared with, then where it is inserted.
    fn hint(&self, at: usize) -> Option<String> {
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        if self.is(after, &["::"]) || (self.is(after, &["AS"]) && self.is(at.checked_sub(2), &["CAST"])) {
            return self.type_at(at + 2);
        }
        if self.is(before, &["LIMIT", "OFFSET"]) {
            return Some("number of rows".to_owned());
        }
        if self.is(before, COMPARISONS) || self.is(before, COMPARING_WORDS) {
            let negated = usize::from(self.is(at.checked_sub(2), &["NOT"]));
            return self.column(at.checked_sub(2 + negated)?);
        }
        if self.is(after, COMPARISONS) {
            // Of a path, the last part is the column.
            let mut end = at + 2;
            while self.is(Some(end + 1), &["."]) {
                end += 2;
            }
            return self.column(end);
        }
        self.inserted(at)
    }

    /// The type that is written there, with its length.
    fn type_at(&self, at: usize) -> Option<String> {
        let first = self.tokens.get(at).filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::QuotedName))?;
        let mut end = first.end;
        if self.is(Some(at + 1), &["("]) {
            let close = (at + 2..at + 6).find(|close| self.is(Some(*close), &[")"]));
            end = close.and_then(|close| self.tokens.get(close)).map_or(end, |close| close.end);
        }
        self.sql.get(first.start..end).map(str::to_owned)
    }

    /// The type of the column that is named there, if all tables of the statement that have one of the name agree.
    fn column(&self, at: usize) -> Option<String> {
        let name = unquoted(self.text(Some(at)));
        let all = self.tables.iter().flat_map(|table| &table.columns);
        agreed(all.filter(|column| column.name.eq_ignore_ascii_case(name)))
    }

    /// The parenthesis that a token stands in, and how many commas of its own are between.
    fn place_in_parentheses(&self, at: usize) -> Option<(usize, usize)> {
        let (mut depth, mut commas) = (0_usize, 0);
        for before in (0..at).rev() {
            match self.text(Some(before)) {
                ")" => depth += 1,
                "(" if depth == 0 => return Some((before, commas)),
                "(" => depth -= 1,
                "," if depth == 0 => commas += 1,
                _ => {}
            }
        }
        None
    }

    /// `INSERT INTO t (a, b) VALUES (…, ?)`: the column of that place.
    fn inserted(&self, at: usize) -> Option<String> {
        if !self.is(Some(0), &["INSERT", "REPLACE"]) {
            return None;
        }
        let values = (0..at).rev().find(|at| self.is(Some(*at), &["VALUES"]))?;
        let (row, place) = self.place_in_parentheses(at)?;
        // What stands in parentheses of its own is something else's value.
        let is_row =
            self.is(row.checked_sub(1), &["VALUES"]) || (self.is(row.checked_sub(1), &[","]) && self.is(row.checked_sub(2), &[")"]));
        if row < values || !is_row {
            return None;
        }
        let listed = (0..values).rev().find(|at| self.is(Some(*at), &["("]));
        match listed {
            Some(list) => self.column(list + 1 + 2 * place),
            None => agreed(self.tables.first()?.columns.get(place).into_iter()),
        }
    }
}

fn agreed<'a>(mut columns: impl Iterator<Item = &'a Column>) -> Option<String> {
    let first = columns.next()?;
    let same = columns.all(|column| column.type_name == first.type_name);
    (same && !first.type_name.is_empty()).then(|| first.type_name.clone())
}

fn unquoted(name: &str) -> &str {
    name.trim_matches(['"', '`', '[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::catalog::Schema;

    fn shop() -> Catalog {
        let column =
            |(name, type_name): (&str, &str)| Column { name: name.to_owned(), type_name: type_name.to_owned(), ..Column::default() };
        let table = |name: &str, columns: &[(&str, &str)]| Relation {
            name: name.to_owned(),
            columns: columns.iter().copied().map(column).collect(),
            ..Relation::default()
        };
        let relations = vec![
            table("orders", &[("id", "integer"), ("placed", "date"), ("note", "text")]),
            table("customers", &[("id", "bigint"), ("name", "text")]),
        ];
        Catalog { schemas: vec![Schema { name: "shop".to_owned(), relations, ..Schema::default() }], ..Catalog::default() }
    }

    fn of(sql: &str) -> Vec<String> {
        hints(sql, EngineKind::Postgres, Some(&shop())).into_iter().map(Option::unwrap_or_default).collect()
    }

    #[test]
    fn a_cast_tells_what_it_casts_to() {
        assert_eq!(of("select $1::int + $2, cast($3 as numeric(12, 2)), $4::\"my type\""), ["int", "", "numeric(12, 2)", "\"my type\""]);
    }

    #[test]
    fn a_column_tells_its_type_where_it_is_compared() {
        assert_eq!(of("select * from orders o where o.placed >= $1 and $2 = o.id and note not like $3"), ["date", "integer", "text"]);
        assert_eq!(of("update shop.orders set placed = $1 where \"id\" = $2"), ["date", "integer"]);
        assert_eq!(of("select * from orders, customers where id = $1 and nothing = $2 limit $3"), ["", "", "number of rows"]);
        assert_eq!(of("select * from other.orders where id = $1"), [""]);
    }

    #[test]
    fn a_place_among_values_has_the_type_of_its_column() {
        assert_eq!(of("insert into orders (placed, id) values ($1, $2), (now(), $3)"), ["date", "integer", "integer"]);
        assert_eq!(of("insert into orders values ($1, $2)"), ["integer", "date"]);
        assert_eq!(of("insert into orders (placed) values (date_of($1))"), [""]);
    }

    #[test]
    fn without_a_catalog_only_the_text_tells() {
        assert_eq!(hints("select :a, :b", EngineKind::Sqlite, None), [None, None]);
        assert_eq!(hints("select ?::date", EngineKind::Duckdb, None), [Some("date".to_owned())]);
    }
}
