use super::*;

#[test]
fn the_table_is_sorted_so_that_it_can_be_searched() {
    assert!(BUILT_IN.is_sorted_by(|(first, _), (second, _)| first < second));
    assert_eq!(built_in(23), Some("int4"));
    assert_eq!(built_in(16_384), None);
}

#[test]
fn names_bear_their_modifiers() {
    let names = Names::default();
    let name = |oid, modifier| names.type_name(oid, modifier);
    assert_eq!(name(1043, 44), "varchar(40)");
    assert_eq!(name(1043, -1), "varchar");
    assert_eq!(name(1015, 44), "varchar(40)[]");
    assert_eq!(name(1042, 7), "char(3)");
    assert_eq!(name(1700, (12 << 16 | 2) + 4), "numeric(12,2)");
    assert_eq!(name(1700, (3 << 16 | (-2 & 0x7ff)) + 4), "numeric(3,-2)");
    assert_eq!(name(1184, 3), "timestamptz(3)");
    assert_eq!(name(1186, (4 << 16) | 0xffff), "interval year");
    assert_eq!(name(1186, ((8 | 1024 | 2048 | 4096) << 16) | 2), "interval day to second(2)");
    assert_eq!(name(1186, 0x7fff_0003), "interval(3)");
    assert_eq!(name(20_000, 5), "type 20000");
}

#[test]
fn a_numeric_has_the_scale_of_its_type_where_that_is_one_of_a_decimal() {
    let numeric = |precision: i32, scale: i32| Kind::of(1700, (precision << 16 | (scale & 0x7ff)) + 4);
    assert_eq!(numeric(38, 38), Kind::Decimal { precision: 38, scale: 38 });
    assert_eq!(numeric(38, 38).data_type(), DataType::Decimal128(38, 38));
    assert_eq!(numeric(39, 2).data_type(), DataType::Decimal256(39, 2));
    assert_eq!(numeric(76, 76), Kind::Decimal { precision: 76, scale: 76 });
    for kind in [numeric(77, 2), numeric(3, -2), numeric(2, 4), Kind::of(1700, -1)] {
        assert_eq!(kind, Kind::Numeric);
    }
}

#[test]
fn the_catalogs_spelling_becomes_the_results() {
    for (long, short) in [
        ("character varying(40)", "varchar(40)"),
        ("character(3)", "char(3)"),
        ("timestamp(3) with time zone", "timestamptz(3)"),
        ("timestamp without time zone[]", "timestamp[]"),
        ("time with time zone", "timetz"),
        ("double precision", "float8"),
        ("integer[]", "int4[]"),
        ("bigint", "int8"),
        ("numeric(12,2)", "numeric(12,2)"),
        ("characteristics", "characteristics"),
        ("named.integer", "named.integer"),
        ("\"integer\"", "\"integer\""),
    ] {
        assert_eq!(short_name(long), short);
    }
}

#[test]
fn a_row_description_cut_anywhere_is_a_fault_not_a_panic() {
    let mut body = vec![0, 1];
    body.extend(b"name\0");
    body.extend(7_u32.to_be_bytes());
    body.extend(2_i16.to_be_bytes());
    body.extend(23_u32.to_be_bytes());
    body.extend([0, 4, 0xff, 0xff, 0xff, 0xff, 0, 0]);
    let column = Column { name: "name".to_owned(), table: 7, attribute: 2, oid: 23, modifier: -1 };
    assert_eq!(Column::read_all(&body).unwrap(), [column]);
    for cut in 0..body.len() {
        assert!(Column::read_all(&body[..cut]).is_err());
    }
}
