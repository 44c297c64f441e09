import { createAdmission } from "../../admission/admission.ts";
import { apiPlugins } from "../../api/plugins.ts";
import { neverStale } from "../../auth/owners/custody.ts";
import { openIndexInMemory } from "../../db/index/database.ts";
import { openStateInMemory } from "../../db/state/database.ts";
import type { HttpServerOptions } from "../../http/server.ts";
import { HydrationCache } from "../../read/hydrate/cache.ts";
import type { Common } from "../../runtime/common.ts";
import { queueLimitsOf } from "../../webhooks/deliver/queue-limits.ts";
import { ofBuiltParts } from "../optional-parts.ts";
import { createLocalStores } from "../state/sqlite-stores.ts";
import { createManagement } from "./management.ts";
import { createFanOut } from "./sending/fan-out.ts";
import { createPush } from "./sending/push.ts";
import { createNodeSignIn } from "./signing/sign-in.ts";
import { createNodeLogins } from "./signing/sign-in-page.ts";
import { createNodeSigners } from "./signing/signers.ts";
import { createNodeTransactions } from "./signing/transactions.ts";

/** The routes of the API over empty databases in memory, for code that describes them without calling them. */
export type DetachedApi = Pick<HttpServerOptions, "plugins" | "compatPlugins" | "documentation" | "mounts">;

/** Creates the routes of a node with these settings, passes them to `use`, and closes the databases. */
export async function withDetachedApi<T>(common: Common, use: (api: DetachedApi) => Promise<T>): Promise<T> {
  const config = ofBuiltParts(common.config);
  const { clock } = common;
  using db = openIndexInMemory();
  using database = openStateInMemory();
  const state = createLocalStores(database, {
    limits: queueLimitsOf(config),
    clock,
  });
  const management = createManagement({ common, index: db, state });
  const fanOut = createFanOut({ common, index: db, state });
  const shared = {
    config,
    db,
    stores: state,
    thread: undefined,
    linkBase: () => undefined,
    staleReason: neverStale,
  };
  const admission = createAdmission();
  const signIn = createNodeSignIn({
    ...shared,
    metrics: common.metrics,
    stateClock: clock,
    signals: { keyEpoch: 0, forgetKeys: () => undefined },
    admission,
    contracts: undefined,
  });
  const transactions = createNodeTransactions({ config, clock, admission });
  const { service: signers } = createNodeSigners({ ...shared, signIn, clock, tokenKeys: [], transactions });
  try {
    return await use({
      mounts: signIn.mounts,
      ...apiPlugins({
        source: {
          db,
          cache: new HydrationCache(),
          clock,
          maxIds: config.http.max_ids,
          notificationWindowSecs: config.notifications.aggregation_window_secs,
          fullText: true,
        },
        management,
        signers,
        ...createNodeLogins({ signIn, signers, stores: state, linkBase: () => undefined, clock }),
        audit: state.audit,
        manifests: signIn.manifests,
        envelopes: signIn.envelopes,
        publish: { storedWrites: state.writes, seen: state.seen, muteLinks: false },
        writes: undefined,
        push: createPush({ common, index: db, state, management, fanOut }),
        streams: undefined,
        history: undefined,
        forYou: undefined,
        transactions,
      }),
    });
  } finally {
    await fanOut.stop(0);
  }
}
