import { brotliDecompressSync } from "node:zlib";
import { loadOnce } from "../lib/promises.ts";
import { isLanguage, isPageServed, type Language, type PageSettings } from "./web/page-settings.ts";
import {
  ASSET_PATH,
  brotliFile,
  type CodedFile,
  gzipBest,
  gzipFile,
  type PageScripts,
  type WebBuild,
  webFile,
} from "./web-build.ts";

/**
 * Returns the headers of a document. Nothing is loaded from other hosts, except images that the reader asked for.
 * @param images whether images from other hosts are allowed.
 */
export function documentHeaders(images: boolean): Record<string, string> {
  return images ? WITH_IMAGES : WITHOUT_IMAGES;
}

const headersWith = (imageSources: string) => ({
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${imageSources}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  // Wallets open windows that communicate with the page.
  "cross-origin-opener-policy": "same-origin-allow-popups",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": [
    "clipboard-write=(self)",
    ...["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb"].map(
      (feature) => `${feature}=()`,
    ),
  ].join(", "),
});

const WITHOUT_IMAGES = headersWith("'self' data:");
const WITH_IMAGES = headersWith("'self' data: https:");

interface ChosenBytes {
  readonly bytes: Uint8Array;
  /** The value of `content-encoding`; undefined for the plain file. */
  readonly coding: "br" | "gzip" | undefined;
}

/** Returns the smallest available form of a file that a client accepts. */
export function chooseBytes({ br, gzip, body }: CodedFile, acceptEncoding: string | null): ChosenBytes {
  const accepts = acceptedNames(acceptEncoding ?? "");
  if (br && accepts("br")) return { bytes: br, coding: "br" };
  if (gzip && accepts("gzip")) return { bytes: gzip, coding: "gzip" };
  return { bytes: body ?? plainBytes({ br, gzip }), coding: undefined };
}

const plainBytes = ({ br, gzip }: Pick<CodedFile, "br" | "gzip">): Uint8Array =>
  gzip ? Bun.gunzipSync(gzip as Uint8Array<ArrayBuffer>) : brotliDecompressSync(br as Uint8Array);

/** Reports whether `Accept` contains `text/html` itself: a client that accepts anything gets the JSON for programs. */
export function acceptsHtml(accept: string | null): boolean {
  return acceptedNames(accept ?? "", false)("text/html");
}

/** Returns a test for the names in a header that have a weight above 0 (RFC 9110, 12.4.2). */
function acceptedNames(header: string, anyCounts = true): (name: string) => boolean {
  const accepted = new Map<string, boolean>();
  for (const item of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    accepted.set(name, weight === undefined || Number(weight.slice(2)) > 0);
  }
  return (name) => accepted.get(name) ?? (anyCounts && accepted.get("*") === true);
}

