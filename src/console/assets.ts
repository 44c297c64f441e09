import { loadOnce } from "../lib/load-once.ts";
import { compressFile } from "./compress.ts";
import type { PageSettings } from "./web/page-settings.ts";
import type { CodedFile, WebBuild, WebFile } from "./web-build.ts";

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
  document(name: string): WebDocument;
  /** Returns the text of a document that is completed for each request. */
  template(name: string): string;
  asset(name: string): CodedFile | undefined;
  /** Whether the table of pages has a page with this path. */
  isPage(path: string): boolean;
}

/** Sections that settings remove. */
const MANAGE = "/console/manage";
const OPERATOR = "/console/operator";
const SETTINGS_SLOT = 'name="console-settings" content=""';
/** What only the first page has, so that it needs no script. */
const LANDING = /<!--landing-->[\s\S]*<!--\/landing-->/;
const DOCUMENT_BROTLI_QUALITY = 9;

/**
 * Creates the store of files. Nothing is read before the first request.
 */
export function createWebAssets(loadBuild: () => Promise<WebBuild>, settings: PageSettings): WebAssets {
  return { load: loadOnce(async () => prepare(await loadBuild(), settings)) };
}

function prepare(build: WebBuild, settings: PageSettings): LoadedAssets {
  const assets = new Map(build.assets.map((file) => [file.name, file]));
  const documents = new Map(build.documents.map((file) => [file.name, documentOf(file, settings)]));
  const first = build.documents.find(({ name }) => name === "index.html");
  if (first) documents.set("page.html", documentOf(withoutLanding(first), settings));
  const patterns = build.pagePaths
    .filter((path) => settings.manage || !isWithin(path, MANAGE))
    .filter((path) => settings.operator || !isWithin(path, OPERATOR))
    .map((path) => path.split("/"));
  return {
    asset: (name) => assets.get(name),
    template(name) {
      const file = build.documents.find((one) => one.name === name);
      if (!file) throw new Error(`there is no document ${name}`);
      return withSettings(file, settings);
    },
    document(name) {
      const document = documents.get(name);
      if (!document) throw new Error(`there is no document ${name}`);
      return document;
    },
    isPage(path) {
      const segments = path.split("/");
      return patterns.some(
        (pattern) =>
          pattern.length === segments.length &&
          pattern.every((part, at) => (part.startsWith(":") ? segments[at] !== "" : part === segments[at])),
      );
    },
  };
}

const isWithin = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`);

function withoutLanding(file: WebFile): WebFile {
  const html = new TextDecoder().decode(file.body).replace(LANDING, "");
  return { ...file, body: new TextEncoder().encode(html) };
}

function withSettings({ body }: WebFile, settings: PageSettings): string {
  const value = Bun.escapeHTML(JSON.stringify(settings));
  return new TextDecoder()
    .decode(body)
    .replace(SETTINGS_SLOT, () => SETTINGS_SLOT.replace('""', `"${value}"`));
}

function documentOf(file: WebFile, settings: PageSettings): WebDocument {
  const body = new TextEncoder().encode(withSettings(file, settings));
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("base64url").slice(0, 20);
  return { ...compressFile({ ...file, body }, DOCUMENT_BROTLI_QUALITY), hash };
}
