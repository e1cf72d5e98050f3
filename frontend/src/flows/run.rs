//! One run after another in a console: sent, answered, shown, told ([`tell`]).

mod left;
mod tell;

use super::{browse, listen, now_ms, sessions};
use crate::api::{self, RunAnswer, Told, names};
use crate::state::Workbench;
use crate::state::consoles::Console;
use crate::state::dialogs::Dialog;
use crate::state::layout::Half;
use crate::state::messages::Kind;
use crate::state::parameters::Asked;
use crate::state::result::{Outcome, Running, Shown, first_status};
use crate::state::results::{self, Body, Part, Tab};
use crate::state::script::{Score, Stop};
use crate::state::words;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;
use serde_json::value::to_raw_value;
use shared::ids::{ConnectionId, RunId};
use shared::problem::{ErrorCode, Problem};
use shared::wire::run::{RunState, RunStatus, StartRun};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

pub use left::{say_what_was_left, set_leaving};
pub use tell::{say, say_end, say_notices};

/// A statement that has answered by then never says that it runs: less than this is seen as at once.
const SHOW_AFTER: Duration = Duration::from_millis(100);

/// Runs statements of `text`, given by their places in bytes, until one fails. Where they have parameters, their values are asked for first.
pub fn start(w: Workbench, console: Console, text: Arc<str>, statements: Vec<Range<usize>>) {
    if console.slot.is_working() || statements.is_empty() {
        return;
    }
    let Some(connection) = console.connection.get_untracked() else {
        say(console, Kind::Error, "This console has no connection: choose one above the text", None);
        return;
    };
    let engine = w.connections.engine(Some(&connection));
    match Asked::of(&console.name(), &text, &statements, engine) {
        Some(asked) => w.dialogs.show(Dialog::Parameters(asked)),
        None => run_each(w, console, connection, text, statements.into_iter().map(|range| (range, Vec::new())).collect(), None),
    }
}

/// Runs statements with the values that were asked for.
pub fn start_with(w: Workbench, asked: &Asked, values: Vec<Vec<Value>>) {
    let console = w.consoles.list.with_untracked(|all| all.iter().find(|one| one.name().to_string() == asked.console).copied());
    let Some((console, connection)) = console.and_then(|console| Some((console, console.connection.get_untracked()?))) else { return };
    if !console.slot.is_working() {
        let statements = asked.statements.iter().cloned().zip(values).collect();
        run_each(w, console, connection, asked.text.clone(), statements, Some(asked.clone()));
    }
}

/// Statements of a text, by their places in bytes, and the values of each; `asked` is what these were asked by.
fn run_each(
    w: Workbench,
    console: Console,
    connection: ConnectionId,
    text: Arc<str>,
    statements: Vec<(Range<usize>, Vec<Value>)>,
    asked: Option<Asked>,
) {
    console.slot.mark.set(None);
    let (run, started_ms, mut score) = (console.slot.begin_run(), now_ms(), Score::new(statements.len()));
    spawn_local(async move {
        let mut reason = None;
        for (at, (range, params)) in statements.into_iter().enumerate() {
            left::keep(console, score.of - at - 1);
            let part = Part { run, number: at + 1, of: score.of, result: 1 };
            match one(w, console, &connection, Sent { text: text.clone(), range, part, since_ms: started_ms }, params).await {
                Ok(()) => score.done += 1,
                Err(Ended { problem, cancelled }) => {
                    score.failed += usize::from(!cancelled);
                    ask_again(w, asked.as_ref(), at, &problem);
                    score.stop = Stop::after(&problem, cancelled, w.past_errors.get_untracked());
                    reason = (!cancelled).then_some(problem.message);
                }
            }
            if score.stop.is_some() {
                break;
            }
        }
        left::keep(console, 0);
        if score.of > 1 {
            tell::closed(console, &score, now_ms() - started_ms, reason);
        }
        rest(console);
        follow_definitions(w, console, &connection);
    });
}

