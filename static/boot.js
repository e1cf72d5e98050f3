// Starts the page: the WASM is compiled while the editor and the glue load, then the app takes over from the static skeleton.
import wasmUrl from "sheaf:frontend.wasm";

const ADVICE = "reload the page, and if that does not help, open it in a current Chrome, Edge, Firefox or Safari.";

async function compile() {
  const response = await fetch(wasmUrl);
  if (!response.ok) throw new Error(`the server answered ${response.status} for its own program`);
  return WebAssembly.compileStreaming(response);
}

async function start() {
  if (typeof WebAssembly !== "object") throw new Error("this browser does not run WebAssembly");
  const [module, editor, app] = await Promise.all([compile(), import("sheaf:editor"), import("sheaf:frontend.js")]);
  globalThis.sheafEditor = editor;
  await app.default({ module_or_path: module });
  document.getElementById("boot")?.remove();
}

function explain(error) {
  const place = document.getElementById("boot-message") ?? document.body.appendChild(document.createElement("p"));
  const reason = error instanceof Error ? error.message : String(error);
  place.setAttribute("role", "alert");
  place.textContent = `Sheaf could not start (${reason}): ${ADVICE}`;
  document.getElementById("boot")?.classList.add("boot-failed");
  console.error(error);
}

// A fresh launch link pasted into this very tab changes only the fragment, which loads nothing by itself.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#launch=")) location.reload();
});

start().catch(explain);
