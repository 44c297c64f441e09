import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `openapi`: prints the document that a running node serves at /openapi.json. */
export function registerOpenApi(program: Command, context: CommandContext): void {
  program
    .command("openapi")
    .description("print the OpenAPI document of the HTTP interface")
    .action(async () => {
      const { createCommon } = await import("./common.ts");
      const { createFanOut } = await import("../node/compose/fan-out.ts");
      const { createManagement } = await import("../node/compose/management.ts");
      const { createNodeSigners } = await import("../node/compose/signers.ts");
      const { neverStale } = await import("../auth/staleness.ts");
      const { createPush } = await import("../node/compose/push.ts");
      const { openIndexInMemory } = await import("../db/index/database.ts");
      const { createHttpServer } = await import("../http/server.ts");
      const { apiPlugins } = await import("../api/shared/plugins.ts");
      const { openStateInMemory } = await import("../db/state/database.ts");
      const { createLocalStores } = await import("../node/state/local-stores.ts");
      const { maxQueuedOf } = await import("../webhooks/deliver/queue-limits.ts");
      const { HydrationCache } = await import("../read/hydrate/cache.ts");
      const { UnsentBytes } = await import("../http/unsent-bytes.ts");
      const { version } = await import("../version.ts");
      const common = createCommon(context);
      using db = openIndexInMemory();
      using database = openStateInMemory();
      const state = createLocalStores(database, {
        limits: { maxQueued: maxQueuedOf(common.config.webhooks) },
        clock: common.clock,
      });
      const management = createManagement({ common, index: db, state });
      const fanOut = createFanOut({ common, index: db, state });
      const server = createHttpServer({
        common,
        version,
        nodeId: common.config.node.id,
        ...apiPlugins({
          source: {
            db,
            cache: new HydrationCache(),
            clock: common.clock,
            maxIds: common.config.http.max_ids,
            notificationWindowSecs: common.config.notifications.aggregation_window_secs,
          },
          management,
          signers: createNodeSigners({
            config: common.config,
            clock: common.clock,
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
        ops: {
          notReadyReason: () => undefined,
          status: () => ({}),
          metrics: () => ({ text: "", contentType: "" }),
        },
      });
      print(`${JSON.stringify(await server.openApi(), null, 2)}\n`);
      // A slow reader of the output outlives the databases.
      await fanOut.stop(0);
    });
}
