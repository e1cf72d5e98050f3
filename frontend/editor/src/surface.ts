// How the editor looks and what it shows besides text. Every colour and size is a variable of the page's tokens.css.

import { bracketMatching, codeFolding, foldGutter, indentUnit } from "@codemirror/language";
import { highlightSelectionMatches, search } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  crosshairCursor, drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, lineNumbers, rectangularSelection, tooltips,
} from "@codemirror/view";

const PHRASES = {
  next: "Next", previous: "Previous", all: "All", "match case": "Match case", regexp: "Regular expression", "by word": "Whole words",
  replace: "Replace", "replace all": "Replace all", close: "Close",
};

export function surface(): Extension {
  return [
    EditorView.contentAttributes.of({ "aria-label": "SQL editor", spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
    EditorState.phrases.of(PHRASES),
    EditorState.allowMultipleSelections.of(true),
    EditorState.tabSize.of(4),
    indentUnit.of("    "),
    // Characters that turn a line around or can't be seen are shown as marks: a text must not look like another.
    highlightSpecialChars(),
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    // A blinking cursor is an animation that never ends; a page at rest draws nothing.
    drawSelection({ cursorBlinkRate: 0 }),
    dropCursor(),
    rectangularSelection(),
    crosshairCursor(),
    bracketMatching(),
    highlightSelectionMatches({ minSelectionLength: 2, maxMatches: 200 }),
    search({ top: true }),
    codeFolding({ placeholderText: "…" }),
    foldGutter({ markerDOM: foldMarker }),
    tooltips({ position: "fixed" }),
    theme,
  ];
}

function foldMarker(open: boolean): HTMLElement {
  const mark = document.createElement("span");
  mark.className = open ? "sheaf-fold" : "sheaf-fold sheaf-fold-closed";
  mark.textContent = open ? "⌄" : "›";
  return mark;
}

const control = {
  height: "var(--control-small)", boxSizing: "border-box", font: "inherit", fontSize: "var(--size-small)", color: "var(--text)",
  border: "var(--hairline) solid var(--line-strong)", borderRadius: "var(--radius-inner)", outlineOffset: "-1px",
};

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "var(--size-base)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55", fontFeatureSettings: '"calt" 0, "liga" 0', scrollbarWidth: "thin", scrollbarColor: "var(--line-strong) transparent" },
  ".cm-content": { padding: "var(--space-2) 0 var(--space-8)", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 var(--space-4) 0 var(--space-1)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)", borderLeftWidth: "1.6px", marginLeft: "-0.8px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selection)" },
  "&:not(.cm-focused) .cm-selectionBackground": { background: "var(--pressed)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-specialChar": { color: "var(--danger)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-tint)", borderRadius: "2px" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-tint)", outline: "1px solid var(--selection-edge)", borderRadius: "2px" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--danger-tint)", color: "var(--danger)" },

  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "none", userSelect: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.25em", padding: "0 var(--space-1) 0 var(--space-1)", fontSize: "var(--size-small)", fontVariantNumeric: "tabular-nums" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--muted)" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--text-soft)" },
  ".cm-foldGutter .cm-gutterElement": { width: "14px", textAlign: "center", color: "var(--faint)", cursor: "pointer" },
  ".sheaf-fold": { opacity: "0" },
  ".cm-gutters:hover .sheaf-fold, .sheaf-fold-closed": { opacity: "1" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "none", color: "var(--muted)", borderRadius: "var(--radius-inner)", padding: "0 var(--space-1)", margin: "0 var(--space-half)" },

  ".sheaf-bars": { width: "3px", marginLeft: "1px" },
  ".sheaf-bars .cm-gutterElement": { padding: "0" },
  ".sheaf-bar-now": { backgroundColor: "var(--line-strong)" },
  "&.cm-focused .sheaf-bar-now": { backgroundColor: "var(--selection-edge)" },
  ".sheaf-bar-running": { backgroundColor: "var(--success)" },

  ".sheaf-error-place": { textDecoration: "underline wavy var(--danger) 1px", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".sheaf-error": { padding: "var(--space-half) 0 var(--space-1)" },
  ".sheaf-error-strip": {
    padding: "var(--space-1) var(--space-3)", fontFamily: "var(--font-ui)", fontSize: "var(--size-small)", lineHeight: "var(--leading)",
    color: "var(--danger)", backgroundColor: "var(--danger-tint)", borderLeft: "2px solid var(--danger)", whiteSpace: "pre-wrap", overflowWrap: "anywhere",
  },

  ".cm-tooltip": { border: "none", backgroundColor: "transparent" },
  ".cm-tooltip.cm-tooltip-autocomplete": {
    backgroundColor: "var(--raised)", border: "var(--hairline) solid var(--line)", borderRadius: "var(--radius)", boxShadow: "var(--shadow-menu)", padding: "var(--space-1)", zIndex: "50",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-ui)", fontSize: "var(--size-base)", minWidth: "280px", maxWidth: "min(560px, 92vw)", maxHeight: "264px", scrollbarWidth: "thin", scrollbarColor: "var(--line-strong) transparent" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex", alignItems: "center", gap: "var(--space-2)", height: "24px", boxSizing: "border-box", lineHeight: "24px", padding: "0 var(--space-2) 0 var(--space-1)", borderRadius: "var(--radius-inner)", color: "var(--text)",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected], .cm-tooltip-autocomplete-disabled > ul > li[aria-selected]": { background: "var(--accent-tint)", color: "var(--text)" },
  ".cm-completionLabel": { flex: "0 1 auto", overflow: "hidden", textOverflow: "ellipsis", fontFamily: "var(--font-mono)", fontSize: "12.5px" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600", color: "var(--accent-ink)" },
  ".cm-completionDetail": {
    flex: "1 1 0", minWidth: "80px", marginLeft: "var(--space-4)", fontStyle: "normal", textAlign: "right", color: "var(--muted)", fontSize: "var(--size-tiny)", overflow: "hidden", textOverflow: "ellipsis",
  },
  ".sheaf-glyph": {
    flex: "none", width: "16px", height: "16px", lineHeight: "16px", textAlign: "center", borderRadius: "3px", fontFamily: "var(--font-mono)", fontSize: "10px", fontWeight: "600", color: "var(--muted)", backgroundColor: "var(--hover)",
  },
  ".sheaf-glyph-table, .sheaf-glyph-cte": { color: "var(--syntax-keyword)" },
  ".sheaf-glyph-view": { color: "var(--syntax-type)" },
  ".sheaf-glyph-key": { color: "var(--warning)" },
  ".sheaf-glyph-routine": { color: "var(--syntax-function)" },
  ".sheaf-glyph-join": { color: "var(--success)" },

  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", zIndex: "20" },
  ".cm-panels-top": { borderBottom: "var(--hairline) solid var(--line)" },
  ".cm-panel.cm-search": {
    padding: "var(--space-1) var(--space-8) var(--space-1) var(--space-2)", fontFamily: "var(--font-ui)", fontSize: "var(--size-small)",
    "& > input, & > button:not([name=close]), & > label": { margin: "var(--space-half) var(--space-1) var(--space-half) 0", verticalAlign: "middle" },
    "& label": { display: "inline-flex", alignItems: "center", gap: "var(--space-1)", fontSize: "var(--size-small)", color: "var(--muted)", padding: "0 var(--space-1)" },
    "& input[type=checkbox]": { margin: "0", accentColor: "var(--accent)" },
    "& [name=close]": {
      position: "absolute", top: "var(--space-2)", right: "var(--space-2)", width: "var(--control-small)", height: "var(--control-small)", fontSize: "var(--size-title)", color: "var(--muted)", borderRadius: "var(--radius-inner)", cursor: "pointer",
    },
    "& [name=close]:hover": { backgroundColor: "var(--hover)", color: "var(--text)" },
  },
  ".cm-panel .cm-textfield": { ...control, width: "240px", padding: "0 var(--space-2)", backgroundColor: "var(--field)" },
  ".cm-panel .cm-textfield:focus-visible, .cm-panel button:focus-visible": { outline: "var(--focus) solid var(--accent)" },
  ".cm-panel .cm-button": { ...control, padding: "0 var(--space-2)", backgroundColor: "var(--raised)", backgroundImage: "none", cursor: "pointer" },
  ".cm-panel .cm-button:hover": { backgroundColor: "var(--hover)" },
  ".cm-panel .cm-button:active": { backgroundImage: "none", backgroundColor: "var(--pressed)" },
  ".cm-searchMatch": { backgroundColor: "var(--warning-tint)", borderRadius: "2px" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--selection)", outline: "1px solid var(--selection-edge)" },
});
