import type { SideFile } from "../db/side/side-file.ts";
import { type Clock, nowSecs, type SetTimer } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import { catalogBounds, putMiniApp } from "./catalog/catalog-store.ts";
import type { FetchOutcome } from "./fetch-preview.ts";
import { PreviewQueue, type Waiting } from "./preview-queue.ts";
import type { PreviewSignal } from "./preview-signal.ts";
import { findPreview, noteUses, putOutcome, type StoredPreview, sweepPreviews } from "./preview-store.ts";
import { type PreviewUrl, previewUrlOf } from "./preview-url.ts";

/** How often a URL may be put back because calls of a host on its way were paused. */
const MAX_ATTEMPTS = 4;
const CRAWL_MS = 2_500;
const MAX_CRAWLS = 256;
const SWEEP_EVERY = 200;

/** Statistics of the previews. */
export interface PreviewStats {
  readonly waiting: number;
  readonly running: number;
  readonly dropped: number;
  readonly bytes: number;
  /** Number of fetches by outcome. */
  readonly outcomes: Readonly<Record<"found" | "missing" | "refused" | "failed" | "rest", number>>;
  /** Why previews cannot be stored now. Null if they can. */
  readonly fault: string | null;
}

export interface PreviewServiceDeps {
  /** Open for writing. */
  readonly file: SideFile;
  readonly signal: PreviewSignal;
  readonly fetchPreview: (url: PreviewUrl, mayCall: (host: string) => boolean) => Promise<FetchOutcome>;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly setTimer: SetTimer;
  readonly log: Pick<Logger, "error">;
}

/** Fetches previews in the background and stores them. It is the only writer of their file. */
export function startPreviewService(deps: PreviewServiceDeps) {
  const { file, signal, clock, monotonicMs, setTimer, log, maxBytes } = deps;
  const queue = new PreviewQueue();
  const waiters = new Map<string, Set<() => void>>();
  const running = new Set<Promise<void>>();
  const outcomes = { found: 0, missing: 0, refused: 0, failed: 0, rest: 0 };
  const bounds = catalogBounds(maxBytes);
  let crawls = 0;
  let stored = 0;
  let isStopped = false;
  let fault: string | null = null;
  let cancelTimer: (() => void) | undefined;
  function settle(href: string): void {
    for (const wake of waiters.get(href) ?? []) wake();
    waiters.delete(href);
  }

  async function run(url: Waiting): Promise<void> {
    const outcome = await deps
      .fetchPreview(url, (host) => queue.call(host, monotonicMs()))
      .catch((cause): FetchOutcome => {
        log.error({ err: cause }, "A preview could not be created");
        return { kind: "failed" };
      });
    queue.end(url);
    if (isStopped) return;
    outcomes[outcome.kind] += 1;
    if (outcome.kind === "rest") {
      if (outcome.afterSecs !== undefined) queue.rest(outcome.host, outcome.afterSecs, monotonicMs());
      const returns = url.returns + 1;
      if (returns < MAX_ATTEMPTS) {
        queue.add(url, { waitsFor: outcome.host, returns });
        return;
      }
    }
    const written = file.write((to) => {
      putOutcome(to, url, outcome.kind === "rest" ? { kind: "failed" } : outcome, nowSecs(clock));
      // A shortener or an open redirect must not be able to claim a domain.
      if (
        outcome.kind === "found" &&
        outcome.found.frame &&
        outcome.found.frame.version !== "vNext" &&
        outcome.found.movedTo === undefined
      )
        putMiniApp(to, bounds, {
          domain: url.host,
          page: url.href,
          ...outcome.found,
          frame: outcome.found.frame,
        });
    });
    fault = written.ok ? null : written.error;
    if (++stored % SWEEP_EVERY === 0) file.write((to) => sweepPreviews(to, maxBytes));
    signal.noteChange();
    settle(url.href);
  }

  function pump(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    if (isStopped) return;
    const nowMs = monotonicMs();
    for (let url = queue.take(nowMs); url; url = queue.take(nowMs)) {
      const call = run(url).finally(() => {
        running.delete(call);
        pump();
      });
      running.add(call);
    }
    const nextMs = queue.nextAtMs(nowMs);
    if (nextMs !== undefined) cancelTimer = setTimer(Math.max(1, nextMs - nowMs), pump);
  }

  function storedOf(href: string): StoredPreview | undefined {
    const read = file.read((from) => findPreview(from, href));
    return read.ok ? read.value : undefined;
  }

  const isFresh = (preview: StoredPreview | undefined) =>
    preview !== undefined && preview.expiresAt > nowSecs(clock);

  file.write((to) => sweepPreviews(to, maxBytes));
  signal.noteChange();
  return {
    /** Queues URLs for fetching, unless their stored preview is fresh. */
    want(hrefs: readonly string[]): void {
      for (const href of hrefs) {
        const url = previewUrlOf(href);
        if (url && !queue.has(url.href) && !isFresh(storedOf(url.href))) queue.add(url);
      }
      pump();
    },
    noteUses(hrefs: readonly string[]): void {
      if (hrefs.length > 0) file.write((to) => noteUses(to, hrefs, nowSecs(clock)));
    },
    /**
     * Fetches a URL before those that no client waits for. Resolves with what is known after at most 2.5 seconds.
     *
     * @param client the client that waits.
     */
    async crawl(href: string, client: string): Promise<StoredPreview | "pending"> {
      const url = previewUrlOf(href);
      if (!url) return "pending";
      const known = storedOf(url.href);
      if (isFresh(known) && known) return known;
      queue.add(url, { urgentFor: client });
      if (crawls < MAX_CRAWLS) {
        crawls += 1;
        const { promise, resolve } = Promise.withResolvers<void>();
        const waiting = waiters.get(url.href) ?? new Set();
        waiters.set(url.href, waiting.add(resolve));
        const cancel = setTimer(CRAWL_MS, resolve);
        pump();
        await promise;
        cancel();
        waiting.delete(resolve);
        if (waiting.size === 0 && waiters.get(url.href) === waiting) waiters.delete(url.href);
        crawls -= 1;
      } else pump();
      return storedOf(url.href) ?? "pending";
    },
    stats(): PreviewStats {
      const bytes = file.read((from) => from.usedBytes());
      return {
        waiting: queue.waiting,
        running: queue.running,
        dropped: queue.dropped,
        bytes: bytes.ok ? bytes.value : 0,
        outcomes: { ...outcomes },
        fault,
      };
    },
    async stop(): Promise<void> {
      isStopped = true;
      cancelTimer?.();
      for (const href of [...waiters.keys()]) settle(href);
      await Promise.all(running);
      file[Symbol.dispose]();
    },
  };
}
