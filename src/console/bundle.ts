import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ASSET_PATH, LICENSES, type WebBuild, type WebFile } from "./web-build.ts";

const WEB = join(import.meta.dir, "web");
const MODULES = join(import.meta.dir, "../../node_modules");
const DOCUMENTS = ["index.html", "approve.html"] as const;
/** A file beside a document that it names. */
const LOCAL_REFERENCE = /(?<=\b(?:href|src)=")\.\/([^"]+)(?=")/g;

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/** The page as it is served, but not compressed. */
export interface WebSources extends Omit<WebBuild, "assets"> {
  readonly assets: readonly WebFile[];
}

/**
 * Bundles the page: scripts with their lazy chunks, the style sheet, and the documents that name them. Nothing is compressed.
 * @throws AggregateError with the faults of the sources
 */
export async function bundleWeb(): Promise<WebSources> {
  const sources = new Map(DOCUMENTS.map((name) => [name, readFileSync(join(WEB, name), "utf8")]));
  const references = new Set(
    [...sources.values()].flatMap((html) => [...html.matchAll(LOCAL_REFERENCE)].map(([, path = ""]) => path)),
  );
  const scripts = [...references].filter((path) => path.endsWith(".tsx"));
  const [chunks, ...others] = await Promise.all([
    bundleScripts(scripts),
    ...[...references]
      .filter((path) => !path.endsWith(".tsx"))
      .map(async (path) => [path, await otherAsset(path)] as const),
  ]);
  const nameOf = new Map(others.map(([path, { name }]) => [path, name]));
  for (const [path, entry] of chunks.entries) nameOf.set(path, entry);

  const documents = [...sources].map(([name, html]): WebFile => {
    const preloads = new Set<string>();
    const linked = html.replaceAll(LOCAL_REFERENCE, (_, path: string) => {
      const asset = nameOf.get(path) ?? "";
      for (const chunk of chunks.importsOf(asset)) preloads.add(chunk);
      return ASSET_PATH + asset;
    });
    const links = [...preloads].map((chunk) => `<link rel="modulepreload" href="${ASSET_PATH}${chunk}">`);
    const complete = linked.replace("</head>", `${links.join("")}</head>`).replaceAll(/>\s+</g, ">\n<");
    return { name, contentType: "text/html; charset=utf-8", body: new TextEncoder().encode(complete) };
  });
  const licenses = webFile(LICENSES, licensesOf(chunks.packages));
  return {
    documents,
    assets: [...chunks.files, ...others.map(([, file]) => file), licenses],
    pagePaths: await pagePaths(),
  };
}

/** Returns the scripts and, for each entry, the chunks that it needs from the start. */
async function bundleScripts(paths: readonly string[]): Promise<{
  readonly files: readonly WebFile[];
  /** The packages that they contain. */
  readonly packages: readonly string[];
  /** The name of the script of an entry. */
  readonly entries: ReadonlyMap<string, string>;
  importsOf(name: string): readonly string[];
}> {
  const built = await Bun.build({
    entrypoints: paths.map((path) => join(WEB, path)),
    root: WEB,
    target: "browser",
    format: "esm",
    minify: true,
    splitting: true,
    publicPath: ASSET_PATH,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
    throw: false,
  });
  if (!built.success) throw new AggregateError(built.logs, "cannot bundle the console");
  const inputs = Object.keys(built.metafile?.inputs ?? {});
  const packages = new Set(
    inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );
  const transpiler = new Bun.Transpiler({ loader: "js" });
  const files: WebFile[] = [];
  const imports = new Map<string, readonly string[]>();
  for (const output of built.outputs) {
    const name = output.path.replace(/^\.\//, "");
    const text = await output.text();
    files.push(webFile(name, text));
    imports.set(
      name,
      transpiler
        .scanImports(text)
        .filter(({ kind, path }) => kind === "import-statement" && path.startsWith(ASSET_PATH))
        .map(({ path }) => path.slice(ASSET_PATH.length)),
    );
  }
  const reachable = (name: string, found = new Set<string>()): Set<string> => {
    for (const next of imports.get(name) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      reachable(next, found);
    }
    return found;
  };
  const entries = new Map(
    paths.map((path) => {
      const stem = path.replace(/^.*\/|\.tsx$/g, "");
      const entry = built.outputs.find(
        ({ kind, path: output }) => kind === "entry-point" && output.startsWith(`./${stem}-`),
      );
      if (!entry) throw new Error(`there is no script for ${path}`);
      return [path, entry.path.slice(2)];
    }),
  );
  return { files, packages: [...packages].sort(), entries, importsOf: (name) => [...reachable(name)] };
}

/** Returns a style sheet with what it imports, or another file as it is. */
async function otherAsset(path: string): Promise<WebFile> {
  const source = join(WEB, path);
  if (!path.endsWith(".css")) return webFile(hashedName(path, readFileSync(source)), readFileSync(source));
  // For browsers the bundler replaces `light-dark()`, which all supported ones have, by something larger.
  const built = await Bun.build({ entrypoints: [source], target: "bun", minify: true, throw: false });
  const [output] = built.outputs;
  if (!built.success || !output) throw new AggregateError(built.logs, `cannot bundle ${path}`);
  const text = await output.text();
  return webFile(hashedName(path, text), text);
}

/** The notices of all that the page contains of others. */
function licensesOf(packages: readonly string[]): string {
  const notices = packages.map((name) => {
    const text = readFileSync(join(MODULES, name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  notices.push(`Lucide (icons)\n\n${readFileSync(join(WEB, "icons.license.txt"), "utf8").trim()}\n`);
  return notices.join(`\n${"-".repeat(80)}\n\n`);
}

function hashedName(path: string, content: string | Uint8Array): string {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 12);
  return path.replace(/^.*\//, "").replace(/(\.\w+)$/, `-${hash}$1`);
}

function webFile(name: string, content: string | Uint8Array): WebFile {
  const contentType = TYPES[name.split(".").at(-1) ?? ""];
  if (contentType === undefined) throw new Error(`there is no content type for ${name}`);
  return {
    name,
    contentType,
    body: typeof content === "string" ? new TextEncoder().encode(content) : content,
  };
}

/** The table of pages loads no page. Its name is computed so that the program does not import what runs in browsers. */
async function pagePaths(): Promise<string[]> {
  const { pages } = (await import(join(WEB, "routes.ts"))) as {
    pages: readonly { readonly path: string }[];
  };
  return pages.map(({ path }) => path);
}