/// Asks anew for the values of statements of which one was refused for its value: the form marks it.
fn ask_again(w: Workbench, asked: Option<&Asked>, statement: usize, problem: &Problem) {
    let Some(asked) = asked else { return };
    let entered = |name: &str| w.entered.with_value(|all| all.get(name).cloned()).unwrap_or_default();
    if let Some(refused) = asked.refused(statement, problem, entered) {
        w.dialogs.show(Dialog::Parameters(Asked { refused: Some(refused), ..asked.clone() }));
    }
}

/// A statement on its way.
struct Sent {
    /// The text it is part of.
    text: Arc<str>,
    /// Its place there, in bytes; empty for one that is no part of the console's text.
    range: Range<usize>,
    part: Part,
    /// When the whole that it is part of began, in the page's clock.
    since_ms: f64,
}

impl Sent {
    /// The statement.
    fn sql(&self) -> &str {
        if self.range.is_empty() { &self.text } else { self.text.get(self.range.clone()).unwrap_or_default() }
    }
}

/// A statement that did not end well.
struct Ended {
    problem: Problem,
    /// It was stopped on request.
    cancelled: bool,
}

/// Says that there was nothing to run in the text, or in what was selected of it.
pub fn nothing(console: Console, selected: bool) {
    let what = if selected { "the selection holds no statement" } else { "the text holds no statement" };
    say(console, Kind::Notice, &format!("Nothing to run: {what}"), None);
}

/// Runs a statement that is not part of the text, `COMMIT` for one.
pub fn start_apart(w: Workbench, console: Console, sql: &'static str) {
    let Some(connection) = console.connection.get_untracked() else { return };
    if console.slot.is_working() {
        return;
    }
    spawn_local(async move {
        apart_on(w, console, &connection, sql).await;
    });
}

/// Runs such a statement to its end; false where it failed or could not be sent.
pub async fn apart(w: Workbench, console: Console, sql: &'static str) -> bool {
    let Some(connection) = console.connection.get_untracked() else { return false };
    !console.slot.is_working() && apart_on(w, console, &connection, sql).await
}

async fn apart_on(w: Workbench, console: Console, connection: &ConnectionId, sql: &'static str) -> bool {
    let part = Part { run: console.slot.begin_run(), number: 1, of: 1, result: 1 };
    let done = one(w, console, connection, Sent { text: sql.into(), range: 0..0, part, since_ms: now_ms() }, Vec::new()).await;
    rest(console);
    follow_definitions(w, console, connection);
    done.is_ok()
}

/// Shows a statement that runs since before the page was loaded anew, and then what it gives.
pub fn take_over(w: Workbench, console: Console, connection: ConnectionId, status: RunStatus, sql: String) {
    let RunStatus { id, token: Some(token), elapsed_ms, .. } = status else { return };
    let (part, since_ms) = (Part { run: console.slot.begin_run(), number: 1, of: 1, result: 1 }, now_ms() - elapsed_ms);
    w.runs.expect(token.clone(), console);
    work(console, Running { token: token.clone(), range: (0, 0), started_ms: since_ms, cancelling: false, part: None });
    spawn_local(async move {
        let sent = Sent { text: sql.into(), range: 0..0, part, since_ms };
        let answer = api::answer_of(&id).await;
        let _ = answered(w, console, &connection, sent, (&token, since_ms), answer).await;
        rest(console);
        follow_definitions(w, console, &connection);
    });
}

/// Stops what runs in the console, or the reading of its result.
pub fn cancel(console: Console) {
    let token = console.slot.in_hand.with_value(|running| running.as_ref().map(|running| running.token.clone()));
    let run = if untrack(|| console.slot.reading()) {
        console.slot.result.with_untracked(|shown| shown.as_ref().map(|shown| shown.id.clone()))
    } else {
        None
    };
    if token.is_some() {
        console.slot.in_hand.update_value(|running| {
            if let Some(running) = running {
                running.cancelling = true;
            }
        });
        console.slot.show_work();
    }
    spawn_local(async move {
        let asked = match (token, run) {
            (Some(token), _) => api::cancel_token(&token).await,
            (None, Some(run)) => api::cancel(&run).await,
            (None, None) => Ok(()),
        };
        if let Err(problem) = asked
            && problem.code != ErrorCode::NotFound
        {
            say(console, Kind::Error, "Cancel did not reach the server", Some(problem.message));
        }
    });
}

