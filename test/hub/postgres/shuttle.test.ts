import { expect, test } from "bun:test";
import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { EventSignal } from "../../../src/ingest/thread/rpc.ts";
import { createFillCheck } from "../../../src/upstream/positions.ts";
import { importHubClient } from "../../support/hub-clients/installed.ts";
import { startRedis } from "../../support/hub-clients/redis-server.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { makeChain } from "../../support/upstream/chain.ts";
import { FollowedIndex } from "../../support/upstream/followed-index.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { serveIndex } from "../../support/upstream/served-index.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";

/** The reader and the reconciler of `@farcaster/shuttle`, unchanged, with its tables in PostgreSQL and its queue in Redis. */

const TICKS = 60;
const HISTORY = 30;
/** The script registers fewer. */
const MAX_FIDS = 13;

/** The table that the client keeps messages in, with the columns that it writes. */
const MESSAGES_TABLE = `CREATE TABLE public.messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fid bigint NOT NULL, type smallint NOT NULL,
  timestamp timestamptz NOT NULL, deleted_at timestamptz, pruned_at timestamptz, revoked_at timestamptz,
  hash_scheme smallint NOT NULL, signature_scheme smallint NOT NULL, hash bytea NOT NULL, signer bytea NOT NULL,
  body json NOT NULL, raw bytea NOT NULL, UNIQUE (hash, fid, type))`;

/** Types of messages that the client reconciles; it knows no others in lists. */
const RECONCILED: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 7, 8, 11]);

const LINK_TYPES: ReadonlySet<number> = new Set([5, 6]);

interface ClientMessage {
  readonly hash: Uint8Array;
  readonly type: number;
  readonly data?: { readonly type: number };
}

interface ClientEvent {
  readonly id: number;
  readonly mergeMessageBody?: { readonly message: ClientMessage };
}

/**
 * Receives what the client reports to StatsD. Without a receiver its socket emits an error that nothing handles. The socket stays open
 * as long as the process, because the client also reports after the test.
 */
async function receiveMetrics(): Promise<void> {
  const receiver = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data() {} } });
  receiver.unref();
  process.env.DD_DOGSTATSD_PORT = `${receiver.port}`;
}

/** The events of the types that the client subscribes to. */
function eventIds(db: IndexDatabase): number[] {
  return db.sqlite
    .query<{ id: number }, []>("SELECT id FROM hub_events WHERE type IN (1, 2, 3, 6, 9)")
    .all()
    .map(({ id }) => id);
}

