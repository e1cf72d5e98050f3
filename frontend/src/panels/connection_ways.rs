//! The two sections of a connection to a server: TLS, and the way through SSH.

use super::connection_fields::{Choice, Field, Form, Pem, Section, Tick};
use super::connection_form::{Draft, Server};
use crate::ui::icon::{Glyph, Icon};
use leptos::prelude::*;
use shared::wire::connection::{SshMethod, TlsMode};
use shared::wire::secrets::SecretKind;

const MODES: &[(TlsMode, &str, &str)] = &[
    (TlsMode::VerifyName, "verify-name", "Encrypted; certificate and name verified"),
    (TlsMode::VerifyAuthority, "verify-authority", "Encrypted; certificate verified"),
    (TlsMode::Encrypt, "encrypt", "Encrypted; nothing verified"),
    (TlsMode::Off, "off", "Off: everything in the clear"),
];

const IN_TLS: &[&str] = &["tls", "tls.ca", "tls.certificate", "tls_key"];

/// How the link is encrypted, and who we are by a certificate.
#[component]
pub fn TlsSection(form: Form) -> impl IntoView {
    let verifies = move || form.draft.with(|draft| matches!(draft.tls, TlsMode::VerifyName | TlsMode::VerifyAuthority));
    let is_on = move || form.draft.with(|draft| draft.tls != TlsMode::Off);
    let says = move || {
        form.draft.with(|draft| {
            let mode = match draft.tls {
                TlsMode::VerifyName => "Certificate and name verified",
                TlsMode::VerifyAuthority => "Certificate verified",
                TlsMode::Encrypt => "Nothing verified",
                TlsMode::Off => "Off",
            };
            let client = draft.tls != TlsMode::Off && !draft.certificate.trim().is_empty();
            if client { format!("{mode} · client certificate") } else { mode.to_owned() }
        })
    };
    let key = if form.holds(SecretKind::TlsKey) { "As before" } else { "PEM text (PKCS#8, PKCS#1 or SEC1), not encrypted" };
    view! {
        <Section title="TLS" says=Signal::derive(says) wrong=Signal::derive(move || form.has_fault(IN_TLS))>
            <Choice form id="tls" label="Encryption" choices=MODES get=|d: &Draft| d.tls set=|d: &mut Draft, v| d.tls = v />
            <Show when=verifies>
                <Pem form id="tls.ca" label="Certificate of the authority" get=|d| d.ca.clone() set=|d, v| d.ca = v placeholder="PEM text; the public authorities without it" />
            </Show>
            <Show when=is_on>
                <Pem form id="tls.certificate" label="Client certificate" get=|d| d.certificate.clone() set=|d, v| d.certificate = v placeholder="PEM text, where the server asks for one" />
                <Pem form id="tls_key" label="Key of the client certificate" get=|d| d.tls_key.clone() set=|d, v| d.tls_key = v placeholder=key note=HELD />
            </Show>
        </Section>
    }
}

/// Where a secret stays.
pub const HELD: &str = "Held in the server's memory until it ends";

const METHODS: &[(SshMethod, &str, &str)] = &[
    (SshMethod::Key, "key", "A key"),
    (SshMethod::Password, "password", "A password"),
    (SshMethod::Agent, "agent", "The SSH agent of this machine"),
];

const IN_SSH: &[&str] = &[
    "ssh.host",
    "ssh.port",
    "ssh.user",
    "ssh.method",
    "ssh.jump.host",
    "ssh.jump.port",
    "ssh.jump.user",
    "ssh_password",
    "ssh_key",
    "ssh_passphrase",
];

