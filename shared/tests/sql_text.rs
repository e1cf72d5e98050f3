//! The lexer and the splitter against the texts people write, finished or not. Case ids: S… of the collected reports.
#![cfg(test)]

use shared::sql::{Script, TokenKind, lex, split, statement_at};
use shared::wire::connection::EngineKind::{self, Mysql, Postgres, Sqlite};

fn statements(text: &str, kind: EngineKind) -> Vec<&str> {
    split(text, kind).into_iter().map(|range| &text[range]).collect()
}

/// The statement at `|`.
fn at(text: &str, kind: EngineKind) -> Option<String> {
    let cursor = text.find('|').expect("a cursor");
    let text = text.replacen('|', "", 1);
    statement_at(&text, cursor, kind).map(|range| text[range].to_owned())
}

fn significant(text: &str, kind: EngineKind) -> Vec<(TokenKind, &str)> {
    lex(text, kind).filter(|token| token.is_significant(text)).map(|token| (token.kind, &text[token.range()])).collect()
}

/// A small generator (xorshift64*), so that a failure can be had again from its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }
}

const PIECES: &[&str] = &[
    "'", "''", "\"", "`", "[", "]", "$$", "$a$", "$1", "/*", "*/", "--", "\n", "\r\n", ";", "\\", "E'", "U&\"", "x'", " ", "select",
    "create", "trigger", "begin", "atomic", "end", "case", "function", "(", ")", ".", ",", "::", ":a", "@b", "?1", "1e-5", ".5", "0x1f",
    "copy", "from", "stdin", "\n\\.\n", "é", "日本", "😀", "\0", "\u{feff}", "+", "||", "->>", "-", "/", "*",
];

