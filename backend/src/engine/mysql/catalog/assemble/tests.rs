use super::*;
use shared::wire::catalog::KnownSchemas;

fn row(values: &[&str]) -> TextRow {
    values.iter().map(|value| (*value != "-").then(|| (*value).to_owned())).collect()
}

fn answers(own: &str, topics: &[(Topic, &[&str])]) -> Answers {
    let mut answers = Answers::default();
    answers.take(Topic::State, row(&["a", own]));
    for name in ["a", "b", "mysql"] {
        answers.take(Topic::Schema, row(&[name]));
    }
    for (schema, table) in [("a", "t"), ("b", "u"), ("mysql", "user")] {
        answers.take(Topic::Name, row(&[schema, table, "BASE TABLE"]));
    }
    for (topic, values) in topics {
        answers.take(*topic, row(values));
    }
    answers
}

/// As the answers to a question for versions begin.
fn of_versions(own: &str) -> Answers {
    let named = answers(own, &[]);
    let mut again = Answers::default();
    again.take(Topic::State, row(&["a", own]));
    for name in ["a", "b", "mysql"] {
        again.take(Topic::Schema, row(&[name]));
        let Sum { rows, xor } = named.name_sums[name];
        again.take(Topic::NameSum, row(&[name, &rows.to_string(), &xor.to_string()]));
    }
    again
}

const READ: &[(Topic, &[&str])] = &[
    (Topic::Of(0), &["a", "t", "BASE TABLE", "words"]),
    (Topic::Of(1), &["a", "t", "id", "int(11)", "NO", "-", "auto_increment", "", "1"]),
    (Topic::Of(1), &["b", "u", "id", "int(11)", "NO", "-", "", "", "1"]),
];

fn since(known: &[(&str, &str)]) -> CatalogAsk {
    let known = known.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect();
    CatalogAsk::Since(KnownSchemas { known })
}

#[test]
fn a_small_database_is_whole_but_for_the_systems_own_and_a_large_one_has_names() {
    let small = answers("2", READ).into_catalog(&CatalogAsk::First);
    assert_eq!(small.schemas.iter().map(|schema| schema.partial).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((small.schemas[0].relations.len(), small.schemas[0].relations[0].comment.as_deref()), (1, Some("words")));
    let large = answers("1001", &[]).into_catalog(&CatalogAsk::First);
    assert!(large.schemas.iter().all(|schema| schema.partial && schema.relations.len() == 1));
}

#[test]
fn what_the_server_counts_is_what_this_side_counts() {
    let mut sum = Sum::default();
    sum.add(&row(&["a", "-", "b"]));
    // SELECT CONV(LEFT(SHA2(CONCAT_WS(0x1f, 'a', NULL, 'b'), 256), 16), 16, 10)
    assert_eq!(sum, Sum { rows: 1, xor: u64::from_str_radix(SHA2_OF_A_B, 16).unwrap() });
    sum.add(&row(&["a", "-", "b"]));
    assert_eq!(sum, Sum { rows: 2, xor: 0 });
}

const SHA2_OF_A_B: &str = "f04cdced9736a69d";

#[test]
fn only_what_has_another_sum_is_read_again() {
    let first = answers("2", READ).into_catalog(&CatalogAsk::First);
    let known = CatalogAsk::Since(first.known());
    let sums = |xor_of_b: &str| {
        let read = answers("2", READ);
        let number = |schema: &str, kind: usize| read.sums[schema][kind];
        let mut again = of_versions("2");
        for (schema, kind) in [("a", 0), ("a", 1), ("b", 1)] {
            let Sum { rows, xor } = number(schema, kind);
            let xor = if schema == "b" && !xor_of_b.is_empty() { xor_of_b.to_owned() } else { xor.to_string() };
            again.take(Topic::Sum(kind), row(&[schema, &rows.to_string(), &xor]));
        }
        again
    };
    let mut same = sums("");
    assert_eq!((same.unsummed(&known).len(), same.unnamed(&known).len(), same.unread(&known).len()), (0, 0, 0));
    assert!(same.into_catalog(&known).is_unchanged(&first));
    let mut changed = sums("5");
    assert_eq!(changed.unread(&known), ["b"]);
    for (topic, values) in &READ[2..] {
        changed.take(*topic, row(values));
    }
    let news = changed.into_catalog(&known);
    assert_eq!(news.schemas.iter().map(|schema| schema.unchanged).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn of_a_large_database_what_is_known_whole_is_counted_by_itself() {
    let known = since(&[("a", "5"), ("b", "6~"), ("mysql", "7"), ("gone", "8")]);
    assert_eq!(of_versions("1001").unsummed(&known), ["a", "mysql"]);
    assert_eq!(of_versions("2").unsummed(&known), ["mysql"]);
    assert_eq!((of_versions("1001").unread(&known), of_versions("1001").unnamed(&known)), (words(&["a", "mysql"]), words(&["b"])));
    let asked = CatalogAsk::Of(words(&["b", "gone"]));
    assert_eq!((of_versions("1001").unread(&asked), of_versions("1001").unnamed(&asked)), (words(&["b"]), Vec::new()));
}

#[test]
fn names_that_have_not_changed_are_not_read() {
    let first = answers("1001", &[]).into_catalog(&CatalogAsk::First);
    let known = CatalogAsk::Since(first.known());
    let mut again = of_versions("1001");
    assert_eq!((again.unsummed(&known), again.unnamed(&known), again.unread(&known)), (Vec::new(), Vec::new(), Vec::new()));
    assert!(again.into_catalog(&known).is_unchanged(&first));
    let mut changed = of_versions("1001");
    changed.take(Topic::NameSum, row(&["b", "2", "99"]));
    assert_eq!(changed.unnamed(&known), ["b"]);
    for table in ["u", "v"] {
        changed.take(Topic::Name, row(&["b", table, "BASE TABLE"]));
    }
    let news = changed.into_catalog(&known);
    assert_eq!(
        news.schemas.iter().map(|schema| (schema.unchanged, schema.relations.len())).collect::<Vec<_>>(),
        [(true, 0), (false, 2), (true, 0)]
    );
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn rows_about_what_is_not_there_are_left_out() {
    let strange: &[(Topic, &[&str])] = &[
        (Topic::Of(1), &["a", "lost", "id", "int(11)", "NO", "-", "", "", "1"]),
        (Topic::Of(4), &["lost", "t", "trigger"]),
        (Topic::Of(6), &["a", "lost", "IN", "x", "int(11)"]),
        (Topic::Sum(99), &["a", "1", "1"]),
        (Topic::Of(0), &[]),
    ];
    let catalog = answers("2", strange).into_catalog(&CatalogAsk::First);
    assert_eq!(catalog.schemas[0].relations.len(), 1);
    assert!(catalog.schemas[0].relations[0].columns.is_empty());
}
