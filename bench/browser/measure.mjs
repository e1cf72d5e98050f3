// Measures one thing in a fresh headless Chromium and prints one JSON object a line: {"metric","value"}.
// usage: node measure.mjs FAMILY LAUNCH_URL [JSON options]
import { createRequire } from "node:module";
import { families } from "./families.mjs";

const require = createRequire(new URL("../../e2e/journeys/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [family, launch, options = "{}"] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: process.env.SHEAF_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const emit = (metric, value) => console.log(JSON.stringify({ metric, value }));
  await families[family](page, launch, JSON.parse(options), emit);
} finally {
  await browser.close();
}
