// What is marked in the text and beside it: the statement that Run means, the one that runs, the place of an error.

import { type EditorState, type Extension, type Range, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, gutter, GutterMarker, WidgetType } from "@codemirror/view";

export interface Place {
  from: number;
  to: number;
}

export interface ErrorMark extends Place {
  message: string;
}

export const setNow = StateEffect.define<Place | null>();
export const setRunning = StateEffect.define<Place | null>();
export const setError = StateEffect.define<ErrorMark | null>();

/** The statement under the cursor; moves with edits until it is told anew. */
export const now = place(setNow);
const running = place(setRunning);

function place(effect: typeof setNow): StateField<Place | null> {
  return StateField.define<Place | null>({
    create: () => null,
    update(value, transaction) {
      for (const found of transaction.effects) if (found.is(effect)) return found.value;
      if (!value || !transaction.docChanged) return value;
      return { from: transaction.changes.mapPos(value.from, -1), to: transaction.changes.mapPos(value.to, 1) };
    },
  });
}

/** Gone at the next edit: then it may be mended. */
const error = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const found of transaction.effects) if (found.is(setError)) return found.value ? decorate(transaction.state, found.value) : Decoration.none;
    return transaction.docChanged ? Decoration.none : value;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const NAME = /^(?:[\p{L}\p{N}_$]+|"[^"]*")(?:\.(?:[\p{L}\p{N}_$]+|"[^"]*"))*/u;

function decorate(state: EditorState, mark: ErrorMark): DecorationSet {
  const line = state.doc.lineAt(mark.from);
  let { from, to } = mark;
  // Databases give the start of a name, or its first part: the whole of it is meant, with what its dots join.
  const name = NAME.exec(line.text.slice(from - line.from));
  if (name) to = Math.max(to, from + name[0].length);
  else if (to === from && from === line.to && from > line.from) from -= 1;
  else if (to === from) to += 1;
  to = Math.max(Math.min(to, line.to), from);
  const parts: Range<Decoration>[] = [];
  if (to > from) parts.push(Decoration.mark({ class: "sheaf-error-place" }).range(from, to));
  parts.push(Decoration.widget({ widget: new Strip(mark.message), block: true, side: 1 }).range(line.to));
  return Decoration.set(parts, true);
}

/** The database's sentence below the line. */
class Strip extends WidgetType {
  constructor(private readonly message: string) {
    super();
  }

  override eq(other: Strip): boolean {
    return other.message === this.message;
  }

  override toDOM(): HTMLElement {
    // The room around it is padding of the outer one: CodeMirror measures a block without its margins.
    const room = document.createElement("div");
    room.className = "sheaf-error";
    const strip = room.appendChild(document.createElement("div"));
    strip.className = "sheaf-error-strip";
    strip.setAttribute("role", "note");
    strip.setAttribute("aria-label", "Error");
    strip.textContent = this.message;
    return room;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

class Bar extends GutterMarker {
  constructor(override readonly elementClass: string) {
    super();
  }
}

const BAR_NOW = new Bar("sheaf-bar-now");
const BAR_RUNNING = new Bar("sheaf-bar-running");

/** One bar on each line of the statement; the running one wins. Only what is in view, so a long statement costs a screen. */
function bars(view: EditorView): RangeSet<GutterMarker> {
  const runs = view.state.field(running);
  const marked = runs ?? view.state.field(now);
  if (!marked) return RangeSet.empty;
  const found: Range<GutterMarker>[] = [];
  const doc = view.state.doc;
  const from = Math.max(marked.from, view.viewport.from);
  const to = Math.min(marked.to, view.viewport.to);
  for (let at = from; at <= to; ) {
    const line = doc.lineAt(at);
    found.push((runs ? BAR_RUNNING : BAR_NOW).range(line.from));
    at = line.to + 1;
  }
  return RangeSet.of(found);
}

export function marks(): Extension {
  const changes = (field: StateField<Place | null>, before: EditorState, after: EditorState) => before.field(field) !== after.field(field);
  return [
    now, running, error,
    gutter({
      class: "sheaf-bars",
      markers: bars,
      lineMarkerChange: (update) => changes(now, update.startState, update.state) || changes(running, update.startState, update.state),
    }),
  ];
}
