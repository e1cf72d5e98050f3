// Colours and folding of SQL, for what is in view only: which characters are what is the WASM side's lexer's answer, so that a key in a
// text of any size colours one screen. The colours are the page's variables; a change of theme needs nothing here.

import { foldService } from "@codemirror/language";
import { EditorState, type Extension, RangeSetBuilder, StateEffect } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { Hooks } from "./hooks";

/** The other side reads the text in another way now. */
export const recolour = StateEffect.define<null>();

/** By the numbers of `shared::sql::colour::Colour`; 0 is a statement's place. */
const CLASSES = ["", "keyword", "type", "routine", "text", "number", "comment", "mark", "parameter", "constant"];
const STATEMENT = 0;
const MARKS = CLASSES.map((name) => Decoration.mark({ class: `sql-${name}` }));
const FOLD_LINES_MAX = 5000;

export function colours(hooks: Hooks): Extension {
  /** Ends of the statements in view by their starts. */
  let statements = new Map<number, number>();

  class Colours {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = this.read(view);
    }

    update(update: ViewUpdate): void {
      const told = update.transactions.some((transaction) => transaction.effects.some((effect) => effect.is(recolour)));
      if (update.docChanged || update.viewportChanged || told) this.decorations = this.read(update.view);
    }

    private read(view: EditorView): DecorationSet {
      const built = new RangeSetBuilder<Decoration>();
      statements = new Map();
      let done = 0;
      for (const { from, to } of view.visibleRanges) {
        const found = hooks.colours(from, to);
        for (let at = 0; at + 2 < found.length; at += 3) {
          const start = found[at]!, end = found[at + 1]!, colour = found[at + 2]!;
          if (colour === STATEMENT) statements.set(start, end);
          else if (end > done) {
            built.add(Math.max(start, done), end, MARKS[colour] ?? MARKS[1]!);
            done = end;
          }
        }
      }
      return built.finish();
    }
  }

  const fold = (state: EditorState, lineStart: number, lineEnd: number): { from: number; to: number } | null => {
    for (const [start, end] of statements) {
      if (start >= lineStart && start <= lineEnd && end > lineEnd) return { from: lineEnd, to: Math.min(end, state.doc.length) };
    }
    return foldByIndent(state, lineStart, lineEnd);
  };

  return [
    ViewPlugin.fromClass(Colours, { decorations: (plugin) => plugin.decorations }),
    foldService.of(fold),
    EditorState.languageData.of(() => LANGUAGE_DATA),
    theme,
  ];
}

const LANGUAGE_DATA = [{ commentTokens: { line: "--", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "'", '"'] } }];

/** A line with deeper ones below it folds to its last deeper one. */
function foldByIndent(state: EditorState, lineStart: number, lineEnd: number): { from: number; to: number } | null {
  const line = state.doc.lineAt(lineStart);
  const own = indentOf(line.text);
  if (own < 0) return null;
  let end = lineEnd;
  const last = Math.min(state.doc.lines, line.number + FOLD_LINES_MAX);
  for (let number = line.number + 1; number <= last; number++) {
    const next = state.doc.line(number);
    const indent = indentOf(next.text);
    if (indent < 0) continue;
    if (indent <= own) break;
    end = next.to;
  }
  return end > lineEnd ? { from: lineEnd, to: end } : null;
}

function indentOf(text: string): number {
  return text.search(/\S/);
}

const theme = EditorView.theme({
  ".sql-keyword": { color: "var(--syntax-keyword)", fontWeight: "500" },
  ".sql-constant": { color: "var(--syntax-keyword)" },
  ".sql-type": { color: "var(--syntax-type)" },
  ".sql-routine": { color: "var(--syntax-function)" },
  ".sql-text": { color: "var(--syntax-string)" },
  ".sql-number, .sql-parameter": { color: "var(--syntax-number)" },
  ".sql-comment": { color: "var(--syntax-comment)", fontStyle: "italic" },
  ".sql-mark": { color: "var(--syntax-operator)" },
});
