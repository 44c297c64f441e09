import { decodeStored, type SideDatabase } from "../../db/side/side-database.ts";
import { statement } from "../../db/side/statement.ts";
import type { PreviewApp, PreviewFrame, PreviewHtml } from "../../read/hydrate/previews.ts";

/** Tables of the catalog, in the file of the previews. */
export const CATALOG_TABLES = `CREATE TABLE shares (
    host TEXT NOT NULL, fid INTEGER NOT NULL, shared_at INTEGER NOT NULL, PRIMARY KEY (host, fid)
  ) WITHOUT ROWID;
  CREATE INDEX shares_by_time ON shares (shared_at);
  CREATE TABLE mini_apps (
    domain TEXT PRIMARY KEY NOT NULL, page TEXT NOT NULL, frame TEXT NOT NULL, html TEXT, manifest TEXT, author_fid INTEGER,
    is_hidden INTEGER NOT NULL, checked_at INTEGER NOT NULL
  );
  CREATE INDEX mini_apps_checked ON mini_apps (checked_at);
  CREATE TABLE app_ranks (time_window TEXT NOT NULL, rank INTEGER NOT NULL, domain TEXT NOT NULL, PRIMARY KEY (time_window, rank)) WITHOUT ROWID`;

/** Result of checking a domain's manifest. */
export interface CheckedManifest {
  /** JSON from the domain. Null if it cannot be shown. */
  readonly manifest: object | null;
  /** The fid that signed it. Null without a valid signature for the domain. */
  readonly authorFid: number | null;
  /** Whether the app asks not to be listed. */
  readonly isHidden: boolean;
}

/** A mini app that casts have shared. */
export interface MiniApp {
  readonly domain: string;
  readonly frame: PreviewFrame;
  readonly html: PreviewHtml | undefined;
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
  readonly authorFid: number | undefined;
}

export interface Share {
  readonly host: string;
  readonly fid: number;
  /** Unix seconds. */
  readonly at: number;
}

export const TIME_WINDOWS = ["1h", "6h", "12h", "24h", "7d"] as const;
export type TimeWindow = (typeof TIME_WINDOWS)[number];

/** Maximum length of the ranking of a time window. */
export const MAX_RANKED = 1_000;
const MAX_SHARERS = 5_000;
const MAX_HTML_CHARS = 8_192;

/** How much of the file the catalog may use: about half, even if all pages, frames and manifests have their maximum size. */
export interface CatalogBounds {
  readonly shares: number;
  readonly apps: number;
}

/** @param maxBytes maximum size of the file of previews. */
export function catalogBounds(maxBytes: number): CatalogBounds {
  return { shares: Math.floor(maxBytes / 2_048), apps: Math.floor(maxBytes / 65_536) };
}

const TRIMMED = 500;

const decoded = (text: string) => decodeStored(() => JSON.parse(text));

interface AppRow {
  domain: string;
  frame: string;
  html: string | null;
  manifest: string | null;
  authorFid: number | null;
}

const putShare = statement<unknown, [host: string, fid: number, at: number]>(
  "catalog.put-share",
  `INSERT INTO shares (host, fid, shared_at) VALUES (?1, ?2, ?3)
   ON CONFLICT (host, fid) DO UPDATE SET shared_at = max(shared_at, ?3)`,
);
const anyShare = statement<{ one: number }>("catalog.any-share", "SELECT 1 AS one FROM shares LIMIT 1");
const dropShares = statement<unknown, [before: number]>(
  "catalog.drop-shares",
  "DELETE FROM shares WHERE shared_at < ?",
);
/** Most pages are fetched either within a day of their first share or never. */
const dropOthers = statement<unknown, [before: number]>(
  "catalog.drop-others",
  "DELETE FROM shares WHERE shared_at < ? AND NOT EXISTS (SELECT 1 FROM mini_apps WHERE domain = host)",
);
const dropOldest = statement<unknown, [kept: number]>(
  "catalog.drop-oldest-shares",
  "DELETE FROM shares WHERE shared_at <= (SELECT shared_at FROM shares ORDER BY shared_at DESC LIMIT 1 OFFSET ?)",
);
const shareCount = statement<{ count: number }>(
  "catalog.share-count",
  "SELECT count(*) AS count FROM shares",
);
const countOf = statement<{ count: number }, [host: string]>(
  "catalog.count-of",
  "SELECT count(*) AS count FROM shares WHERE host = ?",
);
const deleteApp = statement<unknown, [domain: string]>(
  "catalog.delete-app",
  "DELETE FROM mini_apps WHERE domain = ?",
);
const sharesOf = statement<{ fid: number; at: number }, [host: string, limit: number]>(
  "catalog.shares-of",
  "SELECT fid, shared_at AS at FROM shares WHERE host = ? LIMIT ?",
);
const putApp = statement<
  unknown,
  [domain: string, page: string, frame: string, html: string | null, maxApps: number]
