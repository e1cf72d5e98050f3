// What the editor asks of the WASM side. All of it answers at once.

export type Scope = "statement" | "script";

export interface Hooks {
  /** `deleted` units at `from` became `insert`. */
  changed(from: number, deleted: number, insert: string): void;
  /** Nobody typed for a moment, or someone is about to leave. */
  settled(): void;
  /** The statement a cursor means. */
  statement(cursor: number): Uint32Array | undefined;
  /** (from, to, colour) one after the other; see colours.ts. */
  colours(from: number, to: number): Uint32Array;
  /** Completions as JSON (`Completions`), or nothing. */
  complete(cursor: number, explicit: boolean): string | undefined;
  run(scope: Scope, from: number, to: number): void;
}

/** One list of completions, all in place of `from` to `to`. */
export interface Completions {
  from: number;
  to: number;
  items: Item[];
}

export interface Item {
  label: string;
  insert: string;
  kind: string;
  detail: string;
  /** Places of the matched characters in the label, in UTF-16 units. */
  matched: number[];
}
