//! Every limit of Sheaf, with its reason. Each is tested at its edge.
//!
//! Source of the values: the design's security page, section 5.3 (local column).

/// Rows of a page unless the client tells otherwise: two screens of a tall monitor many times over, decoded in under 0.1 ms.
pub const PAGE_ROWS_DEFAULT: u32 = 1_000;
/// Rows of a page at most: a larger one holds up its first row.
pub const PAGE_ROWS_MAX: u32 = 10_000;
/// Bytes of values after which page 0 ends early; the rows it then has become the run's page size.
pub const PAGE_BYTES_TARGET: usize = 1024 * 1024;
/// Bytes of one encoded page, never more: past this its long cells are cut.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of one cell in a page; the rest is fetched on its own.
pub const CELL_BYTES_IN_PAGE: usize = 64 * 1024;
/// Bytes of one whole cell on demand.
pub const CELL_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Runs of offsets that a column of instants in a page has at most: the list is looked through for each cell that is painted. 64 are 32
/// years of summer times; a page of more has the texts.
pub const OFFSET_RUNS_MAX: usize = 64;
/// Columns of a result.
pub const COLUMNS_MAX: usize = 4_096;
/// Bytes of a request body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of one statement's text.
pub const SQL_BYTES_MAX: usize = 512 * 1024;
/// Parameters of one statement: as many as a column list may have is more than a person fills in; the databases take 32,766 and more.
pub const PARAMETERS_MAX: usize = 1_000;
/// Bytes of all values of one statement's parameters, as text.
pub const PARAMETER_BYTES_MAX: usize = 512 * 1024;
/// Pages read ahead of the one that was asked for.
pub const READ_AHEAD_PAGES: u32 = 4;
/// Seconds without a request after which a paused result lets go of its database session.
pub const PARKED_SECONDS_MAX: u64 = 60;
/// Milliseconds for which the answer with a small result waits to know whether its statement has another: few procedures pause between
/// two results, and the answer to one that does not is then as certain as that to any other statement.
pub const FURTHER_WAIT_MILLIS: u64 = 100;
/// Milliseconds for which the answer with a whole result waits for the end of its query: a server nearby has ended it by then, and from a far
/// one the rows are not held back for another round trip.
pub const END_WAIT_MILLIS: u64 = 5;
/// Seconds for which a page that was loaded anew waits for the end of the event stream it had before: that is told by the network, which may
/// come later than the new page's requests.
pub const FORMER_WINDOW_SECONDS_MAX: u64 = 2;
/// Seconds a run lives after the event stream of its window ended.
pub const LEASE_SECONDS: u64 = 30;
/// Seconds a run of no window (a script's) lives after its last request.
pub const RUN_IDLE_SECONDS: u64 = 30 * 60;
/// Seconds a cancelled statement may take to become idle before its socket is closed.
pub const CANCEL_GRACE_SECONDS: u64 = 5;
/// Bytes of pages kept in memory for one run; what is over goes to a file.
pub const SPOOL_MEMORY_PER_RUN: usize = 8 * 1024 * 1024;
/// Bytes of pages kept in memory for all runs.
pub const SPOOL_MEMORY_ALL: usize = 64 * 1024 * 1024;
/// Bytes of pages one run may keep in memory and on disk.
pub const SPOOL_BYTES_PER_RUN: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes of pages of all runs on disk.
pub const SPOOL_BYTES_ALL: u64 = 20 * 1024 * 1024 * 1024;
/// Bytes that stay free on the disk: past this the spool refuses, so that the rest of the machine goes on.
pub const DISK_FREE_MIN: u64 = 1024 * 1024 * 1024;
/// Bytes one read of the engine brings after page 0: a page of usual rows in one go, and a bound where rows suddenly grow.
pub const FETCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Notices kept of one run; a statement may raise them by the million.
pub const NOTICES_MAX: usize = 1_000;
/// Bytes of the notices kept of one run: each report of the event stream carries them all.
pub const NOTICE_BYTES_MAX: usize = 1024 * 1024;
/// Seconds an idle session stays in the pool.
pub const SESSION_IDLE_SECONDS: u64 = 5 * 60;
/// Seconds of rest after which a session is asked for a sign of life before a statement is sent: paths die while nobody looks.
pub const SESSION_CHECK_SECONDS: u64 = 30;
/// Seconds it has for that: many round trips of any network.
pub const SESSION_ANSWER_SECONDS_MAX: u64 = 5;
/// Ids of closed runs that are remembered, to say `gone` rather than `not_found`.
pub const RUNS_REMEMBERED: usize = 10_000;
/// Runs of one principal that are kept, active or read: the oldest finished one makes room.
pub const RUNS_KEPT_MAX: usize = 1_000;
/// Results with rows that one console holds open: each keeps its first page (a MiB at most) in the browser, and its pages in the spool.
/// More is no list that a person looks through; twenty consoles of so many reach [`RUNS_KEPT_MAX`].
pub const RESULTS_PER_CONSOLE_MAX: usize = 50;
/// Results of one statement that are given, one after the other; a procedure with a loop in it may have thousands. The console shows the
/// newest [`RESULTS_PER_CONSOLE_MAX`]; each is a run, and the statement is run to its end whatever is shown of it.
pub const RESULTS_PER_STATEMENT_MAX: u32 = 200;
/// Runs of one principal that are active at once.
pub const RUNS_ACTIVE_MAX: usize = 16;
/// Sessions open to one target.
pub const SESSIONS_PER_TARGET: usize = 8;
/// Seconds for which a launch code is good.
pub const LAUNCH_CODE_SECONDS: u64 = 120;
/// Seconds to open a connection to a database.
pub const CONNECT_SECONDS_MAX: u64 = 10;
/// Seconds for which saving a read-only connection waits for its server to tell who would sign in.
pub const SAVE_CHECK_SECONDS_MAX: u64 = 5;
/// Seconds for a request's headers to arrive.
pub const HEADER_SECONDS_MAX: u64 = 10;
/// Bytes of a request's headers.
pub const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a request's address.
pub const URI_BYTES_MAX: usize = 8 * 1024;
/// Seconds for a request's body to arrive.
pub const BODY_SECONDS_MAX: u64 = 30;
/// Seconds an idle connection of a client is kept.
pub const KEEP_ALIVE_SECONDS: u64 = 75;
/// Connections of clients at once. (Per address there is no limit of its own: in local mode every client has the same one.)
pub const CLIENT_CONNECTIONS_MAX: usize = 1_024;
/// Bytes of a browser's report about the content security policy.
pub const REPORT_BYTES_MAX: usize = 16 * 1024;
/// Requests of one principal a second, after a burst: many times what a person's hands do, and an end to a script that runs wild.
pub const REQUESTS_PER_SECOND: u32 = 20;
/// Requests of one principal at once: a window with dozens of consoles opens without waiting.
pub const REQUESTS_BURST: u32 = 100;
/// Statements, pages and cells of one principal a second, after a burst: more than a screen shows, and a script of a thousand statements in seconds.
pub const PAGES_PER_SECOND: u32 = 100;
/// Statements, pages and cells of one principal at once.
pub const PAGES_BURST: u32 = 300;
/// Milliseconds a request that is too early is held before it is refused instead: a client with few requests on their way is slowed, not stopped.
pub const PACE_WAIT_MILLIS_MAX: u64 = 1_000;
/// Tables and views up to which a database is told whole at once; of a larger one the names, and the contents of a schema to whoever
/// asks for it. So many take less than a tenth of a second to read, and a megabyte to send.
pub const CATALOG_RELATIONS_AT_ONCE: usize = 1_000;
/// Schemas whose contents one question may ask for: more are asked for in several.
pub const CATALOG_SCHEMAS_ASKED_MAX: usize = 100;
