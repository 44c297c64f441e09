import { brotliCompressSync, constants } from "node:zlib";
import type { Language } from "./web/page-settings.ts";

/** A file of the page. */
export interface WebFile {
  /** For an asset, as in `/console/a/<name>`, including the hash of its content; for a document, the name of its source. */
  readonly name: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A file in its stored forms. The executable contains only the smallest; others are made from it (`chooseBytes`). */
export interface CodedFile {
  readonly name: string;
  readonly contentType: string;
  /** Absent if compression makes the file smaller, because few clients ask for the plain form. */
  readonly body?: Uint8Array | undefined;
  readonly gzip?: Uint8Array | undefined;
  readonly br?: Uint8Array | undefined;
}

/** The page as it is served. */
export interface WebBuild {
  readonly assets: readonly CodedFile[];
  readonly languages: Readonly<Record<Language, LocalizedBuild>>;
}

/** The page in one language. */
export interface LocalizedBuild {
  /** The HTML documents, which refer to the assets that they need. */
  readonly documents: readonly WebFile[];
  readonly pages: readonly PageScripts[];
}

/** A page of the console. */
export interface PageScripts {
  /** As in `/console/people/:who`. */
  readonly path: string;
  /** The names of the scripts that it needs in addition to that of its document. */
  readonly scripts: readonly string[];
}

/** Path of the assets. Except for the licenses, a name is never reused for other content. */
export const ASSET_PATH = "/console/a/";

export const LICENSES = "licenses.txt";

/** The service worker. Its scope starts with its path, `/console/<name>`, so its name must not change. */
export const SERVICE_WORKER = "sw.js";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/** Returns a file of the page with the content type for its name. */
export function webFile(name: string, content: string | Uint8Array): WebFile {
  const contentType = TYPES[name.split(".").at(-1) ?? ""];
  if (contentType === undefined) throw new Error(`there is no content type for ${name}`);
  return {
    name,
    contentType,
    body: typeof content === "string" ? new TextEncoder().encode(content) : content,
  };
}

/** Compresses a file in the form that every client accepts. */
export function gzipFile({ name, contentType, body }: WebFile): CodedFile {
  const gzip = gzipBest(body);
  return { name, contentType, ...(gzip.byteLength < body.byteLength ? { gzip } : { body }) };
}

/** Compresses a file in the form that browsers accept over https. @param quality the best, 11, takes about a millisecond per KB. */
export function brotliFile({ name, contentType, body }: WebFile, quality: number): CodedFile {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  };
  const br = new Uint8Array(brotliCompressSync(body, { params }));
  return { name, contentType, ...(br.byteLength < body.byteLength ? { br } : { body }) };
}

export const gzipBest = (bytes: Uint8Array): Uint8Array =>
  Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>, { level: 9 });
