// The completion list: asks the WASM side at each key, shows its order as it is.

import { autocompletion, type Completion, type CompletionContext, type CompletionResult, pickedCompletion } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { Completions, Hooks, Item } from "./hooks";

interface Option extends Completion {
  item: Item;
}

/** The glyph before a name: what kind of thing it is. */
const GLYPHS: Record<string, string> = {
  table: "T", view: "V", column: "c", key: "c", alias: "a", cte: "w", schema: "S", routine: "ƒ", keyword: "k", join: "⋈", snippet: "…",
};

export function completion(hooks: Hooks): Extension {
  const source = (context: CompletionContext): CompletionResult | null => {
    const answer = hooks.complete(context.pos, context.explicit);
    if (!answer) return null;
    const list = JSON.parse(answer) as Completions;
    if (list.items.length === 0) return null;
    return { from: list.from, to: list.to, options: list.items.map(option), filter: false, getMatch };
  };
  return autocompletion({
    override: [source],
    activateOnTyping: true,
    activateOnTypingDelay: 0,
    updateSyncTime: 0,
    maxRenderedOptions: 100,
    icons: false,
    optionClass: (found) => `sheaf-${found.type}`,
    addToOptions: [{ position: 20, render: (found) => glyph((found as Option).item.kind) }],
  });
}

function option(item: Item): Option {
  return { label: item.label, detail: item.detail, type: item.kind, apply: (view, found, from, to) => apply(view, found as Option, from, to), item };
}

/** A routine gets its parentheses, with the cursor between them. */
function apply(view: EditorView, found: Option, from: number, to: number): void {
  const { insert, kind } = found.item;
  const called = kind !== "routine" || view.state.sliceDoc(to, to + 1) === "(" || insert.endsWith(")");
  const text = called ? insert : `${insert}()`;
  const cursor = from + text.length - (called ? 0 : 1);
  view.dispatch({
    changes: { from, to, insert: text }, selection: { anchor: cursor }, scrollIntoView: true, userEvent: "input.complete",
    annotations: pickedCompletion.of(found),
  });
}

/** Places of matched characters as the runs that CodeMirror wants. */
function getMatch(found: Completion): readonly number[] {
  const runs: number[] = [];
  for (const at of (found as Option).item.matched) {
    if (runs.length > 0 && runs[runs.length - 1] === at) runs[runs.length - 1] = at + 1;
    else runs.push(at, at + 1);
  }
  return runs;
}

function glyph(kind: string): HTMLElement {
  const mark = document.createElement("span");
  mark.className = `sheaf-glyph sheaf-glyph-${kind}`;
  mark.setAttribute("aria-hidden", "true");
  mark.textContent = GLYPHS[kind] ?? "·";
  return mark;
}