/// Reads the rest of the shown result.
pub fn read_to_end(w: Workbench, console: Console) {
    let Some(run) = console.slot.result.with_untracked(|shown| shown.as_ref().map(|shown| shown.id.clone())) else { return };
    spawn_local(async move {
        if let Err(problem) = api::read_to_end(&run).await {
            if problem.code == ErrorCode::Gone {
                return listen::closed(w, &run, &problem);
            }
            say(console, Kind::Error, "The rest of the result could not be read", Some(problem.message));
        }
    });
}

/// A statement is sent; what takes long enough to be seen is shown.
fn work(console: Console, running: Running) {
    let token = running.token.clone();
    console.slot.in_hand.set_value(Some(running));
    if console.slot.running.with_untracked(Option::is_some) {
        console.slot.show_work();
        return;
    }
    set_timeout(
        move || {
            let in_hand = console.slot.in_hand.try_with_value(|running| running.as_ref().is_some_and(|running| running.token == token));
            if in_hand == Some(true) {
                console.slot.show_work();
            }
        },
        SHOW_AFTER,
    );
}

/// Nothing is sent any more.
fn rest(console: Console) {
    console.slot.in_hand.set_value(None);
    if console.slot.running.with_untracked(Option::is_some) {
        console.slot.running.set(None);
    }
    // No rows will come to take the focus that waits for them.
    if !untrack(|| console.slot.shows_last()) && console.rows_wanted.get_value() {
        console.rows_wanted.set_value(false);
        if let Some(editor) = console.editor.get_untracked() {
            editor.focus.run(());
        }
    }
}

fn unwritten(error: serde_json::Error) -> Ended {
    Ended { problem: Problem::new(ErrorCode::Internal, format!("A value could not be written: {error}")), cancelled: false }
}

/// One statement, with all its results.
async fn one(w: Workbench, console: Console, connection: &ConnectionId, sent: Sent, params: Vec<Value>) -> Result<(), Ended> {
    let params = params.iter().map(to_raw_value).collect::<Result<_, _>>().map_err(unwritten)?;
    let token = names::fresh();
    let started_ms = now_ms();
    let part = sent.part.is_of_script().then_some((sent.part.number, sent.part.of));
    let range = (sent.range.start, sent.range.end);
    w.runs.expect(token.clone(), console);
    work(console, Running { token: token.clone(), range, started_ms: sent.since_ms, cancelling: false, part });
    console.is_used.set_value(true);
    let shown = console.slot.transaction.get_untracked();
    let mut request = StartRun {
        connection: connection.clone(),
        session: Some(console.session.get_untracked()),
        sql: sent.sql().to_owned(),
        params,
        page_rows: None,
        window: Some(w.window.get_value()),
        token: Some(token.clone()),
        transaction: console.mode.get_untracked(),
    };
    let mut answer = api::start_run(&request).await;
    if answer.as_ref().is_err_and(|problem| problem.code == ErrorCode::Elsewhere) {
        answer = match sessions::settle_for(w, console, connection, shown).await {
            Ok(session) => {
                request.session = Some(session);
                api::start_run(&request).await
            }
            Err(problem) => Err(problem),
        };
    }
    answered(w, console, connection, sent, (&token, started_ms), answer).await
}

