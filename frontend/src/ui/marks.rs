//! Draws marks in the place of characters that turn a line around, can't be seen or are blank and no space ([`super::unseen`]).
//!
//! Invariant: a mark holds its character, in a box of its own that nothing gets out of, so that the text of a node is exactly the
//! text; the letters over it are the style sheet's.

use super::unseen::{Lines, Part, Sign, parts};
use leptos::prelude::*;
use web_sys::{Document, Element, Node};

/// A name, on one line.
pub fn named(name: &str) -> AnyView {
    drawn(name, Lines::One)
}

/// Text that may have several lines.
pub fn written(text: &str) -> AnyView {
    drawn(text, Lines::Many)
}

fn drawn(text: &str, lines: Lines) -> AnyView {
    match parts(text, lines) {
        None => text.to_owned().into_any(),
        Some(parts) => parts
            .into_iter()
            .map(|part| match part {
                Part::Plain(plain) => plain.to_owned().into_any(),
                Part::Mark(own, sign) => view! {
                    <span class=class(sign) role="img" aria-label=sign.words() title=sign.words() data-mark=sign.short()>{own.to_owned()}</span>
                }
                .into_any(),
            })
            .collect_view()
            .into_any(),
    }
}

/// Puts a name into a node, in place of what is there.
pub fn put(document: &Document, node: &Element, name: &str) {
    match parts(name, Lines::One) {
        None => node.set_text_content(Some(name)),
        Some(parts) => {
            node.set_text_content(None);
            add(document, node, &parts);
        }
    }
}

/// Puts parts behind what is in a node.
pub fn add(document: &Document, node: &Node, parts: &[Part<'_>]) {
    for part in parts {
        let _ = match part {
            Part::Plain(plain) => node.append_child(&document.create_text_node(plain)),
            Part::Mark(own, sign) => match mark(document, own, *sign) {
                Some(mark) => node.append_child(&mark),
                None => continue,
            },
        };
    }
}

fn mark(document: &Document, own: &str, sign: Sign) -> Option<Element> {
    let mark = document.create_element("span").ok()?;
    mark.set_class_name(class(sign));
    let words = sign.words();
    for (name, value) in [("role", "img"), ("aria-label", &words), ("title", &words), ("data-mark", &sign.short())] {
        mark.set_attribute(name, value).ok()?;
    }
    mark.set_text_content(Some(own));
    Some(mark)
}

fn class(sign: Sign) -> &'static str {
    match (sign.is_blank(), sign.is_space()) {
        (true, _) => "mark blank",
        (_, true) => "mark space",
        _ => "mark",
    }
}
