// Colours and folding of SQL. The colours are the page's variables, so that a change of theme needs nothing here.

import { PostgreSQL, SQLite } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

export type Dialect = "sqlite" | "postgres";

const DIALECTS = { sqlite: SQLite, postgres: PostgreSQL };

const style = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--syntax-keyword)", fontWeight: "500" },
  { tag: [tags.bool, tags.null], color: "var(--syntax-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--syntax-type)" },
  { tag: [tags.string, tags.character], color: "var(--syntax-string)" },
  { tag: tags.special(tags.string), color: "var(--syntax-name)" },
  { tag: tags.number, color: "var(--syntax-number)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--syntax-comment)", fontStyle: "italic" },
  { tag: [tags.operator, tags.punctuation, tags.separator, tags.paren, tags.brace], color: "var(--syntax-operator)" },
  { tag: [tags.special(tags.name), tags.variableName], color: "var(--syntax-function)" },
  { tag: tags.name, color: "var(--syntax-name)" },
]);

export function language(dialect: Dialect): Extension {
  return [DIALECTS[dialect]?.language ?? PostgreSQL.language, syntaxHighlighting(style)];
}
