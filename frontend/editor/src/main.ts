// The SQL editor of Sheaf: CodeMirror in a shadow root. boot.js hands this module to the WASM side as `globalThis.sheafEditor`.
//
// Invariant: it knows no SQL; colours, statements, completion and running are the WASM side's,
// asked through `Hooks`.
// Places are UTF-16 units of the document. Every edit is reported, so that the other side's text is always this text.

import { closeCompletion, startCompletion } from "@codemirror/autocomplete";
import { history, historyField } from "@codemirror/commands";
import { foldState } from "@codemirror/language";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { colours, recolour } from "./colours";
import { completion } from "./completion";
import { marks, now, setError, setNow, setRunning } from "./marks";
import { type Hooks, type Scope } from "./hooks";
import { keys } from "./keys";
import { surface } from "./surface";
import { typing } from "./typing";

const SAVED_FIELDS = { history: historyField, folds: foldState };
const IDLE_MS = 200;

/** What is kept of an editor while it is not shown: text, selection, undo history, folds, place. */
export interface Saved {
  state: unknown;
  top: number;
}

export class Editor {
  private readonly view: EditorView;
  private idle = 0;
  private readonly settle = () => this.flush();

  constructor(host: HTMLElement, text: string, private readonly hooks: Hooks, saved?: Saved) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const report = (update: ViewUpdate) => this.report(update);
    const extensions: Extension = [
      // Before all that asks the other side about the new text.
      Prec.highest(ViewPlugin.define(() => ({ update: report }))),
      keys(hooks, () => this.flush()),
      surface(),
      typing(),
      history(),
      colours(hooks),
      completion(hooks),
      marks(),
      EditorView.updateListener.of((update) => {
        if (update.docChanged || update.selectionSet) this.markStatement();
      }),
      EditorView.domEventHandlers({ blur: this.settle }),
    ];
    this.view = new EditorView({ state: restore(text, extensions, saved), parent: root, root });
    if (saved) requestAnimationFrame(() => (this.view.scrollDOM.scrollTop = saved.top));
    document.addEventListener("visibilitychange", this.settle);
    addEventListener("pagehide", this.settle);
    this.markStatement();
  }

  /** Tells the other side each change, in the order and the places in which it can apply them one after the other. */
  private report(update: ViewUpdate): void {
    if (!update.docChanged) return;
    update.changes.iterChanges((fromOld, toOld, from, _to, insert) => {
      this.hooks.changed(from, toOld - fromOld, insert.toString());
    }, true);
    clearTimeout(this.idle);
    this.idle = window.setTimeout(this.settle, IDLE_MS);
  }

  private markStatement(): void {
    const found = this.hooks.statement(this.view.state.selection.main.head);
    const range = found ? { from: found[0]!, to: found[1]! } : null;
    const before = this.view.state.field(now);
    if (before?.from === range?.from && before?.to === range?.to) return;
    // Not inside of an update: the view refuses a dispatch from its own listener's update otherwise.
    queueMicrotask(() => this.view.dispatch({ effects: setNow.of(range) }));
  }

  /** Makes the other side's slow readers (saving) take the text now. */
  flush(): void {
    if (!this.idle) return;
    clearTimeout(this.idle);
    this.idle = 0;
    this.hooks.settled();
  }

  focus(): void {
    this.view.focus();
  }

  /** Replaces the whole text (one undo step). */
  setText(text: string): void {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
  }

  /** Puts text in place of the selection, as typing does. */
  insert(text: string): void {
    this.view.dispatch(this.view.state.replaceSelection(text), { scrollIntoView: true, userEvent: "input.paste" });
    this.view.focus();
  }

  /** The other side reads the text by other rules now. */
  recolour(): void {
    this.view.dispatch({ effects: recolour.of(null) });
    this.markStatement();
  }

  /** Makes the list for this cursor anew, if it is still there. */
  completeAgain(cursor: number): void {
    const { main } = this.view.state.selection;
    if (main.empty && main.head === cursor && this.view.hasFocus) startCompletion(this.view);
  }

  /** Underlines a place and says what is wrong with it, until the next edit. */
  setError(from: number, to: number, message: string): void {
    const place = this.within(from, to);
    this.view.dispatch({
      effects: [setError.of({ ...place, message }), EditorView.scrollIntoView(place.from, { y: "nearest", yMargin: 48 }), EditorView.announce.of(message)],
    });
  }

  clearError(): void {
    this.view.dispatch({ effects: setError.of(null) });
  }

  setRunning(from: number, to: number): void {
    this.view.dispatch({ effects: setRunning.of(this.within(from, to)) });
  }

  clearRunning(): void {
    this.view.dispatch({ effects: setRunning.of(null) });
  }

  /** Selects a place and shows it. */
  reveal(from: number, to: number): void {
    const place = this.within(from, to);
    this.view.dispatch({ selection: { anchor: place.from, head: place.to }, scrollIntoView: true });
    this.view.focus();
  }

  /** Start and end of the selection; equal without one. */
  selection(): Uint32Array {
    const { from, to } = this.view.state.selection.main;
    return Uint32Array.of(from, to);
  }

  /** Asks for a run as its keys do. */
  run(scope: Scope): void {
    closeCompletion(this.view);
    this.flush();
    const { from, to } = this.view.state.selection.main;
    this.hooks.run(scope, from, to);
  }

  save(): Saved {
    return { state: this.view.state.toJSON(SAVED_FIELDS), top: this.view.scrollDOM.scrollTop };
  }

  destroy(): void {
    this.flush();
    document.removeEventListener("visibilitychange", this.settle);
    removeEventListener("pagehide", this.settle);
    this.view.destroy();
  }

  private within(from: number, to: number): { from: number; to: number } {
    const end = this.view.state.doc.length;
    const start = Math.min(Math.max(from, 0), end);
    return { from: start, to: Math.min(Math.max(to, start), end) };
  }
}

/** The saved state if it is of this text; else a new one. */
function restore(text: string, extensions: Extension, saved?: Saved): EditorState {
  if (saved) {
    try {
      const state = EditorState.fromJSON(saved.state, { extensions }, SAVED_FIELDS);
      if (state.doc.toString() === text) return state;
    } catch (error) {
      console.warn("The editor's saved state could not be read:", error);
    }
  }
  return EditorState.create({ doc: text, extensions });
}

export function mount(host: HTMLElement, text: string, hooks: Hooks, saved?: Saved): Editor {
  return new Editor(host, text, hooks, saved);
}
