// Keys of the editor. Run and completion first: CodeMirror's own would take Ctrl+Enter.

import { acceptCompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, historyKeymap, indentLess, indentMore, insertTab } from "@codemirror/commands";
import { foldKeymap } from "@codemirror/language";
import { closeSearchPanel, searchKeymap } from "@codemirror/search";
import { type Extension, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import type { Hooks, Scope } from "./hooks";

export function keys(hooks: Hooks, flush: () => void): Extension {
  const run = (scope: Scope) => (view: EditorView) => {
    closeCompletion(view);
    flush();
    const { from, to } = view.state.selection.main;
    hooks.run(scope, from, to);
    return true;
  };
  const first = keymap.of([
    { key: "Mod-Enter", run: run("statement"), stopPropagation: true },
    { key: "Mod-Shift-Enter", run: run("script"), stopPropagation: true },
    { key: "Ctrl-Space", run: startCompletion },
    // What Escape closes here it must not also cancel outside.
    { key: "Escape", run: (view) => closeCompletion(view) || closeSearchPanel(view), stopPropagation: true },
    // Escape, then Tab leaves the editor: CodeMirror gives the next Tab to the page.
    { key: "Tab", run: (view) => acceptCompletion(view) || indent(view), shift: indentLess },
  ]);
  return [
    Prec.highest(first),
    closeBrackets(),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap]),
  ];
}

function indent(view: EditorView): boolean {
  return view.state.selection.main.empty ? insertTab(view) : indentMore(view);
}