>(
  "catalog.put-app",
  `INSERT INTO mini_apps (domain, page, frame, html, is_hidden, checked_at) SELECT ?1, ?2, ?3, ?4, 0, 0
   WHERE EXISTS (SELECT 1 FROM mini_apps WHERE domain = ?1) OR (SELECT count(*) FROM mini_apps) < ?5
   ON CONFLICT (domain) DO UPDATE SET page = ?2, frame = ?3, html = ?4 WHERE length(page) >= length(?2)`,
);
const domainsAfter = statement<{ domain: string; isHidden: number }, [after: string, limit: number]>(
  "catalog.domains-after",
  "SELECT domain, is_hidden AS isHidden FROM mini_apps WHERE domain > ? ORDER BY domain LIMIT ?",
);
const dueFor = statement<{ domain: string }, [before: number, limit: number]>(
  "catalog.due",
  `SELECT domain FROM mini_apps WHERE checked_at < ?
   AND (is_hidden = 1 OR domain IN (SELECT domain FROM app_ranks WHERE time_window = '7d')) ORDER BY checked_at LIMIT ?`,
);
const setChecked = statement<unknown, [domain: string, at: number]>(
  "catalog.set-checked",
  "UPDATE mini_apps SET checked_at = ?2 WHERE domain = ?1",
);
const putManifest = statement<
  unknown,
  [domain: string, manifest: string | null, authorFid: number | null, isHidden: number, at: number]
>(
  "catalog.put-manifest",
  "UPDATE mini_apps SET manifest = ?2, author_fid = ?3, is_hidden = ?4, checked_at = ?5 WHERE domain = ?1",
);
const clearRanks = statement<unknown, [timeWindow: string]>(
  "catalog.clear-ranks",
  "DELETE FROM app_ranks WHERE time_window = ?",
);
const putRank = statement<unknown, [timeWindow: string, rank: number, domain: string]>(
  "catalog.put-rank",
  "INSERT INTO app_ranks (time_window, rank, domain) VALUES (?, ?, ?)",
);
const ranked = statement<AppRow & { rank: number }, [timeWindow: string, after: number, limit: number]>(
  "catalog.ranked",
  `SELECT r.rank, a.domain, a.frame, a.html, a.manifest, a.author_fid AS authorFid
   FROM app_ranks r CROSS JOIN mini_apps a ON a.domain = r.domain
   WHERE r.time_window = ? AND r.rank > ? AND a.is_hidden = 0 ORDER BY r.rank LIMIT ?`,
);

/** A longer manifest is not repeated with each cast that embeds the app. */
const MAX_EMBEDDED_CHARS = 8_192;
const checked = statement<{ manifest: string | null; authorFid: number | null }, [domain: string]>(
  "catalog.checked",
  `SELECT iif(length(manifest) <= ${MAX_EMBEDDED_CHARS}, manifest, NULL) AS manifest, author_fid AS authorFid
   FROM mini_apps WHERE domain = ? AND is_hidden = 0 AND checked_at > 0`,
);

/** Returns what the domain of a mini app states about it; undefined if the app is not in the catalog or not checked yet. */
export function checkedApp(db: SideDatabase, domain: string): PreviewApp | undefined {
  const row = db.get(checked, domain);
  if (!row) return undefined;
  const { manifest, authorFid } = row;
  return { manifest: manifest === null ? undefined : decoded(manifest), authorFid: authorFid ?? undefined };
}

