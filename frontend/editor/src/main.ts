// The editor's bundle: boot.js hands this module to the WASM side as `globalThis.sheafEditor`.
export function mount(host: HTMLElement): void {
  host.replaceChildren(document.createElement("textarea"));
}
