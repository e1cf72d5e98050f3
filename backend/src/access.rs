//! Who may do what: the only maker of a [`Grant`], and the keeper of sign-ins.
//!
//! Invariant: a `Grant` is proof that [`authorize`] said yes to one principal, one action and one thing; nothing else makes one.
//! Knows no HTTP and no store. Start at [`authorize`].

pub mod launch;
pub mod pace;
pub mod secret;
pub mod sign_ins;
pub mod throttle;

/// Who a request acts as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Principal {
    /// The person at this machine, signed in by the launch code.
    LocalOwner,
}

/// What a request wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// See the connections, their catalogs.
    Browse,
    /// Make, change, delete, test a connection.
    Manage,
    /// Run statements and read the results of one's own runs.
    Run,
}

/// Proof that `principal` may do `action`.
#[derive(Clone, Debug)]
pub struct Grant {
    principal: Principal,
    action: Action,
}

impl Grant {
    /// Whom it was given to.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// For what.
    pub fn action(&self) -> Action {
        self.action
    }
}

/// The one decision. In local mode the owner may do everything; nobody else has a principal.
pub fn authorize(principal: &Principal, action: Action) -> Grant {
    match principal {
        Principal::LocalOwner => Grant { principal: principal.clone(), action },
    }
}
