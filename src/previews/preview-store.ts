import { createHash } from "node:crypto";
import { decodeStored, type SideDatabase, type SideSchema } from "../db/side/side-database.ts";
import { statement } from "../db/side/statement.ts";
import type { PreviewHtml } from "../read/hydrate/previews.ts";
import { CATALOG_TABLES } from "./catalog/catalog-store.ts";
import type { FetchOutcome } from "./fetch-preview.ts";
import type { Frame } from "./parse/frame.ts";
import type { PreviewUrl } from "./preview-url.ts";

/** File of the previews. Backups do not contain it. */
export const PREVIEW_SCHEMA: SideSchema = {
  name: "previews",
  steps: [
    `CREATE TABLE previews (
      url_hash BLOB PRIMARY KEY NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, status INTEGER NOT NULL,
      fetched_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, used_at INTEGER NOT NULL, failures INTEGER NOT NULL,
      content_type TEXT, content_length INTEGER, width INTEGER, height INTEGER, meta TEXT
    );
    CREATE INDEX previews_used ON previews (used_at)`,
    CATALOG_TABLES,
  ],
};

const RESOLVED = 1;
const FAILED = 2;
const HASH_BYTES = 16;
const MAX_META_BYTES = 16 * 1024;
const HOUR_SECS = 3600;
const DAY_SECS = 86_400;
const FIRST_RETRY_SECS = 600;
const REFUSED_SECS = 7 * DAY_SECS;
const SWEPT_ROWS = 100;
const MAX_SHRUNK_PAGES = 1_000;

/** A stored preview. Times are unix seconds. */
export interface StoredPreview {
  readonly url: string;
  readonly isResolved: boolean;
  readonly fetchedAt: number;
  readonly expiresAt: number;
  readonly contentType: string | null;
  readonly contentLength: number | null;
  readonly image: { readonly width_px: number; readonly height_px: number } | undefined;
  readonly html: PreviewHtml | undefined;
  readonly frame: Frame | undefined;
}

interface Row {
  url: string;
  status: number;
  fetchedAt: number;
  expiresAt: number;
  failures: number;
  contentType: string | null;
  contentLength: number | null;
  width: number | null;
  height: number | null;
  meta: string | null;
}

const select = statement<Row, [hash: Uint8Array]>(
  "previews.by-url",
  `SELECT url, status, fetched_at AS fetchedAt, expires_at AS expiresAt, failures, content_type AS contentType,
     content_length AS contentLength, width, height, meta FROM previews WHERE url_hash = ?`,
);
const upsert = statement<
  unknown,
  [
    hash: Uint8Array,
    url: string,
    host: string,
    status: number,
    at: number,
    expiresAt: number,
    failures: number,
    contentType: string | null,
    contentLength: number | null,
    width: number | null,
    height: number | null,
    meta: string | null,
  ]
>(
  "previews.put",
  `INSERT INTO previews (url_hash, url, host, status, fetched_at, expires_at, used_at, failures, content_type, content_length, width, height, meta)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?5, ?7, ?8, ?9, ?10, ?11, ?12)
   ON CONFLICT (url_hash) DO UPDATE SET status = ?4, fetched_at = ?5, expires_at = ?6, failures = ?7, content_type = ?8,
     content_length = ?9, width = ?10, height = ?11, meta = ?12`,
);
const postpone = statement<unknown, [hash: Uint8Array, expiresAt: number, failures: number]>(
  "previews.postpone",
  "UPDATE previews SET expires_at = ?2, failures = ?3 WHERE url_hash = ?1",
);
const use = statement<unknown, [hash: Uint8Array, at: number]>(
  "previews.use",
  "UPDATE previews SET used_at = ?2 WHERE url_hash = ?1",
);
const sweepOldest = statement<unknown, [rows: number]>(
  "previews.sweep",
  "DELETE FROM previews WHERE url_hash IN (SELECT url_hash FROM previews ORDER BY used_at LIMIT ?)",
);

export function hashOfUrl(href: string): Uint8Array {
  return createHash("sha256").update(href).digest().subarray(0, HASH_BYTES);
}