export function putShares(db: SideDatabase, shares: readonly Share[]): void {
  for (const { host, fid, at } of shares) db.run(putShare, host, fid, at);
}

export function hasShares(db: SideDatabase): boolean {
  return db.get(anyShare) !== undefined;
}

export function dropSharesBefore(db: SideDatabase, secs: number): void {
  db.run(dropShares, secs);
}

/**
 * Keeps the catalog within its limits. Deletes shares older than a day that are not of a mini app first, then the oldest shares, and the
 * apps that the fewest people share.
 */
export function trimCatalog(db: SideDatabase, bounds: CatalogBounds, dayAgoSecs: number): void {
  if ((db.get(shareCount)?.count ?? 0) > bounds.shares) {
    db.run(dropOthers, dayAgoSecs);
    db.run(dropOldest, bounds.shares);
  }
  const all: string[] = [];
  for (let isMore = true; isMore; ) {
    const some = db.all(domainsAfter, all.at(-1) ?? "", TRIMMED);
    all.push(...some.map(({ domain }) => domain));
    isMore = some.length === TRIMMED;
  }
  if (all.length <= bounds.apps) return;
  const counted = all.map((domain) => ({ domain, count: db.get(countOf, domain)?.count ?? 0 }));
  const least = counted.sort((a, b) => a.count - b.count).slice(0, all.length - bounds.apps);
  for (const { domain } of least) db.run(deleteApp, domain);
}

export function sharersOf(db: SideDatabase, host: string): { readonly fid: number; readonly at: number }[] {
  return db.all(sharesOf, host, MAX_SHARERS);
}

/**
 * Stores that a page of a domain is a mini app. The shortest URL represents the domain. A new app is dropped if there are already too
 * many.
 */
export function putMiniApp(
  db: SideDatabase,
  bounds: CatalogBounds,
  app: {
    readonly domain: string;
    readonly page: string;
    readonly frame: PreviewFrame;
    readonly html: PreviewHtml | undefined;
  },
): void {
  const { domain, page, frame, html } = app;
  const text = html ? JSON.stringify(html) : null;
  const short = text !== null && text.length <= MAX_HTML_CHARS ? text : null;
  // Allows some more until the next round, which drops the apps that no one shares.
  db.run(putApp, domain, page, JSON.stringify(frame), short, Math.ceil(bounds.apps * 1.25));
}

export function miniAppDomains(db: SideDatabase, after: string, limit: number) {
  return db.all(domainsAfter, after, limit);
}

/** Returns apps that are listed, or hidden by their manifest, and were last checked before a time, least recently checked first. */
export function dueDomains(db: SideDatabase, before: number, limit: number): string[] {
  return db.all(dueFor, before, limit).map(({ domain }) => domain);
}

export function putChecked(db: SideDatabase, domain: string, checked: CheckedManifest, at: number): void {
  const { manifest, authorFid, isHidden } = checked;
  db.run(putManifest, domain, manifest && JSON.stringify(manifest), authorFid, isHidden ? 1 : 0, at);
}

/** Postpones the next check of a domain. */
export function postponeCheck(db: SideDatabase, domain: string, checkedAt: number): void {
  db.run(setChecked, domain, checkedAt);
}

export function putRanks(db: SideDatabase, timeWindow: TimeWindow, domains: readonly string[]): void {
  db.run(clearRanks, timeWindow);
  domains.forEach((domain, at) => {
    db.run(putRank, timeWindow, at + 1, domain);
  });
}

/** Returns the apps of a time window after a rank, best first. */
export function rankedApps(
  db: SideDatabase,
  { timeWindow, after, limit }: { timeWindow: TimeWindow; after: number; limit: number },
): { readonly rank: number; readonly app: MiniApp }[] {
  return db
    .all(ranked, timeWindow, after, limit)
    .map(({ rank, domain, frame, html, manifest, authorFid }) => ({
      rank,
      app: {
        domain,
        frame: decoded(frame),
        html: html === null ? undefined : decoded(html),
        manifest: manifest === null ? undefined : decoded(manifest),
        authorFid: authorFid ?? undefined,
      },
    }));
}
