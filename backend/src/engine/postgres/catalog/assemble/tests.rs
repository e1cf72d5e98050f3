use super::*;
use shared::wire::catalog::KnownSchemas;

fn row(values: &[&str]) -> TextRow {
    values.iter().map(|value| (*value != "-").then(|| (*value).to_owned())).collect()
}

#[test]
fn rows_become_a_tree() {
    let mut answers = Answers::default();
    answers.take(DATABASE, row(&["shop"]));
    answers.take(SEARCH_PATH, row(&["public"]));
    answers.take(SCHEMAS, row(&["1", "public", "f", "f", "t"]));
    answers.take(VERSIONS, row(&["1", "17", "1234"]));
    answers.take(VERSIONS, row(&["2", "1", "1"]));
    answers.take(RELATIONS, row(&["10", "1", "a", "r", "3", "words"]));
    answers.take(RELATIONS, row(&["11", "1", "b", "v", "-", "-"]));
    answers.take(COLUMNS, row(&["10", "1", "id", "integer", "t", "-", "-"]));
    answers.take(COLUMNS, row(&["10", "3", "parent", "integer", "f", "0", "up"]));
    answers.take(KEYS, row(&["10", "p", "a_pkey", "1", "1", "-", "-", "-"]));
    answers.take(KEYS, row(&["10", "f", "up", "1", "3", "public", "a", "id"]));
    answers.take(INDEXES, row(&["10", "a_pkey", "t", "1 0"]));
    answers.take(TRIGGERS, row(&["10", "watch"]));
    answers.take(ROUTINES, row(&["1", "f", "a int", "-"]));
    assert_eq!(answers.origins()[&(10, 3)], "public.a.parent");
    answers.settle(&CatalogAsk::First);
    let catalog = answers.into_catalog(&CatalogAsk::First);
    let [a, b] = catalog.schemas[0].relations.as_slice() else { panic!("{catalog:?}") };
    assert_eq!((a.estimated_rows, a.columns[0].primary_key, b.kind), (Some(3), 1, RelationKind::View));
    assert_eq!((a.foreign_keys[0].columns[0].as_str(), a.foreign_keys[0].ref_columns[0].as_str()), ("parent", "id"));
    assert_eq!(a.indexes[0].columns, ["id", ""]);
    assert_eq!(catalog.schemas[0].routines[0].returns, "");
    assert_eq!(catalog.schemas[0].version, "17.1234");
}

#[test]
fn a_schema_that_may_not_be_used_says_so_and_is_of_another_version() {
    let schema = |denied| {
        let mut answers = Answers::default();
        answers.take(SCHEMAS, row(&["1", "closed", "f", denied]));
        answers.take(VERSIONS, row(&["1", "5", "7"]));
        answers.settle(&CatalogAsk::Of(Vec::new()));
        answers.into_catalog(&CatalogAsk::First).schemas.remove(0)
    };
    let (open, closed) = (schema("f"), schema("t"));
    assert_eq!((open.denied, closed.denied), (false, true));
    assert_ne!(open.version, closed.version);
    assert!(!schema("-").denied, "dropped between two questions");
}

#[test]
fn rows_about_what_is_not_there_are_left_out() {
    let mut answers = Answers::default();
    answers.take(COLUMNS, row(&["10", "1", "id", "integer", "t", "-", "-"]));
    answers.take(KEYS, row(&["10", "f", "up", "1", "3", "public", "a", "id"]));
    answers.take(RELATIONS, row(&["10", "9", "lost", "r", "-", "-"]));
    answers.take(INDEXES, row(&["11", "i", "t", "1"]));
    answers.take(SCHEMAS, row(&["not a number"]));
    answers.take(ROUTINES, row(&[]));
    answers.take(99, row(&["1"]));
    assert_eq!(answers.into_catalog(&CatalogAsk::First), Catalog::default());
}

#[test]
fn schemas_of_a_known_version_are_not_asked_for_again() {
    let answers = || {
        let mut answers = Answers::default();
        for (oid, name, sum) in [("1", "a", "7"), ("2", "b", "8"), ("3", "c", "9")] {
            answers.take(SCHEMAS, row(&[oid, name, "f"]));
            answers.take(VERSIONS, row(&[oid, "5", sum]));
            answers.take(NAME_VERSIONS, row(&[oid, "3", sum]));
        }
        answers
    };
    let wanted = |versions: &[(&str, &str)]| {
        let known = versions.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect();
        let ask = CatalogAsk::Since(KnownSchemas { known });
        let mut answers = answers();
        answers.settle(&ask);
        let wanted = answers.wanted();
        let told: Vec<_> =
            answers.into_catalog(&ask).schemas.into_iter().map(|schema| (schema.version, schema.unchanged, schema.partial)).collect();
        (wanted, told)
    };
    let both = |names: &str, whole: &str| Some((names.to_owned(), whole.to_owned()));
    assert_eq!(wanted(&[]).0, both("{1,2,3}", "{}"), "what is large is told by its names");
    let (changed, told) = wanted(&[("a", "3.7~"), ("b", "5.7"), ("c", "3.7~"), ("d", "5.9")]);
    assert_eq!(changed, both("{2,3}", "{2}"));
    let expected = [("3.7~", true, true), ("5.8", false, false), ("3.9~", false, true)];
    assert_eq!(told, expected.map(|(version, unchanged, partial)| (version.to_owned(), unchanged, partial)));
    assert_eq!(wanted(&[("a", "5.7"), ("b", "5.8"), ("c", "3.9~")]).0, None);
}