test.skipIf(!HAS_POSTGRES)(
  "shuttle is refused during the fill, then reads and follows the node, and its tables equal those of the upstream",
  async () => {
    await receiveMetrics();
    const shuttle = await importHubClient("@farcaster/shuttle");
    const chain = makeChain("shuttle", TICKS);
    const upstream = new UpstreamNode(chain);
    upstream.produce(HISTORY);
    let isHeld = true;
    let index: FollowedIndex | undefined;
    const server = new UpstreamServer(upstream, {
      faults: {
        onCall: (method) => (isHeld && method === "GetUserNameProofsByFid" ? "hold" : undefined),
        onDelivery: () => undefined,
      },
      onCall: () => index?.wake(),
    });
    await server.start();
    index = new FollowedIndex({ node: upstream, url: server.url, nowSecs: chain.endsAt });
    await using database = await createDatabase({ isEmpty: true });
    using redis = startRedis();
    await using hub = await serveIndex(index, chain.endsAt);
    await database.query(MESSAGES_TABLE);
    await using cleanup = new AsyncDisposableStack();
    const db = shuttle.getDbClient(`${database.url}?application_name=shuttle`);
    const hubClient = shuttle.getHubClient(hub.address, { ssl: false });
    const queue = shuttle.RedisClient.create(redis.url);
    cleanup.defer(async () => {
      hubClient.client.close();
      queue.client.disconnect();
      await db.destroy();
      // Its pool does not wait for its connections to end. One that the end of the database ended would emit an error.
      const open = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'shuttle'";
      while ((await database.query(open)).length > 0) await Bun.sleep(10);
    });
    cleanup.defer(async () => {
      await index?.stop();
      server.stop();
    });
    const faults: string[] = [];
    const log = {
      info() {},
      warn() {},
      debug() {},
      error: (fault: unknown) => faults.push(String(fault instanceof Error ? fault.message : fault)),
    };
    const handler = { handleMessageMerge: async () => undefined };
    const fids = Array.from({ length: MAX_FIDS }, (_, at) => at + 1);
    /** Messages that the client does not know yet: it checks each before it stores it. */
    const tooNew = new Set<string>();
    const refuse = (hash: string) => (cause: unknown) => {
      if (!/^Error: (Invalid message: |Unknown message type )/.test(String(cause))) throw cause;
      tooNew.add(hash);
    };

    /** Reads every fid as the client does. Returns how its tables differ from the node, after it has stored what they lack. */
    async function reconcile(): Promise<string[]> {
      const differences: string[] = [];
      const reconciliation = new shuttle.MessageReconciliation(hubClient.client, db, log);
      for (const fid of fids)
        await reconciliation.reconcileMessagesForFid(
          fid,
          async (message: ClientMessage, isMissing: boolean, wasPruned: boolean, wasRevoked: boolean) => {
            const hash = message.hash.toHex();
            if (isMissing) {
              if (!tooNew.has(hash)) differences.push(`only the node has ${hash}`);
              await shuttle.HubEventProcessor.handleMissingMessage(db, message, handler).catch(refuse(hash));
            }
            if (wasPruned || wasRevoked) differences.push(`the node still has ${hash}`);
          },
          async (message: ClientMessage, isMissing: boolean) => {
            if (!isMissing || !RECONCILED.has(message.type)) return;
            const hash = message.hash.toHex();
            differences.push(
              LINK_TYPES.has(message.type) ? "only the client has a link" : `only the client has ${hash}`,
            );
            await database.query(`UPDATE public.messages SET pruned_at = now() WHERE hash = '\\x${hash}'`);
          },
        );
      return differences;
    }

    const hashesOfUpstream = () =>
      upstream.states
        .flatMap((state) => fids.flatMap((fid) => state.messagesOf(fid)))
        .filter(({ type }) => RECONCILED.has(type))
        .map(({ message }) => message.hash.toHex())
        .filter((hash) => !tooNew.has(hash))
        .toSorted();
    const hashesOfClient = async () =>
      (
        await database.query(
          `SELECT encode(hash, 'hex') AS hash FROM public.messages WHERE type IN (${[...RECONCILED]})
           AND deleted_at IS NULL AND pruned_at IS NULL AND revoked_at IS NULL`,
        )
      )
        .map(({ hash }) => String(hash))
        .toSorted();

    index.start();
    await index.until(() => (index?.commits ?? 0) > 0 || server.served > 10);
    expect(createFillCheck(index.db)()).toBe(false);
    expect((await hubClient.client.getInfo({ dbStats: true })).isOk()).toBe(true);
    const refusal = await reconcile().catch(String);
    expect(refusal).toContain("the index is being filled");

    isHeld = false;
    server.release();
    await index.caughtUp();
    await reconcile();
    expect(await hashesOfClient()).toEqual(hashesOfUpstream());

    const redisOfQueue = shuttle.getRedisClient(redis.url);
    cleanup.defer(() => redisOfQueue.disconnect());
    const eventStream = new shuttle.EventStreamConnection(redisOfQueue);
    const subscriber = new shuttle.EventStreamHubSubscriber(
      "test",
      hubClient,
      eventStream,
      queue,
      "all",
      log,
    );
    // It queues events by the hundred, so that the last ones of a short log would never arrive.
    subscriber.eventBatchSize = 1;
    const consumer = new shuttle.HubEventStreamConsumer(
      hubClient,
      eventStream,
      "all",
      { messageProcessingConcurrency: 1 },
      log,
    );
    const ids = new Set<number>();
    const arrivals = new EventSignal();
    await subscriber.start();
    await consumer.start(async (event: ClientEvent) => {
      const message = event.mergeMessageBody?.message;
      const hash = Buffer.from(message?.hash ?? []).toString("hex");
      await shuttle.HubEventProcessor.processHubEvent(db, event, handler).catch(refuse(hash));
      ids.add(event.id);
      arrivals.raise();
      return { isErr: () => false, value: { skipped: false } };
    });
    upstream.produce(TICKS);
    await index.caughtUp();
    const logged = eventIds(index.db);
    while (logged.some((id) => !ids.has(id))) await arrivals.next();
    subscriber.stop();
    consumer.stop();
    // Events of compact link states list no links that they replace, as those of snapchain: a reconciliation finds them.
    expect(new Set(await reconcile())).toEqual(new Set(["only the client has a link"]));
    expect(await hashesOfClient()).toEqual(hashesOfUpstream());
    expect(logged.length).toBeGreaterThan(50);
    expect(faults).toEqual([]);
  },
  180_000,
);
