// Typing over a selection. Left to itself, the browser takes the lines away and keeps their look by style attributes, which the page's
// policy refuses with a report for each; so what is typed is put in place of the selection here.

import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

export function typing(): Extension {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      const { main, ranges } = view.state.selection;
      const text = event.data;
      if (event.inputType !== "insertText" || !text || view.composing || ranges.every((range) => range.empty)) return false;
      event.preventDefault();
      const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
      // Others may have a meaning for it: a quote goes around what is selected.
      const isTaken = view.state.facet(EditorView.inputHandler).some((handler) => handler(view, main.from, main.to, text, insert));
      if (!isTaken) view.dispatch(insert());
      return true;
    },
  });
}
