import { loadOnce } from "../lib/load-once.ts";
import { compressFile } from "./compress.ts";
import type { PageSettings } from "./web/page-settings.ts";
import { isPageServed } from "./web/served-pages.ts";
import { ASSET_PATH, type CodedFile, type PageScripts, type WebBuild } from "./web-build.ts";
import { webFile } from "./web-file.ts";

/** A document with the settings that the page needs. */
export interface WebDocument extends CodedFile {
  /** The start of its strong ETags, without quotes; each encoding adds its name. */
  readonly hash: string;
}

/** The files that are served, in memory. */
export interface WebAssets {
  /** @throws Error where the page cannot be loaded; the next call tries again. */
  load(): Promise<LoadedAssets>;
}

export interface LoadedAssets {
  /** Returns the document for a path, and whether the table of pages has a page with it. */
  page(path: string): { readonly document: WebDocument; readonly isKnown: boolean };
  /** Returns the text of a document that is completed for each request. */
  template(name: string): string;
  asset(name: string): CodedFile | undefined;
}

const FIRST_PAGE = "/";
const SHELL = "index.html";
const SETTINGS_SLOT = 'name="console-settings" content=""';
/** What only the first page has, so that it needs no script. */
const LANDING = /<!--landing-->[\s\S]*<!--\/landing-->/;
const HEAD_END = "</head>";
const DOCUMENT_BROTLI_QUALITY = 9;

/**
 * Creates the store of files. Nothing is read before the first request.
 */
export function createWebAssets(loadBuild: () => Promise<WebBuild>, settings: PageSettings): WebAssets {
  return { load: loadOnce(async () => prepare(await loadBuild(), settings)) };
}

function prepare(build: WebBuild, settings: PageSettings): LoadedAssets {
  const assets = new Map(build.assets.map((file) => [file.name, file]));
  const pages = build.pages
    .filter(({ path }) => isPageServed(path, settings))
    .map((page) => ({ ...page, segments: page.path.split("/") }));
  /** By the path in the table; undefined for paths that have no page. */
  const documents = new Map<string | undefined, WebDocument>();

  function template(name: string): string {
    const file = build.documents.find((one) => one.name === name);
    if (!file) throw new Error(`there is no document ${name}`);
    const value = Bun.escapeHTML(JSON.stringify(settings));
    return new TextDecoder()
      .decode(file.body)
      .replace(SETTINGS_SLOT, () => SETTINGS_SLOT.replace('""', `"${value}"`));
  }

  function documentOf(page: PageScripts | undefined): WebDocument {
    // The page asks for its scripts only once the first script runs.
    const preloads = (page?.scripts ?? []).map(
      (name) => `<link rel="modulepreload" href="${ASSET_PATH}${name}">`,
    );
    const html = template(SHELL).replace(HEAD_END, () => preloads.join("") + HEAD_END);
    const file = webFile(SHELL, page?.path === FIRST_PAGE ? html : html.replace(LANDING, ""));
    const hash = new Bun.CryptoHasher("sha256").update(file.body).digest("base64url").slice(0, 20);
    return { ...compressFile(file, DOCUMENT_BROTLI_QUALITY), hash };
  }

  return {
    template,
    asset: (name) => assets.get(name),
    page(path) {
      const segments = path.split("/");
      const found = pages.find((page) => matches(page.segments, segments));
      const document = documents.get(found?.path) ?? documentOf(found);
      documents.set(found?.path, document);
      return { document, isKnown: found !== undefined };
    },
  };
}

const matches = (pattern: readonly string[], segments: readonly string[]) =>
  pattern.length === segments.length &&
  pattern.every((part, at) => (part.startsWith(":") ? segments[at] !== "" : part === segments[at]));