#[test]
fn tokens_put_together_are_the_text_whatever_it_holds() {
    for seed in 1..4_000 {
        let mut dice = Dice(seed);
        let text: String = (0..dice.below(40)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        for kind in [Sqlite, Postgres, Mysql] {
            let mut end = 0;
            for token in lex(&text, kind) {
                assert_eq!(token.start, end, "seed {seed}: {text:?}");
                assert!(token.end > token.start && text.is_char_boundary(token.end), "seed {seed}: {text:?}");
                assert!(!token.unfinished || token.end == text.len(), "seed {seed}: {text:?}");
                end = token.end;
            }
            assert_eq!(end, text.len(), "seed {seed}: {text:?}");
        }
    }
}

#[test]
fn statements_are_in_order_and_cut_no_token() {
    for seed in 1..4_000 {
        let mut dice = Dice(seed);
        let text: String = (0..dice.below(40)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        for kind in [Sqlite, Postgres, Mysql] {
            let ranges = split(&text, kind);
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "seed {seed}: {text:?}");
            let starts: Vec<usize> = lex(&text, kind).map(|token| token.start).chain([text.len()]).collect();
            for range in &ranges {
                assert!(starts.contains(&range.start) && starts.contains(&range.end), "seed {seed}: {text:?}");
            }
            for cursor in 0..=text.len() {
                let found = statement_at(&text, cursor, kind);
                assert_eq!(found.is_some(), !ranges.is_empty(), "seed {seed}: {text:?}");
                assert!(found.is_none_or(|found| ranges.contains(&found)), "seed {seed}: {text:?}");
            }
        }
    }
}

#[test]
fn any_repetition_is_one_pass() {
    // Each of these made some lexer quadratic: openers that never close, marks that almost open.
    for piece in ["'", "\"", "/*", "$a", "$a$b$c", "$$", "E'\\", "[", "-", "a", "(", ";", "/* ' \" $$", "1e", "''", "select 1;\n"] {
        // A pass is a blink at this size; were it a pass for each byte, it would be minutes.
        let text = piece.repeat(128 * 1024 / piece.len());
        for kind in [Sqlite, Postgres, Mysql] {
            assert_eq!(lex(&text, kind).map(|token| token.end - token.start).sum::<usize>(), text.len());
            assert!(split(&text, kind).len() <= text.len());
        }
    }
}

#[test]
fn unfinished_tokens_run_to_the_end_and_say_so() {
    for (text, kind) in
        [("select 'abc", Postgres), ("select \"abc", Sqlite), ("/* a /* b */", Postgres), ("$x$ body $x", Postgres), ("[a", Sqlite)]
    {
        let last = lex(text, kind).last().unwrap();
        assert!(last.unfinished && last.end == text.len(), "{text}");
    }
    assert!(lex("/* a /* b */", Sqlite).all(|token| !token.unfinished));
}

#[test]
fn marks_are_read_as_each_dialect_reads_them() {
    use TokenKind::*;
    assert_eq!(significant(r"E'a\'b' 'a\'", Postgres), [(Text, r"E'a\'b'"), (Text, r"'a\'")]);
    assert_eq!(significant("`a``b`[c d]", Sqlite), [(QuotedName, "`a``b`"), (QuotedName, "[c d]")]);
    assert_eq!(significant("a::int", Postgres), [(Word, "a"), (Operator, "::"), (Word, "int")]);
    assert_eq!(significant("x=:n", Sqlite), [(Word, "x"), (Operator, "="), (Parameter, ":n")]);
    assert_eq!(significant("f(a=:n)", Postgres)[3..5], [(Operator, "="), (Operator, ":")]);
    assert_eq!(significant("a[1:n]", Postgres)[2..6], [(Number, "1"), (Operator, ":"), (Word, "n"), (Operator, "]")]);
    assert_eq!(significant("a[b::int:c]", Postgres)[3..7], [(Operator, "::"), (Word, "int"), (Operator, ":"), (Word, "c")]);
    assert_eq!(significant("f(a:=b)", Postgres)[3..5], [(Operator, ":="), (Word, "b")]);
    assert_eq!(significant("?1 @v $v", Sqlite), [(Parameter, "?1"), (Parameter, "@v"), (Parameter, "$v")]);
    assert_eq!(significant("a ? 'b' $1", Postgres), [(Word, "a"), (Operator, "?"), (Text, "'b'"), (Parameter, "$1")]);
    assert_eq!(significant("1.5e-3 .5 0xFF 1..2", Postgres)[..3], [(Number, "1.5e-3"), (Number, ".5"), (Number, "0xFF")]);
    assert_eq!(significant("5--1\n", Postgres), [(Number, "5")]);
    assert_eq!(significant("a-/*c*/-b", Sqlite), [(Word, "a"), (Operator, "-"), (Operator, "-"), (Word, "b")]);
    assert_eq!(significant("U&'\\0061' U&\"x\" x'00'", Postgres), [(Text, "U&'\\0061'"), (QuotedName, "U&\"x\""), (Text, "x'00'")]);
}

#[test]
fn s01_a_semicolon_in_a_literal_ends_nothing() {
    assert_eq!(statements("SELECT 1 WHERE 'x' ILIKE '%amp;%'; SELECT 2;", Postgres), ["SELECT 1 WHERE 'x' ILIKE '%amp;%'", "SELECT 2"]);
}

#[test]
fn s03_a_semicolon_in_an_unlabelled_dollar_body_ends_nothing() {
    let text = "CREATE FUNCTION f2() RETURNS int LANGUAGE sql AS $$SELECT 7;$$;SELECT f2();";
    assert_eq!(statements(text, Postgres), [&text[..text.len() - 13], "SELECT f2()"]);
}

#[test]
fn s04_a_dollar_literal_hides_no_end() {
    let text = "SELECT format($$%1$s;$$,'v'); SELECT 'second'; DROP TABLE keep_me;";
    assert_eq!(statements(text, Postgres).len(), 3);
    assert_eq!(
        at("SELECT for|mat($$%1$s;$$,'v'); SELECT 'second'; DROP TABLE keep_me;", Postgres).unwrap(),
        "SELECT format($$%1$s;$$,'v')"
    );
}

#[test]
fn s05_a_dollar_quote_is_no_parameter() {
    let kinds: Vec<_> = significant("SELECT $$Jo's; mug$$::varchar AS v;", Postgres).into_iter().map(|(kind, _)| kind).collect();
    assert!(!kinds.contains(&TokenKind::Parameter) && kinds.contains(&TokenKind::DollarText));
}

#[test]
fn s10_a_standard_body_is_one_statement() {
    let text = "CREATE FUNCTION f3() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 8; END; SELECT f3();";
    assert_eq!(statements(text, Postgres).len(), 2);
    assert_eq!(statements("BEGIN; CREATE FUNCTION f() RETURNS int AS 'x' LANGUAGE sql; COMMIT", Postgres).len(), 3);
}

#[test]
fn s14_a_nested_comment_ends_at_its_own_end() {
    assert_eq!(statements("/* outer /* inner */ still; outer */ DROP TABLE victim;", Postgres), ["DROP TABLE victim"]);
}

#[test]
fn s16_two_dashes_open_a_comment() {
    assert_eq!(statements("SELECT 5--1;\nAS minus;", Postgres), ["SELECT 5--1;\nAS minus"]);
}

#[test]
fn s18_a_blank_line_ends_nothing() {
    assert_eq!(statements("SELECT 1 AS a\n\nFROM generate_series(1,2);", Postgres).len(), 1);
}

#[test]
fn s19_near_a_statement_the_cursor_means_the_one_before() {
    assert_eq!(at("SELECT 1;\n\n|\n\nSELECT 2;", Postgres).unwrap(), "SELECT 1");
}

#[test]
fn a_trigger_body_is_one_statement() {
    let text = "CREATE TRIGGER IF NOT EXISTS t AFTER UPDATE ON a WHEN new.x > 1 BEGIN UPDATE b SET c = CASE WHEN 1 THEN 2 END; DELETE FROM d; END; SELECT 1;";
    assert_eq!(statements(text, Sqlite).len(), 2);
    assert_eq!(statements("CREATE TEMP TRIGGER begin AFTER INSERT ON a BEGIN SELECT 1; END;SELECT 2", Sqlite).len(), 2);
    assert_eq!(statements("BEGIN; SELECT 1; END;", Sqlite), ["BEGIN", "SELECT 1", "END"]);
    // PostgreSQL's triggers have no body.
    assert_eq!(statements("CREATE TRIGGER t BEFORE INSERT ON a EXECUTE FUNCTION f(); BEGIN; SELECT 1; END;", Postgres).len(), 4);
}

#[test]
fn a_rule_may_hold_statements() {
    assert_eq!(statements("CREATE RULE r AS ON INSERT TO a DO (INSERT INTO b VALUES (1); DELETE FROM c); SELECT 1", Postgres).len(), 2);
}

#[test]
fn comments_around_a_statement_are_no_part_of_it_but_hints_are() {
    assert_eq!(
        statements("-- first\nSELECT 1 -- why\n; /* then */ SELECT /* in */ 2 /* after */", Sqlite),
        ["SELECT 1", "SELECT /* in */ 2"]
    );
    assert_eq!(statements("/*+ SeqScan(a) */ SELECT 1;", Postgres), ["/*+ SeqScan(a) */ SELECT 1"]);
    assert_eq!(statements(";;  ; -- nothing\n", Postgres), Vec::<&str>::new());
}

#[test]
fn the_cursor_means_what_a_person_would_say() {
    assert_eq!(at("SELECT 1;| SELECT 2;", Sqlite).unwrap(), "SELECT 1");
    assert_eq!(at("SELECT 1;|SELECT 2;", Sqlite).unwrap(), "SELECT 2");
    assert_eq!(at("SELECT 1; -- no|te\nSELECT 2;", Sqlite).unwrap(), "SELECT 1");
    assert_eq!(at("SELECT 1;\n-- about| two\nSELECT 2;", Sqlite).unwrap(), "SELECT 2");
    assert_eq!(at("SELECT 1;\n|  SELECT 2;", Sqlite).unwrap(), "SELECT 2");
    assert_eq!(at("|\n\nSELECT 2;", Sqlite).unwrap(), "SELECT 2");
    assert_eq!(at("SELECT 2;\n\n\n|", Sqlite).unwrap(), "SELECT 2");
    assert_eq!(at("SELECT 1|", Sqlite).unwrap(), "SELECT 1");
    assert_eq!(at("-- nothing|", Sqlite), None);
    assert_eq!(at("|", Sqlite), None);
}

#[test]
fn s20_the_data_of_a_copy_is_no_statement() {
    let dump = "COPY public.t (a, b) FROM stdin WITH (FORMAT text);\n1\tit's; DROP TABLE t;\n\\N\t--\n\\.\n\nSELECT 1;\nSELECT 2";
    let copy = "COPY public.t (a, b) FROM stdin WITH (FORMAT text)";
    assert_eq!(statements(dump, Postgres), [copy, "SELECT 1", "SELECT 2"]);
    assert_eq!(statements(&dump.replace('\n', "\r\n"), Postgres), [copy, "SELECT 1", "SELECT 2"]);
    assert_eq!(at(&dump.replace("it's", "it|'s"), Postgres).unwrap(), copy, "the data belongs to it");
    assert_eq!(statements("copy t from stdin;\n1;\n2;", Postgres), ["copy t from stdin"], "without an end all of it is data");
    assert_eq!(statements("copy t from stdin; select 0;\n\\.\nselect 1", Postgres), ["copy t from stdin", "select 1"]);
    for other in ["copy (select 1 from stdin) to stdout;\nselect 1", "copy t from '/f';\nselect 1", "select copy from stdin;\nselect 1"] {
        assert_eq!(statements(other, Postgres).len(), 2, "{other}");
    }
    assert_eq!(statements("copy t from stdin;\n1;\n\\.\n", Sqlite).len(), 3);
}

#[test]
fn s06_a_delimiter_line_says_what_ends_a_statement_and_is_none() {
    let text = "DELIMITER ;;\nCREATE PROCEDURE p1() BEGIN DECLARE n INT; SET n = 3; SELECT n * 2 AS dbl; END;;\nDELIMITER ;\nCALL p1();";
    let body = "CREATE PROCEDURE p1() BEGIN DECLARE n INT; SET n = 3; SELECT n * 2 AS dbl; END";
    assert_eq!(statements(text, Mysql), [body, "CALL p1()"]);
    assert_eq!(
        statements("delimiter $$\nselect 1; select 2$$select 'a$$', `$$` -- $$\n$$\n  Delimiter ;  ignored\nselect 3; select 4", Mysql),
        ["select 1; select 2", "select 'a$$', `$$`", "select 3", "select 4"]
    );
    assert_eq!(
        statements("-- first\nDELIMITER //\nBEGIN NOT ATOMIC SELECT 1; END//\nSELECT 2 / 3 //SELECT 4", Mysql),
        ["BEGIN NOT ATOMIC SELECT 1; END", "SELECT 2 / 3", "SELECT 4"]
    );
    // Not at the start of a statement or of a line, without a name, or of another system: words like any other.
    assert_eq!(statements("select delimiter //\n; select 2", Mysql), ["select delimiter //", "select 2"]);
    assert_eq!(statements("select 1; delimiter //\nselect 2; select 3", Mysql), ["select 1", "delimiter //\nselect 2", "select 3"]);
    assert_eq!(statements("delimiter\nselect 1; select 2", Mysql).len(), 2);
    assert_eq!(statements("delimiter \\\nselect 1; select 2", Mysql), ["delimiter \\", "select 1", "select 2"], "the server refuses it");
    assert_eq!(statements("delimiter //\nselect 1; select 2//", Postgres).len(), 2);
    assert_eq!(at("DELIMITER //\nSELECT 1;| SELECT 2//\nDELIMITER ;\nSELECT 3", Mysql).unwrap(), "SELECT 1; SELECT 2");
    assert_eq!(at("DELIMITER //\nSELECT 1//\nDELIM|ITER ;\n\nSELECT 3", Mysql).unwrap(), "SELECT 1");
}

#[test]
fn a_part_of_a_script_ends_its_statements_as_the_script_does() {
    let text = "DELIMITER //\nSELECT 'ä'; SELECT 1//\nSELECT 2//\nDELIMITER ;\nSELECT 3; SELECT 4";
    let script = Script::new(text.to_owned(), Mysql);
    let between = |from: &str, to: &str| {
        let unit = |mark: &str| text[..text.find(mark).unwrap()].encode_utf16().count();
        script.statements_between(unit(from), unit(to)).into_iter().map(|range| &text[range]).collect::<Vec<_>>()
    };
    assert_eq!(between("SELECT 'ä'", "DELIMITER ;"), ["SELECT 'ä'; SELECT 1", "SELECT 2"]);
    assert_eq!(between("SELECT 2", "; SELECT 4"), ["SELECT 2", "SELECT 3"]);
    assert_eq!(between("SELECT 3", "4"), ["SELECT 3", "SELECT"]);
}

#[test]
fn an_edited_script_with_delimiters_is_as_if_read_anew() {
    const PIECES: &[&str] = &[
        "delimiter //\n",
        "\ndelimiter ;\n",
        "delimiter $$",
        "\n",
        "//",
        "$$",
        ";",
        "'",
        "/*",
        "*/",
        "a",
        " ",
        "é",
        "create procedure p() begin ",
        "end",
        "-- ",
    ];
    for seed in 1..3_000 {
        let mut dice = Dice(seed);
        let mut units: Vec<u16> = Vec::new();
        let mut script = Script::new(String::new(), Mysql);
        for _ in 0..14 {
            let insert: String = (0..dice.below(6)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
            let from = dice.below(units.len() + 1);
            let to = (from + dice.below(9)).min(units.len());
            units.splice(from..to, insert.encode_utf16());
            script.edit(from, to - from, &insert);
            let text = String::from_utf16(&units).unwrap();
            assert_eq!(script.text(), text, "seed {seed}");
            assert_eq!(script.statements(), split(&text, Mysql), "seed {seed}: {text:?}");
        }
    }
}

#[test]
fn an_edited_script_is_as_if_read_anew() {
    for seed in 1..1_500 {
        let mut dice = Dice(seed);
        let mut units: Vec<u16> = Vec::new();
        let kind = if seed % 2 == 0 { Sqlite } else { Postgres };
        let mut script = Script::new(String::new(), kind);
        for _ in 0..12 {
            let insert: String = (0..dice.below(8)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
            // Only whole characters are cut, as an editor does.
            let mut from = dice.below(units.len() + 1);
            let mut to = (from + dice.below(10)).min(units.len());
            from -= usize::from(inside_pair_of(&units, from));
            to -= usize::from(inside_pair_of(&units, to));
            let to = to.max(from);
            units.splice(from..to, insert.encode_utf16());
            script.edit(from, to - from, &insert);
            let text = String::from_utf16(&units).unwrap();
            assert_eq!(script.text(), text, "seed {seed}");
            assert_eq!(script.statements(), split(&text, kind), "seed {seed}: {text:?}");
            let unit = dice.below(units.len() + 1);
            let unit = unit - usize::from(inside_pair_of(&units, unit));
            let byte = script.byte_of(unit);
            assert_eq!(script.unit_of(byte), unit, "seed {seed}: {text:?}");
            assert_eq!(script.statement_at(unit), statement_at(&text, byte, kind), "seed {seed}: {text:?} at {byte}");
            let place = script.segment_at(unit);
            assert_eq!(&text[place.start..place.start + place.text.len()], place.text);
            assert_eq!(place.start + place.at, byte, "seed {seed}: {text:?}");
        }
    }
}

fn inside_pair_of(units: &[u16], at: usize) -> bool {
    units.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit))
}

#[test]
fn a_part_is_coloured_as_in_the_whole_and_from_a_known_place_in_a_long_statement() {
    let row = "(1, 'it''s', \"a\", count(*), null), -- é\n";
    let mut script = Script::new(format!("insert into t values\n{}; select 2", row.repeat(2_000)), Postgres);
    let whole = |script: &Script| {
        let units = script.text().encode_utf16().count();
        let mut fresh = Script::new(script.text().to_owned(), Postgres);
        fresh.colours(0, units).chunks(3).filter(|part| part[2] != 0).map(<[u32]>::to_vec).collect::<Vec<_>>()
    };
    let part = |script: &mut Script, from: usize, to: usize| {
        script.colours(from, to).chunks(3).filter(|part| part[2] != 0).map(<[u32]>::to_vec).collect::<Vec<_>>()
    };
    for (edit_at, insert) in [(40_007, "x"), (40_008, "'"), (40_009, "'"), (39_900, "/*"), (40_020, "*/"), (100, "null,"), (60_000, "1")] {
        let (from, to) = (40_000, 41_000);
        let _ = part(&mut script, from, to);
        script.edit(edit_at, 0, insert);
        let wanted: Vec<_> = whole(&script).into_iter().filter(|part| part[1] as usize > from && (part[0] as usize) < to).collect();
        assert_eq!(part(&mut script, from, to), wanted, "after {insert:?} at {edit_at}");
    }
}

#[test]
fn words_have_the_colour_of_what_they_are() {
    let mut script = Script::new("select lower(a.from), b.count (1) from t where x is null and d::date = $1".into(), Postgres);
    let text = script.text().to_owned();
    let found = script.colours(0, text.len());
    let colour = |word: &str| found.chunks(3).skip(1).find(|part| &text[part[0] as usize..part[1] as usize] == word).map(|part| part[2]);
    assert_eq!(["select", "lower", "count", "null", "date", "$1"].map(colour), [Some(1), Some(3), Some(3), Some(9), Some(2), Some(8)]);
    assert_eq!(colour("t"), None);
}

#[test]
fn s12_an_apostrophe_in_a_hash_comment_opens_nothing() {
    assert_eq!(statements("# it's a note; really\nSELECT ';' AS semi;", Mysql), ["SELECT ';' AS semi"]);
}

#[test]
fn s15_comments_of_mysql_do_not_nest() {
    let found = significant("SELECT 1 /* a /* b */ + 2 AS r;", Mysql);
    assert!(found.contains(&(TokenKind::Number, "2")), "{found:?}");
}

#[test]
fn s16_two_dashes_need_a_blank_to_be_a_comment_in_mysql() {
    let found = significant("SELECT 5--1\nAS minus;", Mysql);
    assert!(found.contains(&(TokenKind::Number, "1")), "{found:?}");
    assert!(!significant("SELECT 5-- 1\nAS minus;", Mysql).contains(&(TokenKind::Number, "1")));
    assert!(!significant("SELECT 5--1\nAS minus;", Postgres).contains(&(TokenKind::Number, "1")));
}

#[test]
fn strings_of_mysql_have_backslashes_and_two_quotes_and_names_have_backticks() {
    assert_eq!(statements(r#"SELECT 'it\'s; one', "a;\"b", `c;``d`; SELECT 2"#, Mysql).len(), 2);
    assert_eq!(statements("SELECT 1 /*! ; */; SELECT 2", Mysql).len(), 2);
}

#[test]
fn s06_a_routine_of_mysql_is_one_statement_whatever_ends_inside_it() {
    let body = "BEGIN DECLARE n INT; IF n > 1 THEN SET n = IF(n, 2, 3); END IF; \
        WHILE n < 3 DO CASE n WHEN 1 THEN SET n = 2; ELSE BEGIN END; END CASE; END WHILE; \
        SELECT CASE n WHEN 1 THEN 2 END; REPEAT SET n = 4; UNTIL n > 3 END REPEAT; END";
    for head in
        ["CREATE PROCEDURE p1()", "CREATE OR REPLACE FUNCTION `begin`() RETURNS INT", "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW"]
    {
        let text = format!("{head} {body}; SELECT 2");
        assert_eq!(statements(&text, Mysql), [format!("{head} {body}").as_str(), "SELECT 2"], "{head}");
    }
    assert_eq!(statements("CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.x = 1; SELECT 2", Mysql).len(), 2);
    assert_eq!(statements("START TRANSACTION; BEGIN; SELECT 1", Mysql).len(), 3);
}
