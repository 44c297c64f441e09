import { createSteadyClock } from "../../../src/db/state/state-clock.ts";
import { createPostgresStores } from "../../../src/node/state/postgres/open-postgres.ts";
import { nowSecs, systemClock } from "../../../src/runtime/clock.ts";
import { type RunningNode, startNode, tempDir } from "../program.ts";
import { makeChain } from "../upstream/chain.ts";
import { UpstreamNode } from "../upstream/node.ts";
import { UpstreamServer } from "../upstream/server.ts";
import { createDatabase, type PostgresDatabase } from "./database.ts";

const BLOCK_INTERVAL_MS = 1_000;

/** An upstream and a state in PostgreSQL that nodes share. */
export interface SharedServices extends AsyncDisposable {
  readonly database: PostgresDatabase;
  /** Stores beside those of the nodes. */
  readonly stores: ReturnType<typeof createPostgresStores>;
  /** Starts a node, or starts it again in its data directory. Its index may still be behind the upstream. */
  startNode(nodeId: string, settings?: readonly string[]): Promise<RunningNode>;
}

/** What the nodes follow. */
export interface SharedUpstream {
  readonly url: string;
  stop(): void;
}

/**
 * Creates an empty state, beside an upstream: by default one with a few fids. Both end with the object, and nodes that still
 * run.
 */
export async function startSharedServices(
  command: readonly string[],
  upstream?: SharedUpstream,
): Promise<SharedServices> {
  const dir = tempDir();
  const server = upstream ?? (await startUpstream());
  const database = await createDatabase();
  const stores = createPostgresStores(database.pools(), {
    node: database.node(),
    clock: createSteadyClock({ clock: systemClock }),
    limits: { maxQueued: 1 },
  });
  const started = new Set<RunningNode>();
  return {
    database,
    stores,
    async startNode(nodeId, settings = []) {
      const all = [
        `upstream.url=${server.url}`,
        // The scripted network has no validators.
        "trust.level=node",
        `state.url=${database.url}`,
        `node.id=${nodeId}`,
        ...settings,
      ];
      const node = await startNode({
        command,
        dataDir: `${dir.path}/${nodeId}`,
        args: all.flatMap((setting) => ["--set", setting]),
      });
      started.add(node);
      void node.exited.then(() => started.delete(node));
      return node;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...started].map((node) => node.kill()));
      server.stop();
      await database[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

/** Starts an upstream that keeps producing blocks, so that nodes are not behind. */
async function startUpstream(): Promise<SharedUpstream> {
  const chain = makeChain("nodes that share a state", 7);
  const node = new UpstreamNode(chain);
  const server = new UpstreamServer(node);
  const tick = () => {
    chain.add({ at: nowSecs(systemClock), actions: [] });
    node.produce(chain.ticks.length);
  };
  tick();
  await server.start();
  const ticking = setInterval(tick, BLOCK_INTERVAL_MS);
  return {
    url: server.url,
    stop() {
      clearInterval(ticking);
      server.stop();
    },
  };
}
