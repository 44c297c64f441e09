import type { SideFile } from "../db/side/side-file.ts";
import { GenerationCache } from "../lib/generation-cache.ts";
import { memoizeJson } from "../lib/json-text.ts";
import type { PreviewApp, PreviewMetadata, PreviewSource } from "../read/hydrate/previews.ts";
import { checkedApp } from "./catalog/catalog-store.ts";
import type { PreviewSignal } from "./preview-signal.ts";
import { findPreview, type StoredPreview } from "./preview-store.ts";
import { previewUrlOf } from "./preview-url.ts";

export const PENDING: PreviewMetadata = memoizeJson({ _status: "PENDING" });
export const FAILED: PreviewMetadata = memoizeJson({ _status: "FAILED" });
export const NOT_FETCHED: PreviewMetadata = memoizeJson({ _status: "NOT_FETCHED" });

const MAX_KEPT = 4_096;
/** How long before a requested URL is requested again, in milliseconds. */
const DEMAND_MS = 3_600_000;
const USE_MS = 6 * 3_600_000;

export interface PreviewReaderDeps {
  /** Open for reading. */
  readonly file: SideFile;
  readonly signal: PreviewSignal;
  readonly nowMs: () => number;
  /** Receives the URLs to fetch and those that were shown, after the read. */
  readonly report: (wanted: readonly string[], shown: readonly string[]) => void;
}

interface Known {
  /** Change counter of the store when it was read. */
  readonly changes: number;
  readonly fetchedAt: number;
  readonly expiresAtMs: number;
  readonly metadata: PreviewMetadata;
  readonly app: PreviewApp | undefined;
}

/** Looks up previews for the reads of a thread. Reports a URL with a missing or expired preview for fetching, once an hour. */
export class PreviewReader implements PreviewSource, Disposable {
  readonly #deps: PreviewReaderDeps;
  readonly #known = new GenerationCache<string, Known>(MAX_KEPT);
  readonly #asked = new GenerationCache<string, { readonly atMs: number }>(MAX_KEPT);
  readonly #used = new GenerationCache<string, { readonly atMs: number }>(MAX_KEPT);
  readonly #wanted = new Set<string>();
  readonly #shown = new Set<string>();

  constructor(deps: PreviewReaderDeps) {
    this.#deps = deps;
  }

  of(urls: Iterable<string>): ReadonlyMap<string, PreviewMetadata> {
    const found = new Map<string, PreviewMetadata>();
    for (const url of urls) {
      if (found.has(url)) continue;
      const target = previewUrlOf(url);
      if (target) found.set(url, this.#lookUp(target.href));
    }
    return found;
  }

  appOf(url: string): PreviewApp | undefined {
    const target = previewUrlOf(url);
    return target && this.#known.get(target.href)?.app;
  }

  /** Returns the stored preview of a URL without requesting a fetch; undefined if there is none. */
  peek(href: string): PreviewMetadata | undefined {
    return this.#stored(href)?.metadata;
  }

  [Symbol.dispose](): void {
    this.#deps.file[Symbol.dispose]();
  }

  #lookUp(href: string): PreviewMetadata {
    const nowMs = this.#deps.nowMs();
    const known = this.#stored(href);
    if (!known || known.expiresAtMs <= nowMs) this.#note(this.#asked, this.#wanted, href, nowMs, DEMAND_MS);
    else this.#note(this.#used, this.#shown, href, nowMs, USE_MS);
    return known?.metadata ?? PENDING;
  }

  #stored(href: string): Known | undefined {
    const { changes } = this.#deps.signal;
    const earlier = this.#known.get(href);
    if (earlier?.changes === changes) return earlier;
    // Reads work without previews until the file exists, and while it cannot be read.
    const read =
      changes === 0
        ? undefined
        : this.#deps.file.read((db) => {
            const stored = findPreview(db, href);
            return { stored, app: stored?.frame && checkedApp(db, new URL(href).hostname) };
          });
    const { stored, app } = read?.ok ? read.value : {};
    if (!stored) return undefined;
    const metadata = earlier && earlier.fetchedAt === stored.fetchedAt ? earlier.metadata : shownOf(stored);
    const known = {
      changes,
      fetchedAt: stored.fetchedAt,
      expiresAtMs: stored.expiresAt * 1000,
      metadata,
      app,
    };
    this.#known.set(href, known);
    return known;
  }

  #note(
    since: GenerationCache<string, { readonly atMs: number }>,
    list: Set<string>,
    href: string,
    nowMs: number,
    forMs: number,
  ): void {
    const last = since.get(href);
    if (last && nowMs - last.atMs < forMs) return;
    since.set(href, { atMs: nowMs });
    if (this.#wanted.size + this.#shown.size === 0) queueMicrotask(() => this.#report());
    list.add(href);
  }

  #report(): void {
    const [wanted, shown] = [[...this.#wanted], [...this.#shown]];
    this.#wanted.clear();
    this.#shown.clear();
    this.#deps.report(wanted, shown);
  }
}

/** Converts a preview to the form of the hosted API. */
export function shownOf(preview: StoredPreview): PreviewMetadata {
  if (!preview.isResolved) return FAILED;
  const { contentType, contentLength, image, html, frame } = preview;
  return memoizeJson({
    _status: "RESOLVED",
    content_type: contentType,
    content_length: contentLength,
    ...(image && { image }),
    ...(html && { html }),
    ...(frame && { frame }),
  });
}