/// What a statement gives, shown and told: its first result, and all that follow it.
async fn answered(
    w: Workbench,
    console: Console,
    connection: &ConnectionId,
    mut sent: Sent,
    (token, started_ms): (&str, f64),
    mut answer: Result<RunAnswer, Problem>,
) -> Result<(), Ended> {
    let end = loop {
        console.slot.elapsed_ms.set(Some(now_ms() - started_ms));
        let given = match answer {
            Ok(given) => given,
            Err(problem) => break Err(problem),
        };
        let mut result = shown(w, console, connection, (&sent, token), given);
        if let Err(problem) = ended(w, console, &sent, &mut result).await {
            break Err(problem);
        }
        let next = if result.told.further { Some(api::next_result(&result.id).await) } else { None };
        // A statement that only might have had another result has ended with this one.
        let is_last = next.as_ref().is_none_or(|next| next.as_ref().is_err_and(|problem| problem.code == ErrorCode::PastTheEnd));
        succeeded(w, console, &sent, &mut result, is_last).await;
        match next {
            Some(next) if !is_last => answer = next,
            _ => break Ok(()),
        }
        sent.part.result += 1;
    };
    if let Err(problem) = end {
        let asked = console.slot.in_hand.with_value(|running| running.as_ref().is_some_and(|running| running.cancelling));
        let cancelled = asked || problem.code == ErrorCode::Cancelled;
        tell::failed(w, console, &sent, &problem, cancelled);
        return Err(Ended { problem, cancelled });
    }
    if sent.part.result > 1 {
        console.slot.elapsed_ms.set(Some(now_ms() - started_ms));
    }
    // What is not known may have defined something.
    if sent.sql().is_empty() || words::changes_catalog(sent.sql(), w.connections.engine(Some(connection))) {
        console.slot.defined.set_value(true);
    }
    Ok(())
}

/// A result that can be looked at.
struct Given {
    id: RunId,
    /// Where it stands, if it has rows.
    status: Option<ArcRwSignal<RunStatus>>,
    told: Told,
}

/// Shows a result as soon as it is there.
fn shown(w: Workbench, console: Console, connection: &ConnectionId, (sent, token): (&Sent, &str), answer: RunAnswer) -> Given {
    let result = match answer {
        RunAnswer::Rows { id, page_rows, state, total_rows, batch, told } => {
            let status = ArcRwSignal::new(first_status(id.clone(), state, page_rows, total_rows, &batch));
            w.runs.add(id.clone(), token, status.clone(), console);
            let (connection, sql) = (connection.clone(), sent.sql().into());
            let shown = Shown { id: id.clone(), connection, page_rows, first_page: batch.into(), status: status.clone(), sql };
            // Before its rows: whoever looks at them sees whose they are.
            console.slot.outcome.set(Some(Outcome::Rows));
            add_tab(w, console, sent, Body::Rows(shown));
            w.layout.half.set(Half::Result);
            if !sent.part.is_of_script() {
                console.messages.shown.set(false);
            }
            Given { id, status: Some(status), told }
        }
        RunAnswer::NoRows { id, told } => {
            if !sent.part.is_of_script() {
                console.messages.shown.set(true);
                console.slot.outcome.set(Some(Outcome::NoRows(changed(&told))));
            }
            Given { id, status: None, told }
        }
    };
    console.slot.newest.set_value(Some(result.id.clone()));
    result
}

/// Waits for the end of a query whose rows are shown already. Where it is refused, nothing of it happened: the rows are taken back.
async fn ended(w: Workbench, console: Console, sent: &Sent, result: &mut Given) -> Result<(), Problem> {
    if !result.told.ending {
        return Ok(());
    }
    let news = api::settled(&result.id).await?;
    if news.state != RunState::Done {
        if let Some(shown) = console.slot.drop_tab(sent.part.key()) {
            close_run(w, shown.id);
        }
        let problem = news.problem.unwrap_or_else(|| Problem::new(ErrorCode::Cancelled, "The statement was cancelled"));
        return Err(Problem { transaction: Some(news.transaction), ..problem });
    }
    let told = &mut result.told;
    (told.elapsed_ms, told.transaction, told.is_all) = (Some(news.elapsed_ms), Some(news.transaction), true);
    listen::take_in(w, news);
    Ok(())
}

