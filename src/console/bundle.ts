import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleScripts, type ScriptBundle } from "./bundle-scripts.ts";
import { ASSET_PATH, LICENSES, type PageScripts, type WebBuild, type WebFile } from "./web-build.ts";
import { webFile } from "./web-file.ts";

const WEB = join(import.meta.dir, "web");
const MODULES = join(import.meta.dir, "../../node_modules");
const STYLE = "styles/index.css";
/** A file beside a document that it names. */
const LOCAL_REFERENCE = /(?<=\b(?:href|src)=")\.\/([^"]+)(?=")/g;

/** The documents with their scripts, and the modules of those pages that are opened first. */
const DOCUMENTS = [
  { name: "index.html", entry: "main.tsx", firstPages: ["landing/landing.tsx", "explore/home.tsx"] },
  { name: "approve.html", entry: "approve.tsx", firstPages: [] },
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
  const [style, ...bundles] = await Promise.all([
    bundleStyle(),
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
    assets: [...scripts.values(), ...assets.values(), webFile(LICENSES, licensesOf([...packages].sort()))],
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
  notices.push(`Lucide (icons)\n\n${readFileSync(join(WEB, "icons.license.txt"), "utf8").trim()}\n`);
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
