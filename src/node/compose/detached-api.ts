import { apiPlugins } from "../../api/shared/plugins.ts";
import { neverStale } from "../../auth/staleness.ts";
import { openIndexInMemory } from "../../db/index/database.ts";
import { openStateInMemory } from "../../db/state/database.ts";
import type { HttpServerOptions } from "../../http/server.ts";
import { UnsentBytes } from "../../http/unsent-bytes.ts";
import { HydrationCache } from "../../read/hydrate/cache.ts";
import type { Common } from "../../runtime/common.ts";
import { maxQueuedOf } from "../../webhooks/deliver/queue-limits.ts";
import { createLocalStores } from "../state/local-stores.ts";
import { createFanOut } from "./fan-out.ts";
import { createManagement } from "./management.ts";
import { createPush } from "./push.ts";
import { createNodeSigners } from "./signers.ts";

/** The routes of the API over empty databases in memory, for what describes them rather than calls them. */
export type DetachedApi = Pick<HttpServerOptions, "plugins" | "compatPlugins" | "documentation" | "priceOf">;

/** Creates the routes as a node with these settings has them, passes them to `use`, and closes the databases. */
export async function withDetachedApi<T>(common: Common, use: (api: DetachedApi) => Promise<T>): Promise<T> {
  const { config, clock } = common;
  using db = openIndexInMemory();
  using database = openStateInMemory();
  const state = createLocalStores(database, {
    limits: { maxQueued: maxQueuedOf(config.webhooks) },
    clock,
  });
  const management = createManagement({ common, index: db, state });
  const fanOut = createFanOut({ common, index: db, state });
  try {
    return await use(
      apiPlugins({
        source: {
          db,
          cache: new HydrationCache(),
          clock,
          maxIds: config.http.max_ids,
          notificationWindowSecs: config.notifications.aggregation_window_secs,
          fullText: true,
        },
        management,
        signers: createNodeSigners({
          config,
          clock,
          db,
          stores: state,
          thread: undefined,
          tokenKeys: [],
          linkBase: () => undefined,
          staleReason: neverStale,
        }).service,
        audit: state.audit,
        publish: { storedWrites: state.writes, seen: state.seen, muteLinks: false },
        writes: undefined,
        push: createPush({ common, index: db, state, management, fanOut }),
        stream: { streams: undefined, unsent: new UnsentBytes() },
      }),
    );
  } finally {
    await fanOut.stop(0);
  }
}