/// What a statement without rows came to.
fn changed(told: &Told) -> String {
    told.rows_affected.map_or_else(|| "Done".to_owned(), |rows| format!("{} changed", words::rows(rows)))
}

/// Tells what a result came to.
async fn succeeded(w: Workbench, console: Console, sent: &Sent, result: &mut Given, is_last: bool) {
    let Given { id, status, told } = result;
    // What it came to was not known yet when it was first shown.
    let is_later_known =
        told.further && (is_last || status.as_ref().is_some_and(|status| status.with_untracked(|one| one.total_rows.is_none())));
    if (is_later_known || !told.is_all)
        && let Ok(news) = api::run_status(id).await
    {
        told.elapsed_ms = Some(news.elapsed_ms);
        told.transaction = Some(news.transaction);
        told.rows_affected = news.rows_affected;
        listen::take_in(w, news);
    }
    if let Some(transaction) = told.transaction {
        console.slot.transaction.set(transaction);
    }
    if told.elapsed_ms.is_some() {
        console.slot.elapsed_ms.set(told.elapsed_ms);
    }
    let what = match status {
        Some(status) => {
            let rows = status.with_untracked(words::rows_of);
            told.rows_affected
                .filter(|rows| *rows > 0)
                .map_or(rows.clone(), |changed| format!("{rows}, {} changed", words::grouped(changed)))
        }
        None => changed(told),
    };
    tell::done(console, sent, &what, told);
    if status.is_none() && !told.is_all {
        // What it said is told: the server need not keep it.
        let id = id.clone();
        spawn_local(async move {
            let _ = api::close(&id).await;
        });
    }
}

/// Follows what was defined, once all that was to run has run, and no transaction hides it from others.
fn follow_definitions(w: Workbench, console: Console, connection: &ConnectionId) {
    if console.slot.defined.get_value() && !console.slot.transaction.get_untracked().is_open() {
        console.slot.defined.set_value(false);
        browse::refresh_catalog(w, connection);
    }
}

/// Adds what a statement gave to what can be looked at; results that end with that are closed.
fn add_tab(w: Workbench, console: Console, sent: &Sent, body: Body) {
    let engine = untrack(|| w.connections.engine(console.connection.get().as_ref()));
    let tab =
        Tab { key: sent.part.key(), part: sent.part.clone(), label: words::subject(sent.sql(), engine), sql: sent.sql().into(), body };
    for ended in console.slot.add_tab(tab) {
        close_run(w, ended.id);
    }
}

/// Shows one of the results; a failed one at its place in the text, too.
pub fn show_result(console: Console, key: u64) {
    console.slot.chosen.set_value(true);
    console.slot.show_tab(Some(key));
    let body = console.slot.tabs.with_untracked(|tabs| tabs.iter().find(|tab| tab.key == key).map(|tab| tab.body.clone()));
    if !matches!(body, Some(Body::Rows(_))) {
        console.grid.set(None);
    }
    if let Some(Body::Failed(failure)) = body {
        console.slot.mark.set(failure.mark.clone());
    }
}

/// Shows the result `by` places further.
pub fn step_result(console: Console, by: isize) {
    let selected = console.slot.tab.get_untracked();
    if let Some(next) = console.slot.tabs.with_untracked(|tabs| results::step(tabs, selected, by)) {
        show_result(console, next);
    }
}

/// Closes all results of a console.
pub async fn close_results(w: Workbench, console: Console) {
    let tabs = console.slot.tabs.try_update(std::mem::take).unwrap_or_default();
    console.slot.show_tab(None);
    for tab in tabs {
        if let Body::Rows(shown) = tab.body {
            w.runs.remove(&shown.id);
            let _ = api::close(&shown.id).await;
        }
    }
}

/// Its news are heard until it is closed: it may have to say what became of its statement.
fn close_run(w: Workbench, id: RunId) {
    spawn_local(async move {
        let _ = api::close(&id).await;
        w.runs.remove(&id);
    });
}