/// By which servers, and as whom.
#[component]
pub fn SshSection(form: Form) -> impl IntoView {
    let is_on = move || form.draft.with(|draft| draft.tunnel);
    let jumps = move || form.draft.with(|draft| draft.through_jump);
    let says = move || {
        form.draft.with(|draft| match (draft.tunnel, draft.jump.host.trim(), draft.ssh.host.trim()) {
            (false, ..) => "Off".to_owned(),
            (true, _, "") => "On".to_owned(),
            (true, jump, host) if draft.through_jump && !jump.is_empty() => format!("Through {jump}, then {host}"),
            (true, _, host) => format!("Through {host}"),
        })
    };
    view! {
        <Section title="SSH tunnel" says=Signal::derive(says) wrong=Signal::derive(move || form.has_fault(IN_SSH))>
            <Tick form id="ssh" label="Connect through an SSH server" about="Host and port are then as it sees them" get=|d| d.tunnel set=|d, v| d.tunnel = v />
            <Show when=is_on>
                <div class="form-row">
                    <Field form id="ssh.host" label="SSH host" get=|d| d.ssh.host.clone() set=|d, v| d.ssh.host = v />
                    <Field form id="ssh.port" label="SSH port" class="narrow" get=|d| d.ssh.port.clone() set=|d, v| d.ssh.port = v />
                </div>
                <div class="form-row">
                    <Field form id="ssh.user" label="SSH user" get=|d| d.ssh.user.clone() set=|d, v| d.ssh.user = v />
                    <Choice form id="ssh.method" label="Sign in by" choices=METHODS get=|d: &Draft| d.method set=|d: &mut Draft, v| d.method = v />
                </div>
                <Proof form />
                <Trusted form get=|d| &d.ssh forget=|d| d.ssh.trusted = None />
                <Tick form id="ssh.jump" label="Through a jump host first" about="Signed in to in the same way" get=|d| d.through_jump set=|d, v| d.through_jump = v />
                <Show when=jumps>
                    <div class="form-row">
                        <Field form id="ssh.jump.host" label="Jump host" get=|d| d.jump.host.clone() set=|d, v| d.jump.host = v />
                        <Field form id="ssh.jump.port" label="Jump port" class="narrow" get=|d| d.jump.port.clone() set=|d, v| d.jump.port = v />
                    </div>
                    <Field form id="ssh.jump.user" label="Jump user" get=|d| d.jump.user.clone() set=|d, v| d.jump.user = v />
                    <Trusted form get=|d| &d.jump forget=|d| d.jump.trusted = None />
                </Show>
            </Show>
        </Section>
    }
}

/// The secrets of the chosen method.
#[component]
fn Proof(form: Form) -> impl IntoView {
    let method = Memo::new(move |_| form.draft.with(|draft| draft.method));
    let before = move |kind, otherwise: &'static str| if form.holds(kind) { "As before" } else { otherwise };
    move || {
        match method.get() {
        SshMethod::Password => view! {
            <Field form id="ssh_password" label="SSH password" kind="password" get=|d| d.ssh_password.clone() set=|d, v| d.ssh_password = v placeholder=before(SecretKind::SshPassword, "") note=HELD />
        }
        .into_any(),
        SshMethod::Key => view! {
            <Pem form id="ssh_key" label="SSH key" get=|d| d.ssh_key.clone() set=|d, v| d.ssh_key = v placeholder=before(SecretKind::SshKey, "The private key's text, as ssh-keygen writes it") note=HELD />
            <Field form id="ssh_passphrase" label="Passphrase of the key" kind="password" get=|d| d.ssh_passphrase.clone() set=|d, v| d.ssh_passphrase = v placeholder=before(SecretKind::SshPassphrase, "Where the key has one") />
        }
        .into_any(),
        SshMethod::Agent => view! { <p class="about"><span class="note">"The agent that Sheaf was started beside (SSH_AUTH_SOCK) is asked to sign"</span></p> }.into_any(),
    }
    }
}

/// The key that a person trusts, and the way to take that back.
#[component]
fn Trusted(form: Form, get: fn(&Draft) -> &Server, forget: fn(&mut Draft)) -> impl IntoView {
    move || {
        form.draft.with(|draft| get(draft).trusted.clone()).map(|fingerprint| {
            view! {
                <p class="trusted">
                    <Icon glyph=Glyph::Key />
                    <span>"Trusted key " <code>{fingerprint}</code></span>
                    <button type="button" class="button small" on:click=move |_| form.set(forget)>"Forget"</button>
                </p>
            }
        })
    }
}