/** Returns the preview of a URL; undefined if it was not fetched. */
export function findPreview(db: SideDatabase, href: string): StoredPreview | undefined {
  const row = db.get(select, hashOfUrl(href));
  if (row?.url !== href) return undefined;
  const { width, height, meta } = row;
  const { html, frame } = (meta === null ? {} : decodeStored(() => JSON.parse(meta))) as Pick<
    StoredPreview,
    "html" | "frame"
  >;
  return {
    url: row.url,
    isResolved: row.status === RESOLVED,
    fetchedAt: row.fetchedAt,
    expiresAt: row.expiresAt,
    contentType: row.contentType,
    contentLength: row.contentLength,
    image: width === null || height === null ? undefined : { width_px: width, height_px: height },
    html,
    frame,
  };
}

/**
 * Stores the outcome of a fetch and when the URL is fetched again. The preview of a page that existed before is kept for a while if the
 * page becomes unreachable.
 */
export function putOutcome(
  db: SideDatabase,
  { href, host }: PreviewUrl,
  outcome: Exclude<FetchOutcome, { readonly kind: "rest" }>,
  nowSecs: number,
): void {
  const hash = hashOfUrl(href);
  if (outcome.kind === "found") {
    const { contentType, contentLength, image, html, frame, maxAgeSecs } = outcome.found;
    const isImage = contentType?.startsWith("image/") ?? false;
    const keptSecs = isImage ? REFUSED_SECS : clamped(maxAgeSecs ?? DAY_SECS);
    const { width_px: width = null, height_px: height = null } = image ?? {};
    const meta = html || frame ? metaText({ html, frame }) : null;
    const found = [contentType, contentLength, width, height, meta] as const;
    db.run(upsert, hash, href, host, RESOLVED, nowSecs, nowSecs + keptSecs, 0, ...found);
    return;
  }
  const earlier = db.get(select, hash);
  const failures = (earlier?.failures ?? 0) + 1;
  const expiresAt = nowSecs + retrySecs(outcome.kind, failures);
  if (earlier?.status === RESOLVED && outcome.kind === "failed") db.run(postpone, hash, expiresAt, failures);
  else db.run(upsert, hash, href, host, FAILED, nowSecs, expiresAt, failures, null, null, null, null, null);
}

/** Stores that previews were shown. */
export function noteUses(db: SideDatabase, hrefs: readonly string[], nowSecs: number): void {
  for (const href of hrefs) db.run(use, hashOfUrl(href), nowSecs);
}

/** Deletes the least recently shown previews, down to nine tenths of the limit. */
export function sweepPreviews(db: SideDatabase, maxBytes: number): number {
  if (db.usedBytes() <= maxBytes) return 0;
  let swept = 0;
  while (db.usedBytes() > maxBytes * 0.9) {
    const deleted = db.run(sweepOldest, SWEPT_ROWS);
    if (deleted === 0) break;
    swept += deleted;
  }
  db.shrink(MAX_SHRUNK_PAGES);
  return swept;
}

function clamped(secs: number): number {
  return Math.min(REFUSED_SECS, Math.max(HOUR_SECS, secs));
}

function retrySecs(kind: "refused" | "missing" | "failed", failures: number): number {
  if (kind === "refused") return REFUSED_SECS;
  if (kind === "missing") return DAY_SECS;
  return Math.min(DAY_SECS, FIRST_RETRY_SECS * 2 ** Math.min(failures - 1, 10));
}

/** Returns the JSON of what a page states, without the members that make it too long. */
function metaText({ html, frame }: Pick<StoredPreview, "html" | "frame">): string {
  const whole = JSON.stringify({ html, frame });
  if (Buffer.byteLength(whole) <= MAX_META_BYTES) return whole;
  const { ogTitle, ogDescription, ogImage } = html ?? {};
  const small = { ogTitle, ogDescription, ogImage: ogImage?.slice(0, 1) };
  const { state: _, input: __, buttons: ___, ...shortFrame } = frame ?? {};
  const text = JSON.stringify({ html: small, frame: frame && shortFrame });
  return Buffer.byteLength(text) <= MAX_META_BYTES ? text : JSON.stringify({ html: { ogTitle } });
}
