//! How wide a text is, from a table of advances: asking the browser for each cell would lay it out.
//!
//! Invariant: no `web_sys` here; whoever has a font brings the measure. Good to a pixel or two (no kerning): enough to tell whether a
//! text fits its column and how wide a column should be.

use crate::ui::unseen::Part;
use std::cell::RefCell;
use std::collections::HashMap;

/// Letters of a mark are smaller than a cell's (`.mark` in base.css), and a little room stands around them.
const MARK_SCALE: f64 = 10.0 / 13.0;
const MARK_PX: f64 = 8.0;

/// Advances of one font, measured once per character.
pub struct Advances {
    ascii_px: [f64; 128],
    others_px: RefCell<HashMap<char, f64>>,
    measure: Box<dyn Fn(&str) -> f64>,
}

impl Advances {
    /// A table over a measure. `digit_px` is the width of every figure: the grid's figures are tabular, which a canvas doesn't know.
    pub fn new(measure: impl Fn(&str) -> f64 + 'static, digit_px: f64) -> Self {
        let mut ascii_px = [0.0; 128];
        for (code, advance) in (0_u8..128).zip(&mut ascii_px) {
            let c = char::from(code);
            *advance = if c.is_ascii_digit() {
                digit_px
            } else if c.is_ascii_control() {
                measure(" ")
            } else {
                measure(c.encode_utf8(&mut [0; 4]))
            };
        }
        Self { ascii_px, others_px: RefCell::default(), measure: Box::new(measure) }
    }

    /// Width of a text; stops counting once it is over `limit_px`.
    pub fn width_px(&self, text: &str, limit_px: f64) -> f64 {
        let mut width = 0.0;
        for c in text.chars() {
            width += self.advance_px(c);
            if width > limit_px {
                break;
            }
        }
        width
    }

    /// Width of a text on one line, whose parts these are where it has marks for what can't be seen.
    pub fn line_px(&self, text: &str, parts: Option<&[Part<'_>]>, limit_px: f64) -> f64 {
        let Some(parts) = parts else { return self.width_px(text, limit_px) };
        let mut width = 0.0;
        for part in parts {
            width += match part {
                Part::Plain(plain) => self.width_px(plain, limit_px),
                Part::Mark(_, sign) => self.width_px(&sign.short(), limit_px) * MARK_SCALE + MARK_PX,
            };
            if width > limit_px {
                break;
            }
        }
        width
    }

    fn advance_px(&self, c: char) -> f64 {
        if let Some(advance) = u32::from(c).try_into().ok().and_then(|code: usize| self.ascii_px.get(code)) {
            return *advance;
        }
        if let Some(advance) = self.others_px.borrow().get(&c) {
            return *advance;
        }
        let advance = (self.measure)(c.encode_utf8(&mut [0; 4]));
        self.others_px.borrow_mut().insert(c, advance);
        advance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn each_character_is_measured_once_and_figures_are_equal() {
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let advances = Advances::new(
            move |_| {
                count.set(count.get() + 1);
                7.0
            },
            8.0,
        );
        let before = asked.get();
        assert_eq!(advances.width_px("a1", f64::MAX), 15.0);
        assert_eq!(asked.get(), before);
        assert_eq!(advances.width_px("ää", f64::MAX), 14.0);
        assert_eq!(asked.get(), before + 1);
    }

    #[test]
    fn counting_stops_past_the_limit() {
        let advances = Advances::new(|_| 7.0, 7.0);
        assert_eq!(advances.width_px(&"x".repeat(1_000_000), 70.0), 77.0);
    }
}
