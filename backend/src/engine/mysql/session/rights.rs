//! Whether a read-only connection can hold: a transaction that refuses writes does not stop whoever may write files, end the server or
//! look into other sessions.
//! Source: MySQL documentation, "Privileges Provided by MySQL", "SHOW GRANTS Statement"; MariaDB documentation, "SHOW GRANTS", "Roles".
//!
//! Invariant: it is asked before a session of a read-only connection is lent, of the user and of every role that the user could take on
//! within the session; where the server does not answer, the connection is refused.

use super::MysqlSession;
use crate::engine::EngineError;
use shared::problem::ErrorCode;

/// Rights that reach past a read-only transaction, and the one that holds them all.
const TOO_MUCH: [&str; 6] = ["ALL PRIVILEGES", "FILE", "SUPER", "PROCESS", "SHUTDOWN", "SYSTEM_USER"];
/// Roles that are looked at; who has more is refused.
const ROLES_MAX: usize = 200;

/// What was found so far.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    rights: Vec<&'static str>,
    /// As the server quotes them.
    roles: Vec<String>,
}

impl Found {
    /// Takes one line of SHOW GRANTS.
    fn take(&mut self, line: &str) {
        let Some(granted) = line.strip_prefix("GRANT ") else { return };
        if granted.starts_with(['`', '\'', '"']) {
            let roles = granted.rsplit_once(" TO ").map_or(granted, |(roles, _)| roles);
            for role in names(roles) {
                if !self.roles.iter().any(|known| known == role) {
                    self.roles.push(role.to_owned());
                }
            }
        } else if let Some((rights, _)) = granted.split_once(" ON *.* TO ") {
            let held = rights.split(',').map(str::trim);
            for right in held.filter_map(|held| TOO_MUCH.iter().find(|right| right.eq_ignore_ascii_case(held))) {
                if !self.rights.contains(right) {
                    self.rights.push(right);
                }
            }
        }
    }
}

/// Names at commas outside of quotes.
fn names(list: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    list.split(move |c: char| {
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '`' | '\'' | '"') => quote = Some(c),
            _ => {}
        }
        c == ',' && quote.is_none()
    })
    .map(str::trim)
    .filter(|name| !name.is_empty())
}

impl MysqlSession {
    /// Refuses a user for whom "read only" is a word and no more. What the session has set goes in the flight of the question.
    pub(super) async fn check_rights(&mut self, settings: &[&str]) -> Result<(), EngineError> {
        let mut found = Found::default();
        self.look_at_grants(&[settings, &["SHOW GRANTS"]].concat(), &mut found).await?;
        if self.server.starts_with("MariaDB") {
            self.look_at_each_role(&mut found).await?;
        } else if !found.roles.is_empty() {
            // With roles, and with those that they bring.
            let roles = found.roles.join(", ");
            self.look_at_grants(&[&format!("SHOW GRANTS FOR CURRENT_USER() USING {roles}")], &mut found).await?;
        }
        if found.roles.len() > ROLES_MAX {
            return Err(refused(&format!("this one has more than {ROLES_MAX} roles")));
        }
        match found.rights.as_slice() {
            [] => Ok(()),
            rights => Err(refused(&format!("this one has {}", rights.join(", ")))),
        }
    }

    /// MariaDB tells what a role brings, and the roles of that role, to whom has taken it on. Only one at a time can be.
    async fn look_at_each_role(&mut self, found: &mut Found) -> Result<(), EngineError> {
        let roles: Vec<String> = found.roles.iter().take(ROLES_MAX).cloned().collect();
        if roles.is_empty() {
            return Ok(());
        }
        let mut usual = None;
        self.ask(&["SELECT CURRENT_ROLE()"], &mut |_, row| usual = row.into_iter().next().flatten()).await?;
        for role in roles {
            // One that can't be taken on brings nothing: such are the roles of roles.
            match self.ask(&[&format!("SET ROLE {role}")], &mut |_, _| {}).await {
                Ok(()) => self.look_at_grants(&["SHOW GRANTS"], found).await?,
                Err(error) if self.broken => return Err(error),
                Err(_) => {}
            }
        }
        let usual = usual.map_or_else(|| "NONE".to_owned(), |role| format!("`{}`", role.replace('`', "``")));
        self.ask(&[&format!("SET ROLE {usual}")], &mut |_, _| {}).await
    }

    async fn look_at_grants(&mut self, questions: &[&str], found: &mut Found) -> Result<(), EngineError> {
        let asked = self.ask(questions, &mut |_, row| row.iter().flatten().for_each(|line| found.take(line))).await;
        asked.map_err(|error| match self.broken {
            true => error,
            false => refused(&format!("the server does not tell this one's rights: {}", error.problem.message)),
        })
    }
}

fn refused(why: &str) -> EngineError {
    EngineError::not_sent(ErrorCode::ReadOnlyRefused, format!("A read-only connection needs a user who can't get around it, and {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Found {
        let mut found = Found::default();
        lines.iter().for_each(|line| found.take(line));
        found
    }

    #[test]
    fn only_rights_over_all_databases_count() {
        let lines = [
            "GRANT SELECT, FILE, SUPER ON *.* TO `ann`@`%` IDENTIFIED BY PASSWORD '*1' WITH GRANT OPTION",
            "GRANT SYSTEM_USER,BACKUP_ADMIN ON *.* TO `ann`@`%`",
            "GRANT ALL PRIVILEGES ON `FILE ON x`.* TO `ann`@`%`",
            "REVOKE SHUTDOWN ON *.* FROM `ann`@`%`",
            "SET DEFAULT ROLE `SUPER` FOR `ann`@`%`",
        ];
        assert_eq!(found(&lines).rights, ["FILE", "SUPER", "SYSTEM_USER"]);
        assert_eq!(found(&["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost`"]).rights, ["ALL PRIVILEGES"]);
        assert_eq!(found(&["GRANT SELECT (`a`, `b`) ON `shop`.`FILE` TO `ann`@`%`", "GRANT USAGE ON *.* TO `ann`@`%`"]), Found::default());
    }

    #[test]
    fn roles_are_named_as_the_server_quotes_them() {
        let lines =
            ["GRANT `reader`@`%`,`odd, TO ``one`@`%` TO `ann`@`%`", "GRANT `clerk` TO `ann`@`%` WITH ADMIN OPTION", "GRANT `clerk` TO `x`"];
        assert_eq!(found(&lines).roles, ["`reader`@`%`", "`odd, TO ``one`@`%`", "`clerk`"]);
        assert!(found(&lines).rights.is_empty());
    }
}
