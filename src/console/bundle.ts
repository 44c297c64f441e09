import { serialize } from "bun:jsc";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BunPlugin } from "bun";
import { bundleScripts, type ScriptBundle, SOURCE } from "./bundle-scripts.ts";
import { LANGUAGES, type Language } from "./web/page-settings.ts";
import {
  ASSET_PATH,
  compressFile,
  LICENSES,
  type LocalizedBuild,
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
  const [style, worker, source, ...bundled] = await Promise.all([
    bundleStyle(),
    bundleScripts({ root: join(WEB, "operator"), entry: "sw.ts", firstPages: [] }),
    bundleLanguage(SOURCE),
    ...OTHERS.map(async (language) => [language, await bundleLanguage(language)] as const),
  ]);
  const bundles = Object.fromEntries([[SOURCE, source], ...bundled]) as Record<Language, LanguageBundles>;
  const assets = new Map([[STYLE, style]]);
  const entries = Object.entries(bundles).map(([language, [main]]) => [language, ASSET_PATH + main?.entry]);
  const localized = async (language: Language): Promise<LocalizedBuild> => ({
    documents: DOCUMENTS.flatMap(({ name, entry }, at) => {
      const bundle = bundles[language][at];
      if (!bundle) return [];
      const html = readFileSync(join(WEB, name), "utf8")
        .replaceAll(LOCAL_REFERENCE, (_, path: string) => {
          if (path === entry) return ASSET_PATH + bundle.entry;
          const file = assets.get(path) ?? hashedFile(path, readFileSync(join(WEB, path)));
          assets.set(path, file);
          return ASSET_PATH + file.name;
        })
        .replace(SCRIPTS_SLOT, () =>
          SCRIPTS_SLOT.replace('""', `"${Bun.escapeHTML(JSON.stringify(Object.fromEntries(entries)))}"`),
        );
      return webFile(name, translated(name, html, language).replaceAll(/>\s+</g, ">\n<"));
    }),
    pages: await pageScripts(bundles[language][0]),
  });
  const languages = Object.fromEntries(
    await Promise.all(
      (Object.keys(LANGUAGES) as Language[]).map(async (language) => [language, await localized(language)]),
    ),
  ) as Record<Language, LocalizedBuild>;
  // Two bundles may have the same chunk.
  const all = Object.values(bundles).flat();
  const scripts = new Map(all.flatMap(({ files }) => files).map((file) => [file.name, file]));
  const packages = new Set(all.flatMap((bundle) => bundle.packages));
  return {
    assets: [
      ...scripts.values(),
      ...worker.files.map(({ body }) => webFile(SERVICE_WORKER, body)),
      ...assets.values(),
      webFile(LICENSES, licensesOf([...packages].sort())),
    ],
    languages,
  };
}

const OTHERS = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== SOURCE);
/** Where a document names the scripts of all languages. */
const SCRIPTS_SLOT = 'name="console-scripts" content=""';

/** The bundles of the documents, in their order. */
type LanguageBundles = readonly ScriptBundle[];

function bundleLanguage(language: Language): Promise<LanguageBundles> {
  return Promise.all(
    DOCUMENTS.map(({ entry, firstPages }) => bundleScripts({ root: WEB, entry, firstPages, language })),
  );
}

/** A document in another language: its texts are those of the table, which has all of them. */
function translated(name: string, html: string, language: Language): string {
  if (language === SOURCE) return html;
  const texts = JSON.parse(
    readFileSync(join(WEB, "text", language, "outside/documents.json"), "utf8"),
  ) as Record<string, Record<string, string>>;
  return Object.entries({ ...texts[name], '<html lang="en">': `<html lang="${language}">` }).reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`the document has no text “${from}”`);
      return text.replaceAll(from, () => to);
    },
    html,
  );
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
