import { serialize } from "bun:jsc";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BunPlugin } from "bun";
import { bundleScripts, type ScriptBundle, SOURCE } from "./bundle-scripts.ts";
import { LANGUAGES, type Language } from "./web/page-settings.ts";
import {
  ASSET_PATH,
  brotliFile,
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
/** Matches a reference in a document to a file next to it. */
const LOCAL_REFERENCE = /(?<=\b(?:href|src)=")\.\/([^"]+)(?=")/g;

const DOCUMENTS = ["index.html", "approve.html", "sign-in.html"] as const;

/** The entry scripts of the documents, with the modules of pages that are opened first. */
const ENTRIES = {
  "main.tsx": ["landing/landing.tsx", "explore/home.tsx"],
  "outside.tsx": [],
} as const satisfies Record<string, readonly string[]>;

/** The page as it is served, before compression. */
export interface WebSources extends Omit<WebBuild, "assets"> {
  readonly assets: readonly WebFile[];
}

/**
 * Bundles scripts with their lazy chunks, the style sheet, and the documents that refer to them. Nothing is compressed.
 * @throws AggregateError with the errors in the sources
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
  const entries = Object.entries(bundles).map(([language, { "main.tsx": main }]) => [
    language,
    ASSET_PATH + main.entry,
  ]);
  const localized = async (language: Language): Promise<LocalizedBuild> => ({
    documents: DOCUMENTS.map((name) => {
      const html = readFileSync(join(WEB, name), "utf8")
        .replaceAll(LOCAL_REFERENCE, (_, path: string) => {
          if (isEntry(path)) return ASSET_PATH + bundles[language][path].entry;
          const file = assets.get(path) ?? hashedFile(path, readFileSync(join(WEB, path)));
          assets.set(path, file);
          return ASSET_PATH + file.name;
        })
        .replace(SCRIPTS_SLOT, () =>
          SCRIPTS_SLOT.replace('""', `"${Bun.escapeHTML(JSON.stringify(Object.fromEntries(entries)))}"`),
        );
      return webFile(name, translated(name, html, language).replaceAll(/>\s+</g, ">\n<"));
    }),
    pages: await pageScripts(bundles[language]["main.tsx"]),
  });
  const languages = Object.fromEntries(
    await Promise.all(
      (Object.keys(LANGUAGES) as Language[]).map(async (language) => [language, await localized(language)]),
    ),
  ) as Record<Language, LocalizedBuild>;
  // Two bundles may contain the same chunk.
  const all = Object.values(bundles).flatMap((ofLanguage) => Object.values(ofLanguage));
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
/** The place where a document lists the scripts of all languages. */
const SCRIPTS_SLOT = 'name="console-scripts" content=""';

type LanguageBundles = Readonly<Record<keyof typeof ENTRIES, ScriptBundle>>;

const isEntry = (path: string): path is keyof typeof ENTRIES => path in ENTRIES;

async function bundleLanguage(language: Language): Promise<LanguageBundles> {
  const bundled = Object.entries(ENTRIES).map(
    async ([entry, firstPages]) =>
      [entry, await bundleScripts({ root: WEB, entry, firstPages, language })] as const,
  );
  return Object.fromEntries(await Promise.all(bundled)) as LanguageBundles;
}

/** Returns a document in another language. The table of texts must contain all of its texts. */
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

/** Returns the style sheet with everything that it imports. */
async function bundleStyle(): Promise<WebFile> {
  const source = join(WEB, STYLE);
  // For browsers the bundler would replace `light-dark()`, which all supported browsers have, by something larger.
  const built = await Bun.build({ entrypoints: [source], target: "bun", minify: true, throw: false });
  const [output] = built.outputs;
  if (!built.success || !output) throw new AggregateError(built.logs, `cannot bundle ${STYLE}`);
  return hashedFile(STYLE, new TextEncoder().encode(await output.text()));
}

/** Returns the license notices of all third-party code in the page. */
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

/** Finds the module that a page loads, in its source text. */
const LOADS = /import\(["']\.\/([^"']+)["']\)/;

/**
 * Returns the scripts of each page. The table of pages does not load any page. Its name is computed, so that the program does not import
 * code for browsers.
 */
async function pageScripts(bundle: ScriptBundle): Promise<PageScripts[]> {
  const { pages } = (await import(join(WEB, "routes.ts"))) as {
    pages: readonly { readonly path: string; readonly load: () => unknown }[];
  };
  return pages.map(({ path, load }) => {
    const [, module] = LOADS.exec(load.toString()) ?? [];
    return { path, scripts: module === undefined ? [] : bundle.scriptsOf(module) };
  });
}

/** The page as a file that is included in the executable. */
interface EmbeddedPage extends Disposable {
  /** Replaces the loader of the sources by one that reads the file. */
  readonly plugin: BunPlugin;
}

const BEST_QUALITY = 11;
const LOADER = /[/\\]src[/\\]console[/\\]load-build\.ts$/;

/** Bundles and compresses the page. Returns what is included in the executable. */
export async function packPage(): Promise<Uint8Array> {
  const { assets, ...rest } = await bundleWeb();
  const build: WebBuild = { ...rest, assets: assets.map((file) => brotliFile(file, BEST_QUALITY)) };
  // The rest, such as the table of pages and their scripts, is worth compressing.
  return Bun.zstdCompressSync(serialize(build, { binaryType: "nodebuffer" }), { level: 19 });
}

/** Includes the page in the compiled program. */
export async function embedPage(): Promise<EmbeddedPage> {
  const dir = mkdtempSync(join(tmpdir(), "svc-page-"));
  const path = join(dir, "page.bin");
  writeFileSync(path, await packPage());
  const loader = `
    import { deserialize } from "bun:jsc";
    import path from ${JSON.stringify(path)} with { type: "file" };
    export const loadBuild = async () => deserialize(Bun.zstdDecompressSync(await Bun.file(path).bytes()));
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
