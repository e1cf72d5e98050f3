//! Signing in: the launch code of the address, or the bearer that was kept.
//!
//! Invariant: the code leaves the address before anything else happens, and goes nowhere but to the sign-in route.

use crate::api::{self, storage};
use shared::problem::{ErrorCode, Problem};

const BEARER: &str = "sheaf.bearer";

/// Where the page stands with its server.
#[derive(Clone, Debug, PartialEq)]
pub enum SignIn {
    /// A code is being traded.
    Coming,
    /// A bearer is held.
    Done,
    /// None, or a refused one, with the reason.
    Needed(Option<String>),
}

/// Takes the code out of the address.
pub fn take_launch_code() -> Option<String> {
    let window = web_sys::window()?;
    let fragment = window.location().hash().ok()?;
    let code = launch_code(&fragment)?;
    let clean = format!("{}{}", window.location().pathname().ok()?, window.location().search().ok()?);
    let _ = window.history().ok()?.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&clean));
    Some(code)
}

/// The code in a fragment, or in a whole launch line that a person pasted.
pub fn launch_code(text: &str) -> Option<String> {
    let (_, code) = text.split_once("launch=")?;
    let code: String = code.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    (!code.is_empty()).then_some(code)
}

/// Signs in by a code if there is one, else by the bearer that was kept.
pub async fn sign_in(code: Option<String>) -> SignIn {
    let Some(code) = code else {
        return match storage::get(BEARER) {
            Some(bearer) => {
                api::set_bearer(Some(bearer));
                SignIn::Done
            }
            None => SignIn::Needed(None),
        };
    };
    match api::sign_in(&code).await {
        Ok(bearer) => {
            storage::set(BEARER, &bearer);
            api::set_bearer(Some(bearer));
            SignIn::Done
        }
        Err(problem) => match storage::get(BEARER) {
            // A used link in a browser that is signed in already, by the back button for one.
            Some(bearer) => {
                api::set_bearer(Some(bearer));
                SignIn::Done
            }
            None => SignIn::Needed(Some(reason(&problem))),
        },
    }
}

/// The server refused the bearer.
pub fn forget_bearer() {
    storage::remove(BEARER);
    api::set_bearer(None);
}

fn reason(problem: &Problem) -> String {
    match problem.code {
        ErrorCode::NotSignedIn => "This launch link was used before, or is too old".to_owned(),
        _ => problem.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_found_in_a_fragment_and_in_a_pasted_line() {
        assert_eq!(launch_code("#launch=ab-C_9").as_deref(), Some("ab-C_9"));
        assert_eq!(launch_code("Sheaf is ready: http://127.0.0.1:7432/#launch=xyz\n").as_deref(), Some("xyz"));
        assert_eq!(launch_code("#launch="), None);
        assert_eq!(launch_code("#other=1"), None);
    }
}
