//! What a browser sees that is not signed in.

use crate::boot::{self, SignIn};
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;
use leptos::task::spawn_local;

/// The page.
#[component]
pub fn SignInPage(
    /// Where the page stands; set when a pasted link was good.
    sign_in: RwSignal<SignIn>,
) -> impl IntoView {
    let pasted = RwSignal::new(String::new());
    let fault = RwSignal::new(None::<&'static str>);
    let reason = move || match sign_in.get() {
        SignIn::Needed(reason) => reason,
        _ => None,
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(code) = boot::launch_code(&pasted.get_untracked()) else {
            fault.set(Some("That is not a launch link: it ends with #launch= and a code"));
            return;
        };
        fault.set(None);
        spawn_local(async move { sign_in.set(boot::sign_in(Some(code)).await) });
    };
    view! {
        <main class="sign-in">
            <form class="sign-in-card" on:submit=submit>
                <span class="sign-in-mark"><Icon glyph=Glyph::Sheaf /></span>
                <h1>"Sign in to Sheaf"</h1>
                {move || reason().map(|text| view! { <p class="fault" role="alert">{text}</p> })}
                <p class="sign-in-text">"This browser holds no key to this server. Run this in a terminal on the machine that serves Sheaf:"</p>
                <p class="sign-in-command"><code>"sheaf open"</code></p>
                <p class="sign-in-text">"It prints a link that signs in once: open it in this browser, or paste it here."</p>
                <div class="labelled">
                    <label for="launch-link">"Launch link"</label>
                    <input
                        id="launch-link"
                        class="field"
                        type="text"
                        autocomplete="off"
                        spellcheck="false"
                        placeholder="http://127.0.0.1:7432/#launch=…"
                        aria-invalid=move || fault.get().map(|_| "true")
                        aria-describedby="launch-fault"
                        prop:value=move || pasted.get()
                        on:input=move |event| pasted.set(event_target_value(&event))
                    />
                    <p id="launch-fault" class="fault">{move || fault.get()}</p>
                </div>
                <button type="submit" class="button primary" disabled=move || pasted.with(|text| text.trim().is_empty())>"Sign in"</button>
            </form>
        </main>
    }
}