/** Returns which of the console's languages a browser prefers; English if none. */
export function preferredLanguage(acceptLanguage: string | null): Language {
  const wanted = (acceptLanguage ?? "")
    .toLowerCase()
    .split(",")
    .map((item) => {
      const [tag = "", ...parameters] = item.split(";").map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return { name: tag.split("-", 1)[0], weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
    });
  const [first] = wanted
    .filter(({ name, weight }) => weight > 0 && isLanguage(name))
    .sort((a, b) => b.weight - a.weight);
  return isLanguage(first?.name) ? first.name : "en";
}

/** A document, completed with the settings that the page needs. */
export interface WebDocument extends CodedFile {
  /** The start of its strong ETags, without quotes; each encoding adds its name. */
  readonly hash: string;
}

/** Serves the files from memory. */
export interface WebAssets {
  /** @throws Error if the page cannot be loaded; the next call tries again. */
  load(): Promise<LoadedAssets>;
}

export type LoadedAssets = ReturnType<typeof prepare>;

const FIRST_PAGE = "/";
const SHELL = "index.html";
const SETTINGS_SLOT = 'name="console-settings" content=""';
/** The part that only the first page has, so that it needs no script. */
const LANDING = /<!--landing-->[\s\S]*<!--\/landing-->/;
const HEAD_END = "</head>";
const DOCUMENT_BROTLI_QUALITY = 9;

/**
 * Creates the store of files. Nothing is read before the first request.
 */
export function createWebAssets(loadBuild: () => Promise<WebBuild>, settings: PageSettings): WebAssets {
  return { load: loadOnce(async () => prepare(await loadBuild(), settings)) };
}

function prepare(build: WebBuild, settings: PageSettings) {
  const assets = new Map(build.assets.map((file) => [file.name, file]));
  /** By language and the path in the table of pages. */
  const documents = new Map<string, WebDocument>();
  /** Some settings may change while the node runs. */
  let settingsOfDocuments = "";
  const pagesOf = (language: Language) =>
    build.languages[language].pages
      .filter(({ path }) => isPageServed(path, settings))
      .map((page) => ({ ...page, segments: page.path.split("/") }));
  const pages = { en: pagesOf("en"), de: pagesOf("de") } satisfies Record<Language, unknown>;

  /** Returns the text of a document that is completed for each request. */
  function template(name: string, language: Language): string {
    const file = build.languages[language].documents.find((one) => one.name === name);
    if (!file) throw new Error(`there is no document ${name}`);
    const value = Bun.escapeHTML(JSON.stringify(settings));
    return new TextDecoder()
      .decode(file.body)
      .replace(SETTINGS_SLOT, () => SETTINGS_SLOT.replace('""', `"${value}"`));
  }

  function documentOf(page: PageScripts | undefined, language: Language): WebDocument {
    // Without this, the page would request its scripts only after the first script runs.
    const preloads = (page?.scripts ?? []).map(
      (name) => `<link rel="modulepreload" href="${ASSET_PATH}${name}">`,
    );
    const html = template(SHELL, language).replace(HEAD_END, () => preloads.join("") + HEAD_END);
    const file = webFile(SHELL, page?.path === FIRST_PAGE ? html : html.replace(LANDING, ""));
    const hash = new Bun.CryptoHasher("sha256").update(file.body).digest("base64url").slice(0, 20);
    return { ...gzipFile(file), ...brotliFile(file, DOCUMENT_BROTLI_QUALITY), hash };
  }

  return {
    template,
    /**
     * Returns an asset in a form that a client accepts. The executable contains only Brotli, which browsers do not accept over plain
     * http, so the gzip form is made once.
     */
    asset(name: string, acceptEncoding: string | null): (ChosenBytes & CodedFile) | undefined {
      const file = assets.get(name);
      if (!file) return undefined;
      const chosen = chooseBytes(file, acceptEncoding);
      if (chosen.coding || !file.br || !acceptedNames(acceptEncoding ?? "")("gzip"))
        return { ...file, ...chosen };
      const gzip = gzipBest(chosen.bytes);
      assets.set(name, { ...file, gzip });
      return { ...file, bytes: gzip, coding: "gzip" };
    },
    /** Returns the document for a path, and whether the table of pages contains it. */
    page(path: string, language: Language): { readonly document: WebDocument; readonly isKnown: boolean } {
      const segments = path.split("/");
      const found = pages[language].find((page) => matches(page.segments, segments));
      const now = JSON.stringify(settings);
      if (now !== settingsOfDocuments) documents.clear();
      settingsOfDocuments = now;
      const key = `${language} ${found?.path}`;
      const document = documents.get(key) ?? documentOf(found, language);
      documents.set(key, document);
      return { document, isKnown: found !== undefined };
    },
  };
}

const matches = (pattern: readonly string[], segments: readonly string[]) =>
  pattern.length === segments.length &&
  pattern.every((part, at) => (part.startsWith(":") ? segments[at] !== "" : part === segments[at]));
