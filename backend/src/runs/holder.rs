//! Which window has a console, and how another one gets it.
//!
//! Invariant: a console that a window has runs statements of that window alone, until the window is left and another one takes the
//! console over. So no two windows share a session without knowing.

use super::console::ConsoleKey;
use super::lease::WindowKey;
use super::registry::{Registry, is_under_way};
use super::state::GIVEN_UP_CLOSED;
use shared::wire::run::SessionStatus;
use std::sync::Arc;

impl Registry {
    /// That window has the console.
    pub fn lives_by(&self, key: &ConsoleKey, window: &WindowKey) -> bool {
        self.table().consoles.get(key).is_some_and(|console| console.window.as_ref() == Some(window))
    }

    /// A console and the run that is under way in it live by `window` from now on, unless another window has them that was not left.
    /// `former` is what `window` was itself before it was loaded anew. `None` where the console has no session.
    pub fn adopt(self: &Arc<Self>, key: &ConsoleKey, window: &WindowKey, former: Option<&WindowKey>) -> Option<SessionStatus> {
        let mut table = self.table();
        let console = table.consoles.get_mut(key)?;
        let transaction = console.transaction();
        if console.window.as_ref().is_some_and(|holder| holder != window && !self.gives_way(holder, former)) {
            return Some(SessionStatus { transaction: transaction.unwrap_or_default(), run: None, sql: None, elsewhere: true });
        }
        // Also where it has no session: its next statement is this window's to run.
        console.window = Some(window.clone());
        let run = console.current.upgrade().filter(|run| run.window().is_some() && is_under_way(run));
        let sql = run.as_ref().map(|_| console.sql.to_string());
        if run.is_some() {
            // With it the one before, where that has the session until its statement's next result is there.
            table.active.values().filter(|run| run.console.as_ref() == Some(key)).for_each(|run| run.pass_on(window));
        }
        drop(table);
        self.arm(window);
        Some(SessionStatus { transaction: transaction?, run: run.map(|run| run.status()), sql, elsewhere: false })
    }

    /// Nobody watches the window, and it is not only opening: what was loaded anew before it was watched is as good as left.
    fn gives_way(&self, holder: &WindowKey, former: Option<&WindowKey>) -> bool {
        self.windows.is_left(holder) || (former == Some(holder) && !self.windows.is_watched(holder))
    }

    /// A console was closed, in `window` where one is told: what another window has is left to it.
    pub async fn forget_session(self: &Arc<Self>, key: ConsoleKey, window: Option<WindowKey>) {
        let registry = self.clone();
        // On its own: the caller may vanish.
        let task = tokio::spawn(async move {
            let is_meant = |holder: Option<&WindowKey>| window.is_none() || holder.is_none() || holder == window.as_ref();
            registry.forget_consoles(|known, console| *known == key && is_meant(console.window.as_ref()), GIVEN_UP_CLOSED).await;
        });
        let _ = task.await;
    }
}
