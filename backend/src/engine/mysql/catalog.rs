//! Questions for the catalog: one of each kind for each schema that is asked for, and one of each kind about all schemas of a small database.
//! Source: MySQL and MariaDB documentation, "INFORMATION_SCHEMA Tables", "Optimizing INFORMATION_SCHEMA Queries".
//!
//! Invariant: nothing is interpolated; the name of a schema is bound to a variable of the session, since MariaDB looks into one schema alone
//! only where a question compares with a constant. What the user may not see is not in the answers. Rows are not estimated: MariaDB would
//! open every table for that. Start at [`Answers`].
//!
//! A schema's version is made of what is told of it: of each kind the number of rows and the exclusive or of their digests. The server
//! counts it where a schema is known already ([`Kind::sum`]), so that nothing of it travels; this side counts the same from the rows it reads.

mod assemble;

use shared::limits::CATALOG_RELATIONS_AT_ONCE;

pub use assemble::Answers;

/// What a row answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The database in use, and the number of relations that are not the system's own.
    State,
    /// A schema.
    Schema,
    /// A relation: its schema, its name and its kind.
    Name,
    /// A row of the kind with this place in [`KINDS`].
    Of(usize),
    /// What the names of a schema come to: schema, number, exclusive or.
    NameSum,
    /// The same of the rows of that kind.
    Sum(usize),
}

/// A question.
pub type Question = (Topic, String);

/// One of the server's tables.
pub struct Kind {
    table: &'static str,
    /// The column with the schema's name.
    schema: &'static str,
    /// The columns behind it.
    columns: &'static str,
    filter: &'static str,
    order: &'static str,
}

/// Statement by which a schema is chosen for the questions behind it.
pub const CHOOSE: &str = "SET @sheaf_schema = ?";

/// Schemas of the server itself, as they are and as SQL has them.
pub const SYSTEM: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];
const OWN: &str = "NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')";

/// What a schema is told by where it is not told whole: of no relation is anything opened for that.
const NAMES: Kind =
    Kind { table: "TABLES", schema: "TABLE_SCHEMA", columns: "TABLE_NAME, TABLE_TYPE", filter: "TRUE", order: "TABLE_SCHEMA, TABLE_NAME" };

/// Everything that is in a schema, relations first.
pub const KINDS: [Kind; 7] = [
    Kind {
        table: "TABLES",
        schema: "TABLE_SCHEMA",
        columns: "TABLE_NAME, TABLE_TYPE, TABLE_COMMENT",
        filter: "TRUE",
        order: "TABLE_SCHEMA, TABLE_NAME",
    },
    Kind {
        table: "COLUMNS",
        schema: "TABLE_SCHEMA",
        columns: "TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT, ORDINAL_POSITION",
        filter: "TRUE",
        order: "TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
    },
    Kind {
        table: "KEY_COLUMN_USAGE",
        schema: "TABLE_SCHEMA",
        columns: "TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME, \
            ORDINAL_POSITION",
        filter: "REFERENCED_TABLE_NAME IS NOT NULL",
        order: "TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION",
    },
    Kind {
        table: "STATISTICS",
        schema: "TABLE_SCHEMA",
        columns: "TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SEQ_IN_INDEX",
        filter: "TRUE",
        order: "TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
    },
    Kind {
        table: "TRIGGERS",
        schema: "EVENT_OBJECT_SCHEMA",
        columns: "EVENT_OBJECT_TABLE, TRIGGER_NAME",
        filter: "TRUE",
        order: "TRIGGER_NAME",
    },
    Kind {
        table: "ROUTINES",
        schema: "ROUTINE_SCHEMA",
        columns: "SPECIFIC_NAME, ROUTINE_NAME, DTD_IDENTIFIER",
        filter: "TRUE",
        order: "ROUTINE_NAME",
    },
    Kind {
        table: "PARAMETERS",
        schema: "SPECIFIC_SCHEMA",
        columns: "SPECIFIC_NAME, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER, ORDINAL_POSITION",
        filter: "ORDINAL_POSITION > 0",
        order: "ORDINAL_POSITION",
    },
];

/// Which schemas a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// All of them.
    All,
    /// All of a person's own, if they are small.
    Small,
    /// The one that was chosen.
    Chosen,
}

impl Kind {
    fn condition(&self, reach: Reach) -> String {
        let Self { schema, filter, .. } = self;
        match reach {
            Reach::All => (*filter).to_owned(),
            // A variable alone decides: where it says no, the server does not look into any schema.
            Reach::Small => format!("@sheaf_own <= {CATALOG_RELATIONS_AT_ONCE} AND {schema} {OWN} AND {filter}"),
            Reach::Chosen => format!("{schema} = @sheaf_schema AND {filter}"),
        }
    }

    fn rows(&self, reach: Reach) -> String {
        let (Self { table, schema, columns, order, .. }, condition) = (self, self.condition(reach));
        format!("SELECT {schema}, {columns} FROM information_schema.{table} WHERE {condition} ORDER BY {order}")
    }

    /// The same that [`assemble::Sum`] makes of the rows.
    fn sum(&self, reach: Reach) -> String {
        let (Self { table, schema, columns, .. }, condition) = (self, self.condition(reach));
        format!(
            "SELECT CAST({schema} AS BINARY), COUNT(*), \
                BIT_XOR(CAST(CONV(LEFT(SHA2(CONCAT_WS(0x1f, {schema}, {columns}), 256), 16), 16, 10) AS UNSIGNED)) \
            FROM information_schema.{table} WHERE {condition} GROUP BY CAST({schema} AS BINARY)"
        )
    }
}

fn state() -> Question {
    (Topic::State, format!("SELECT DATABASE(), @sheaf_own := (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA {OWN})"))
}

fn schemas() -> Question {
    (Topic::Schema, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME".to_owned())
}

/// Which schemas there are, their relations by name, and what is in a small database.
pub fn at_first() -> Vec<Question> {
    let all = KINDS.iter().enumerate().map(|(at, kind)| (Topic::Of(at), kind.rows(Reach::Small)));
    [state(), schemas(), (Topic::Name, NAMES.rows(Reach::All))].into_iter().chain(all).collect()
}

/// Which schemas there are, what their names come to, and what all that is in a small database does.
pub fn for_versions() -> Vec<Question> {
    let sums = KINDS.iter().enumerate().map(|(at, kind)| (Topic::Sum(at), kind.sum(Reach::Small)));
    [state(), schemas(), (Topic::NameSum, NAMES.sum(Reach::All))].into_iter().chain(sums).collect()
}

/// The database in use, and which schemas there are.
pub fn about_the_session() -> Vec<Question> {
    vec![(Topic::State, "SELECT DATABASE()".to_owned()), schemas()]
}

/// The relations of the schema that was chosen, by name.
pub fn names_of_chosen() -> Vec<Question> {
    vec![(Topic::Name, NAMES.rows(Reach::Chosen))]
}

/// What is in the schema that was chosen.
pub fn all_of_chosen() -> Vec<Question> {
    KINDS.iter().enumerate().map(|(at, kind)| (Topic::Of(at), kind.rows(Reach::Chosen))).collect()
}

/// What that comes to.
pub fn sums_of_chosen() -> Vec<Question> {
    KINDS.iter().enumerate().map(|(at, kind)| (Topic::Sum(at), kind.sum(Reach::Chosen))).collect()
}
