import { setImmediate } from "node:timers/promises";
import { serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { followsAll } from "../../config/upstream-urls.ts";
import { bulkPhaseOf } from "../../db/index/bulk/bulk-state.ts";
import { scoresOf } from "../../db/index/counts/scores.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import { openSideFile } from "../../db/side/side-file.ts";
import { serveRpc } from "../../lib/port-rpc.ts";
import { createConfiguredClient } from "../../net/configured-client.ts";
import { startCatalog } from "../../previews/catalog/catalog.ts";
import { catalogBounds } from "../../previews/catalog/catalog-store.ts";
import { createAppCheck } from "../../previews/catalog/check-app.ts";
import { earlierShares } from "../../previews/catalog/earlier-shares.ts";
import { fetchPreview } from "../../previews/fetch-preview.ts";
import { startLiveEmbeds } from "../../previews/live-embeds.ts";
import { shownOf } from "../../previews/preview-reader.ts";
import { startPreviewService } from "../../previews/preview-service.ts";
import { PreviewSignal } from "../../previews/preview-signal.ts";
import { PREVIEW_SCHEMA } from "../../previews/preview-store.ts";
import type { PreviewsRpc } from "../../previews/rpc.ts";
import { setTimer, systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { version } from "../../version.ts";
import { scorePolicyOf } from "../compose/score-policy.ts";
import { indexEnvelopes } from "../compose/signing/sign-in.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the worker of previews. */
export interface PreviewsWorkerInit {
  readonly config: Config;
  /** The commits of the index writer. */
  readonly commits: SharedArrayBuffer;
  /** See `PreviewSignal`. */
  readonly signal: SharedArrayBuffer;
}

/** Fetches the previews of embedded URLs. Reads never wait for it. */
runWorker<PreviewsWorkerInit>(async ({ config, commits, signal }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "previews", keep: keepLine });
  const stopping = new AbortController();
  const { segment } = serviceNames(config.service.name);
  const { public_url: publicUrl } = config.service;
  const deps = {
    client: createConfiguredClient(config.net, { proxyUrl: config.previews.proxy_url }),
    userAgent: `${segment}-preview/${version}${publicUrl === "" ? "" : ` (+${publicUrl})`}`,
    oembedHosts: new Set(config.previews.oembed_hosts),
    signal: stopping.signal,
  };
  const previewSignal = new PreviewSignal(signal);
  const file = openSideFile({
    dir: config.data.dir,
    schema: PREVIEW_SCHEMA,
    clock: systemClock,
    log,
    mode: "writer",
  });
  const service = startPreviewService({
    file,
    signal: previewSignal,
    fetchPreview: (url, mayCall) => fetchPreview(url, { ...deps, mayCall }),
    maxBytes: config.previews.max_mb * 1024 * 1024,
    clock: systemClock,
    monotonicMs: () => performance.now(),
    setTimer,
    log,
  });
  const db = openIndexReader(indexPath(config.data.dir));
  db.commits = new CommitSequence(commits);
  const scores = scorePolicyOf(config);
  // Selected fids are not the network, so their shares say nothing about it.
  const catalog = followsAll(config)
    ? startCatalog({
        file,
        bounds: catalogBounds(config.previews.max_mb * 1024 * 1024),
        scoresOf: scores && ((fids) => scoresOf(db, scores.mode, fids)),
        // An index that is being built has neither all rows nor the indexes for reading them.
        earlier: (times) => (bulkPhaseOf(db) === undefined ? earlierShares(db, times) : []),
        turn: setImmediate,
        check: createAppCheck({ client: deps.client, envelopes: indexEnvelopes(config, db) }),
        clock: systemClock,
        setTimer,
        log,
        onChange: () => previewSignal.noteChange(),
      })
    : undefined;
  const live = startLiveEmbeds({
    db,
    scores,
    clock: systemClock,
    setTimer,
    log,
    want: config.previews.mode === "live" ? service.want : undefined,
    noteShares: catalog?.noteShares,
  });
  return {
    connect: (port) =>
      serveRpc<PreviewsRpc>(port, {
        note(wanted, shown) {
          service.want(wanted);
          service.noteUses(shown);
        },
        async crawl(href, client) {
          const found = await service.crawl(href, client);
          return found === "pending" ? undefined : shownOf(found);
        },
        stats: service.stats,
      }),
    async stop() {
      stopping.abort();
      live.stop();
      await catalog?.stop();
      await service.stop();
      db[Symbol.dispose]();
    },
  };
});
