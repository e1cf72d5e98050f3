// Makes dist/web from static/, the editor and the WASM: every asset under a name with the hash of its content, compressed once here
// and never by the server. Called by `cargo xtask web`: assets.mjs ROOT BINDGEN_DIR OUT_DIR release|dev
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, existsSync, writeFileSync, copyFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const [root, bindgenDir, outDir, mode] = process.argv.slice(2);
const dev = mode === "dev";
const editorDir = join(root, "frontend/editor");
const cssDir = join(root, "static/css");
const esbuild = createRequire(join(editorDir, "package.json"))("esbuild");

/** Variables and the base first: later files may rely on both. */
const CSS_FIRST = ["tokens.css", "base.css"];
const COMPRESSED = new Set([".html", ".js", ".css", ".wasm", ".svg", ".json", ".map", ".txt"]);

const MODULES = {
  "sheaf:editor": join(editorDir, "src/main.ts"),
  "sheaf:frontend.js": join(bindgenDir, "frontend.js"),
  "sheaf:frontend.wasm": join(bindgenDir, "frontend_bg.wasm"),
};

function styleEntry() {
  const files = existsSync(cssDir) ? readdirSync(cssDir).filter((name) => name.endsWith(".css")).sort() : [];
  const first = CSS_FIRST.filter((name) => files.includes(name));
  const ordered = [...first, ...files.filter((name) => !first.includes(name))];
  return ordered.map((name) => `@import "./${name}";`).join("\n");
}

const sheafModules = {
  name: "sheaf-modules",
  setup(build) {
    build.onResolve({ filter: /^sheaf:style$/ }, () => ({ path: "style.css", namespace: "sheaf-style" }));
    build.onLoad({ filter: /.*/, namespace: "sheaf-style" }, () => ({ contents: styleEntry(), loader: "css", resolveDir: existsSync(cssDir) ? cssDir : root }));
    build.onResolve({ filter: /^\/fonts\// }, ({ path }) => ({ path: font(basename(path)) }));
    build.onResolve({ filter: /^\/icons\// }, ({ path }) => ({ path: join(root, "static", path) }));
    build.onResolve({ filter: /^sheaf:/ }, ({ path }) => (MODULES[path] ? { path: MODULES[path] } : undefined));
  },
};

/** `/fonts/NAME` in a style is a file of one of these packages, so that no binary is kept in the repository. */
const FONT_PACKAGES = ["inter", "jetbrains-mono"].map((name) => join(editorDir, "node_modules/@fontsource-variable", name));

function font(name) {
  const paths = FONT_PACKAGES.map((folder) => join(folder, "files", name));
  return paths.find((path) => existsSync(path)) ?? paths[0];
}

/** The fonts' licence asks to be handed on with them. */
function fontLicences(workDir) {
  const texts = FONT_PACKAGES.map((folder) => readFileSync(join(folder, "LICENSE"), "utf8"));
  writeFileSync(join(workDir, "assets/fonts-licence.txt"), texts.join("\n\n"));
}

async function bundle(workDir) {
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: { boot: join(root, "static/boot.js"), style: "sheaf:style" },
    outdir: workDir,
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    minify: !dev,
    sourcemap: dev ? "linked" : false,
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    assetNames: "assets/[name]-[hash]",
    publicPath: "/",
    loader: { ".wasm": "file", ".woff2": "file", ".svg": "file", ".png": "file" },
    plugins: [sheafModules],
    metafile: true,
    logLevel: "warning",
  });
  return result.metafile.outputs;
}

function urls(outputs) {
  const names = Object.keys(outputs).map((path) => basename(path));
  const one = (test) => names.find(test);
  return {
    boot: one((name) => /^boot-.*\.js$/.test(name)),
    style: one((name) => /^style-.*\.css$/.test(name)),
    font: one((name) => /^inter-latin-wght-normal-.*\.woff2$/.test(name)),
    wasm: one((name) => name.endsWith(".wasm")),
    chunks: names.filter((name) => name.endsWith(".js") && !name.startsWith("boot-")),
  };
}

/** A hashed copy of the page's icon, where the project has one. */
function icon(workDir) {
  const source = ["static/icons/favicon.svg", "static/favicon.svg"].map((path) => join(root, path)).find((path) => existsSync(path));
  if (!source) return undefined;
  const hash = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 8).toUpperCase();
  copyFileSync(source, join(workDir, `assets/favicon-${hash}.svg`));
  return `favicon-${hash}.svg`;
}

function head({ boot, style, font, wasm, chunks }, iconName) {
  return [
    iconName && `<link rel="icon" type="image/svg+xml" href="/assets/${iconName}">`,
    style && `<link rel="stylesheet" href="/assets/${style}">`,
    font && `<link rel="preload" as="font" type="font/woff2" crossorigin="anonymous" href="/assets/${font}">`,
    `<link rel="preload" as="fetch" type="application/wasm" crossorigin="anonymous" href="/assets/${wasm}">`,
    `<link rel="modulepreload" href="/assets/${boot}">`,
    ...chunks.map((name) => `<link rel="modulepreload" href="/assets/${name}">`),
    `<script type="module" src="/assets/${boot}"></script>`,
  ].filter(Boolean).join("\n    ");
}

function compress(path) {
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}

function filesOf(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? filesOf(join(dir, entry.name)) : [join(dir, entry.name)]));
}

const workDir = `${outDir}.new`;
rmSync(workDir, { recursive: true, force: true });
mkdirSync(join(workDir, "assets"), { recursive: true });
const outputs = await bundle(workDir).catch(() => process.exit(1)); // esbuild has told what is wrong and where
fontLicences(workDir);
const page = readFileSync(join(root, "static/index.html"), "utf8");
writeFileSync(join(workDir, "index.html"), page.replace("<!-- assets -->", head(urls(outputs), icon(workDir))));
if (!dev) filesOf(workDir).filter((path) => COMPRESSED.has(extname(path))).forEach(compress);
rmSync(outDir, { recursive: true, force: true });
renameSync(workDir, outDir);
