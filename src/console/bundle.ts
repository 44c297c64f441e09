import { serialize } from "bun:jsc";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BunPlugin } from "bun";
import {
  ASSET_PATH,
  compressFile,
  LICENSES,
  type PageScripts,
  SERVICE_WORKER,
  type WebBuild,
  type WebFile,
  webFile,
} from "./web-build.ts";

const WEB = join(import.meta.dir, "web");
const MODULES = join(import.meta.dir, "../../node_modules");
const STYLE = "styles/index.css";
/** A file beside a document that it names. */
const LOCAL_REFERENCE = /(?<=\b(?:href|src)=")\.\/([^"]+)(?=")/g;

/** The documents with their scripts, and the modules of those pages that are opened first. */
const DOCUMENTS = [
  { name: "index.html", entry: "main.tsx", firstPages: ["landing/landing.tsx", "explore/home.tsx"] },
  { name: "approve.html", entry: "approve.tsx", firstPages: [] },
  { name: "sign-in.html", entry: "sign-in.tsx", firstPages: [] },
] as const;

/** The page as it is served, but not compressed. */
export interface WebSources extends Omit<WebBuild, "assets"> {
  readonly assets: readonly WebFile[];
}

/**
 * Bundles scripts with their lazy chunks, the style sheet, and the documents that name them. Nothing is compressed.
 * @throws AggregateError with the faults of the sources
 */
export async function bundleWeb(): Promise<WebSources> {
  const [style, worker, ...bundles] = await Promise.all([
    bundleStyle(),
    bundleScripts({ root: join(WEB, "operator"), entry: "sw.ts", firstPages: [] }),
    ...DOCUMENTS.map(({ entry, firstPages }) => bundleScripts({ root: WEB, entry, firstPages })),
  ]);
  const assets = new Map([[STYLE, style]]);
  const documents = DOCUMENTS.map(({ name, entry }, at) => {
    const html = readFileSync(join(WEB, name), "utf8").replaceAll(LOCAL_REFERENCE, (_, path: string) => {
      if (path === entry) return ASSET_PATH + bundles[at]?.entry;
      const file = assets.get(path) ?? hashedFile(path, readFileSync(join(WEB, path)));
      assets.set(path, file);
      return ASSET_PATH + file.name;
    });
    return webFile(name, html.replaceAll(/>\s+</g, ">\n<"));
  });
  // Two bundles may have the same chunk.
  const scripts = new Map(bundles.flatMap(({ files }) => files).map((file) => [file.name, file]));
  const packages = new Set(bundles.flatMap((bundle) => bundle.packages));
  return {
    documents,
    assets: [
      ...scripts.values(),
      ...worker.files.map(({ body }) => webFile(SERVICE_WORKER, body)),
      ...assets.values(),
      webFile(LICENSES, licensesOf([...packages].sort())),
    ],
    pages: await pageScripts(bundles[0]),
  };
}

/** Returns the style sheet with what it imports. */
async function bundleStyle(): Promise<WebFile> {
  const source = join(WEB, STYLE);
  // For browsers the bundler replaces `light-dark()`, which all supported ones have, by something larger.
  const built = await Bun.build({ entrypoints: [source], target: "bun", minify: true, throw: false });
  const [output] = built.outputs;
  if (!built.success || !output) throw new AggregateError(built.logs, `cannot bundle ${STYLE}`);
  return hashedFile(STYLE, new TextEncoder().encode(await output.text()));
}

/** The notices of all that the page contains of others. */
function licensesOf(packages: readonly string[]): string {
  const notices = packages.map((name) => {
    const text = readFileSync(join(MODULES, name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  notices.push(`Lucide (icons)\n\n${readFileSync(join(WEB, "icons/icons.license.txt"), "utf8").trim()}\n`);
  return notices.join(`\n${"-".repeat(80)}\n\n`);
}

function hashedFile(path: string, content: Uint8Array): WebFile {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 12);
  return webFile(
    basename(path).replace(/(\.\w+)$/, (extension) => `-${hash}${extension}`),
    content,
  );
}

/** The module that a page loads, as its text says. */
const LOADS = /import\(["']\.\/([^"']+)["']\)/;

/** The table of pages loads no page. Its name is computed so that the program does not import what runs in browsers. */
async function pageScripts(bundle: ScriptBundle | undefined): Promise<PageScripts[]> {
  const { pages } = (await import(join(WEB, "routes.ts"))) as {
    pages: readonly { readonly path: string; readonly load: () => unknown }[];
  };
  return pages.map(({ path, load }) => {
    const [, module] = LOADS.exec(load.toString()) ?? [];
    return { path, scripts: module === undefined ? [] : (bundle?.scriptsOf(module) ?? []) };
  });
}

/** The scripts of one entry. */
interface ScriptBundle {
  /** The name of the entry's script. */
  readonly entry: string;
  readonly files: readonly WebFile[];
  /** The packages that they contain. */
  readonly packages: readonly string[];
  /** Returns the name of the script of a lazily loaded module, and of those that it needs besides the entry. */
  scriptsOf(source: string): readonly string[];
}

interface ScriptSources {
  /** The directory of the sources. */
  readonly root: string;
  readonly entry: string;
  /** Lazily loaded modules of first pages: what they share with others is in the script of the entry. */
  readonly firstPages: readonly string[];
}

type Metafile = NonNullable<Bun.BuildOutput["metafile"]>;

/**
 * Bundles an entry with its lazily loaded modules, which are chunks of their own. By itself the bundler makes a chunk for each set
 * of pages that share a module; a first page would need a dozen of them. So the modules of the first pages are imported by the entry.
 * @throws AggregateError with the faults of the sources
 */
export async function bundleScripts({ root, entry, firstPages }: ScriptSources): Promise<ScriptBundle> {
  const graph = await build(root, entry, []);
  const shared = new Set<string>();
  for (const page of firstPages)
    addImports(graph.metafile, inputOf(graph.metafile, join(root, page)), shared);
  const { outputs, metafile } =
    shared.size === 0 ? graph : await build(root, entry, [importing(join(root, entry), [...shared])]);

  const files = await Promise.all(
    outputs.map(async (output) => webFile(basename(output.path), await output.text())),
  );
  const nameOf = (source: string) => {
    const isOf = (path: string | undefined) => path !== undefined && absolute(path) === join(root, source);
    const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => isOf(entryPoint)) ?? [];
    if (path === undefined) throw new Error(`there is no script for ${source}`);
    return basename(path);
  };
  const entryName = nameOf(entry);
  const importsOf = (name: string) =>
    Object.entries(metafile.outputs)
      .filter(([path]) => basename(path) === name)
      .flatMap(([, { imports }]) => imports)
      .filter(({ kind }) => kind === "import-statement")
      .map(({ path }) => basename(path));
  const withImports = (name: string, found: string[] = []): string[] => {
    if (name === entryName || found.includes(name)) return found;
    found.push(name);
    for (const next of importsOf(name)) withImports(next, found);
    return found;
  };
  const packages = Object.keys(metafile.inputs).flatMap(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  return { entry: entryName, files, packages, scriptsOf: (source) => withImports(nameOf(source)) };
}

async function build(root: string, entry: string, plugins: BunPlugin[]) {
  const built = await Bun.build({
    entrypoints: [join(root, entry)],
    root,
    target: "browser",
    format: "esm",
    minify: true,
    splitting: true,
    publicPath: ASSET_PATH,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
    plugins,
    throw: false,
  });
  if (!built.success || !built.metafile) throw new AggregateError(built.logs, `cannot bundle ${entry}`);
  return { outputs: built.outputs, metafile: built.metafile };
}

/** Imports further modules after an entry. */
function importing(entry: string, modules: readonly string[]): BunPlugin {
  const statements = modules.map((path) => `\nimport ${JSON.stringify(path)};`).join("");
  return {
    name: "shared-modules",
    setup(builder) {
      builder.onLoad({ filter: new RegExp(`^${RegExp.escape(entry)}$`) }, async ({ path }) => ({
        contents: (await Bun.file(path).text()) + statements,
        loader: "tsx",
      }));
    },
  };
}

/** Paths of a metafile are relative to the working directory. */
const absolute = (path: string) => join(process.cwd(), path);

function inputOf({ inputs }: Metafile, source: string): string {
  const found = Object.keys(inputs).find((path) => absolute(path) === source);
  if (found === undefined) throw new Error(`${source} is not in the bundle`);
  return found;
}

/** Adds the modules of the project that a module imports, but not itself. */
function addImports(metafile: Metafile, module: string, found: Set<string>): void {
  const { inputs } = metafile;
  for (const { kind, path } of inputs[module]?.imports ?? []) {
    if (kind !== "import-statement" || !inputs[path] || path.includes("node_modules")) continue;
    if (found.has(absolute(path))) continue;
    found.add(absolute(path));
    addImports(metafile, path, found);
  }
}

/** The page as a file that the executable includes. */
interface EmbeddedPage extends Disposable {
  /** Replaces the loader of the sources by one that reads the file. */
  readonly plugin: BunPlugin;
}

const BEST_QUALITY = 11;
const LOADER = /[/\\]src[/\\]console[/\\]load-build\.ts$/;

/** Bundles and compresses the page for the compiled program. */
export async function embedPage(): Promise<EmbeddedPage> {
  const { assets, ...rest } = await bundleWeb();
  const build: WebBuild = { ...rest, assets: assets.map((file) => compressFile(file, BEST_QUALITY)) };
  const dir = mkdtempSync(join(tmpdir(), "svc-page-"));
  const path = join(dir, "page.bin");
  writeFileSync(path, serialize(build, { binaryType: "nodebuffer" }));
  const loader = `
    import { deserialize } from "bun:jsc";
    import path from ${JSON.stringify(path)} with { type: "file" };
    export const loadBuild = async () => deserialize(await Bun.file(path).arrayBuffer());
  `;
  return {
    plugin: {
      name: "embedded-page",
      setup: (builder) =>
        builder.onLoad({ filter: LOADER }, () => ({ contents: loader, loader: "js" })) as never,
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
