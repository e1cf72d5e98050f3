//! JSON as lines that can be folded.
//!
//! Invariant: the parts come from [`laid_out`], so that every token stands as it was written: numbers keep their digits, strings their
//! escapes. Only what is not seen is left out, never changed.

use super::content::laid_out;
use crate::ui::marks::named;
use leptos::prelude::*;
use std::collections::HashSet;

/// Lines drawn at once; more on request.
const SHOWN_LINES: usize = 2_000;

/// A line of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How deep it stands.
    pub depth: usize,
    /// The key with its colon, or nothing.
    pub key: String,
    /// The rest.
    pub value: String,
    /// Where what it opens is closed, and how much is in it.
    pub closes: Option<(usize, usize)>,
}

/// The lines of a JSON text.
pub fn lines(json: &str) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for text in laid_out(json).lines() {
        let bare = text.trim_start();
        let depth = (text.len() - bare.len()) / 2;
        let at = out.len();
        if bare.starts_with(['}', ']'])
            && let Some(opener) = open.pop()
        {
            let within = out.iter().skip(opener + 1).filter(|line| line.depth == depth + 1 && !line.value.starts_with(['}', ']'])).count();
            if let Some(line) = out.get_mut(opener) {
                line.closes = Some((at, within));
            }
        } else if bare.ends_with(['{', '[']) {
            open.push(at);
        }
        let (key, value) = bare.split_at(key_length(bare));
        out.push(Line { depth, key: key.to_owned(), value: value.to_owned(), closes: None });
    }
    out
}

/// Bytes of the key with its colon that a line begins with.
fn key_length(line: &str) -> usize {
    let mut escaped = true; // the quote it begins with ends nothing
    for (at, c) in line.char_indices() {
        match c {
            _ if at == 0 && c != '"' => return 0,
            '"' if !escaped => return if line.get(at + 1..).is_some_and(|rest| rest.starts_with(": ")) { at + 3 } else { 0 },
            _ => {}
        }
        escaped = at > 0 && c == '\\' && !escaped;
    }
    0
}

/// The lines in sight, where some are folded.
pub fn seen(lines: &[Line], folded: &HashSet<usize>) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        out.push(at);
        at = match line.closes.filter(|_| folded.contains(&at)) {
            Some((close, _)) => close + 1,
            None => at + 1,
        };
    }
    out
}

fn class_of(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'"') => "json-string",
        Some(b'-' | b'0'..=b'9') => "json-number",
        Some(b't' | b'f' | b'n') => "json-word",
        _ => "json-mark",
    }
}

/// The tree of a JSON text.
#[component]
pub fn JsonTree(
    /// The text, known to be JSON.
    text: String,
    /// Every line is wanted, however many there are.
    all: RwSignal<bool>,
) -> impl IntoView {
    let lines = StoredValue::new(lines(&text));
    let folded = RwSignal::new(HashSet::<usize>::new());
    let shown = Memo::new(move |_| lines.with_value(|lines| folded.with(|folded| seen(lines, folded))));
    let drawn =
        move || shown.with(|shown| shown.iter().copied().take(if all.get() { usize::MAX } else { SHOWN_LINES }).collect::<Vec<_>>());
    let rest = move || shown.with(Vec::len).saturating_sub(SHOWN_LINES);
    view! {
        <div class="viewer-text json">
            <For each=drawn key=|at| *at let(at)>
                {lines.with_value(|lines| lines.get(at).cloned()).map(|line| view! { <JsonLine at line lines folded /> })}
            </For>
        </div>
        <Show when=move || !all.get() && (rest() > 0)>
            <p class="viewer-more">
                {move || format!("{} more lines", super::super::ui::grouped(rest() as u64))}
                <button type="button" class="button small" on:click=move |_| all.set(true)>"Show all"</button>
            </p>
        </Show>
    }
}

#[component]
fn JsonLine(at: usize, line: Line, lines: StoredValue<Vec<Line>>, folded: RwSignal<HashSet<usize>>) -> impl IntoView {
    let open = move || folded.with(|folded| !folded.contains(&at));
    let toggle = move |_| {
        folded.update(|folded| {
            if !folded.remove(&at) {
                folded.insert(at);
            }
        });
    };
    let button = line.closes.map(|_| {
        view! {
            <button type="button" class="json-fold" aria-expanded=move || open().to_string() aria-label=if line.key.is_empty() { "Part".to_owned() } else { line.key.trim_end_matches(": ").to_owned() } on:click=toggle></button>
        }
    });
    // Folded, a part says how much is in it, and ends as its last line does.
    let inside = line.closes.map(|(close, count)| {
        let end = lines.with_value(|lines| lines.get(close).map(|line| line.value.clone())).unwrap_or_default();
        move || {
            (!open())
                .then(|| view! { <span class="json-inside">{format!(" {count} ")}</span> <span class="json-mark">{end.clone()}</span> })
        }
    });
    view! {
        <div class="json-line" style:padding-left=format!("{}ch", 2 + line.depth * 2)>
            {button}
            <span class="json-key">{named(&line.key)}</span>
            <span class=class_of(&line.value)>{named(&line.value)}</span>
            {inside}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"a: \"b\": ":[9007199254740993.10,"{",{}],"n":{"deep":[true,null]}}"#;

    #[test]
    fn lines_know_their_keys_and_where_they_close() {
        let lines = lines(JSON);
        let told: Vec<_> = lines.iter().map(|line| (line.depth, line.key.as_str(), line.value.as_str(), line.closes)).collect();
        let expected = [
            (0, "", "{", Some((12, 2))),
            (1, r#""a: \"b\": ": "#, "[", Some((5, 3))),
            (2, "", "9007199254740993.10,", None),
            (2, "", "\"{\",", None),
            (2, "", "{}", None),
            (1, "", "],", None),
            (1, "\"n\": ", "{", Some((11, 1))),
            (2, "\"deep\": ", "[", Some((10, 2))),
            (3, "", "true,", None),
            (3, "", "null", None),
            (2, "", "]", None),
            (1, "", "}", None),
            (0, "", "}", None),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_folded_part_hides_its_lines_up_to_its_end() {
        let lines = lines(JSON);
        assert_eq!(seen(&lines, &HashSet::new()).len(), lines.len());
        assert_eq!(seen(&lines, &HashSet::from([0])), [0]);
        assert_eq!(seen(&lines, &HashSet::from([1, 7])), [0, 1, 6, 7, 11, 12]);
    }
}
