import type { CatalogReads, PreviewCrawls } from "../../api/deps.ts";
import type { Config } from "../../config/schema.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo } from "../../db/index/identity.ts";
import { openSideFile } from "../../db/side/side-file.ts";
import { connectRpc } from "../../lib/port-rpc.ts";
import { createCatalogReads } from "../../previews/catalog/catalog-reads.ts";
import { createDemoPreviews } from "../../previews/demo-previews.ts";
import { NOT_FETCHED, PENDING, PreviewReader } from "../../previews/preview-reader.ts";
import { PreviewSignal } from "../../previews/preview-signal.ts";
import { PREVIEW_SCHEMA } from "../../previews/preview-store.ts";
import { previewUrlOf } from "../../previews/preview-url.ts";
import type { PreviewsRpc } from "../../previews/rpc.ts";
import type { PreviewSource } from "../../read/hydrate/previews.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";

/** Connects an HTTP worker to the thread that fetches previews. */
export interface PreviewsLink {
  readonly thread: MessagePort;
  /** See `PreviewSignal`. */
  readonly signal: SharedArrayBuffer;
}

/** The previews of an HTTP worker. */
export interface NodePreviews {
  readonly source: PreviewSource;
  readonly crawls: PreviewCrawls;
  /** Undefined in a demo network. */
  readonly catalog: CatalogReads | undefined;
  /** Increases with every change of what the source returns. */
  readonly changes: () => number;
  stop(): void;
}

/**
 * Returns the previews of this thread; undefined while they are off. A demo network has previews of its own pages, whatever the setting.
 */
export function createNodePreviews(
  config: Config,
  {
    db,
    clock,
    log,
    link,
  }: {
    readonly log: Logger;
    readonly db: IndexDatabase;
    readonly clock: Clock;
    readonly link: PreviewsLink | undefined;
  },
): NodePreviews | undefined {
  if (isDemo(db)) return demoPreviews();
  if (!link) return undefined;
  const thread = connectRpc<PreviewsRpc>(link.thread);
  const signal = new PreviewSignal(link.signal);
  const file = openSideFile({ dir: config.data.dir, schema: PREVIEW_SCHEMA, clock, log, mode: "reader" });
  const reader = new PreviewReader({
    file,
    signal,
    nowMs: () => clock.nowMs(),
    report(wanted, shown) {
      // Not awaited. If the thread ends, so does the process.
      thread.note(wanted, shown).catch(() => undefined);
    },
  });
  return {
    source: reader,
    crawls: {
      async crawl(text, client) {
        const url = previewUrlOf(text);
        if (!url) return client === undefined ? NOT_FETCHED : { _status: "FAILED" };
        if (client === undefined) return reader.peek(url.href) ?? NOT_FETCHED;
        return (await thread.crawl(url.href, client)) ?? PENDING;
      },
    },
    catalog: createCatalogReads({ file, nowMs: () => performance.now() }),
    changes: () => signal.changes,
    stop: () => reader[Symbol.dispose](),
  };
}

function demoPreviews(): NodePreviews {
  const previewOf = createDemoPreviews();
  return {
    source: {
      of: (urls) =>
        new Map(
          Iterator.from(urls).flatMap((url) => {
            const metadata = previewOf(url);
            return metadata ? [[url, metadata] as const] : [];
          }),
        ),
    },
    catalog: undefined,
    crawls: { crawl: async (url) => previewOf(url) ?? NOT_FETCHED },
    changes: () => 0,
    stop: () => undefined,
  };
}
