import { afterAll, expect, test } from "bun:test";
import { channelHistoryOf } from "../../src/db/index/channels/history.ts";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { eventsAfter, type StoredOutboxEvent } from "../../src/db/index/log/outbox.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { CHANNEL_EVENT_KINDS, isChannelEvent } from "../../src/protocol/event-kind.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { allDelivered, deliveryArgs } from "../support/delivery-network.ts";
import { startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { IS_LONG } from "../support/long.ts";
import { startNode, tempDir } from "../support/program.ts";
import { localStores } from "../support/state-stores.ts";
import { heightAt } from "../support/upstream/blocks.ts";
import { boundaryState, verificationEvents } from "../support/upstream/boundary-checks.ts";
import { type Chain, makeBoundaryChain } from "../support/upstream/chain.ts";
import { FollowedIndex } from "../support/upstream/followed-index.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { DATA_SHARDS } from "../support/upstream/shards.ts";

const KILLS = Number(process.env.BOUNDARY_KILLS ?? (IS_LONG ? 16 : 3));
const SEED = process.env.BOUNDARY_KILLS_SEED ?? "boundary and kill -9";
const HISTORY = 10;
const TICKS = { before: 24, after: 76 };
/** Events that are older than 15 minutes are history. The chain ends in the near future, which the protocol allows. */
const AGO_SECS = 120;
const DELIVERED_WITHIN_MS = 30_000;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

type Event = Pick<StoredOutboxEvent, "kind" | "block" | "eventId">;

/**
 * Whether two nodes must have an event. A follow that its data shard has in a block before `known` may have reached the node before the
 * registration of its channel did: nothing orders the two.
 */
const isOfBoth =
  (known: number) =>
  ({ kind, block }: Event) =>
    isChannelEvent(kind) &&
    (!isFollow({ kind }) || (block?.number ?? 0) > heightAt(block?.shard ?? 0, known));
const isFollow = ({ kind }: Pick<Event, "kind">) => kind.startsWith("channel.follow.");

const eventsOf = (db: IndexDatabase) => eventsAfter(db, 0, 100_000);
const named = (events: readonly Event[]) =>
  events.map(({ kind, eventId }) => `${kind} ${eventId.toHex()}`).sort();

/** The events of a node that is never killed. */
async function eventsWithoutKills(chain: Chain): Promise<readonly Event[]> {
  const node = new UpstreamNode(chain);
  node.produce(HISTORY);
  let index: FollowedIndex | undefined;
  const server = new UpstreamServer(node, { onCall: () => index?.wake() });
  await server.start();
  index = new FollowedIndex({ node, url: server.url, nowSecs: chain.endsAt });
  try {
    index.start();
    await index.caughtUp();
    node.produce(TICKS.before + 2);
    await index.caughtUp();
    node.produce(chain.ticks.length);
    await index.caughtUp();
    return eventsOf(index.db);
  } finally {
    await index.stop();
    server.stop();
    index.db[Symbol.dispose]();
  }
}

test(
  `checks 1, 11, 23, 26 and 31: a node with shard 0 is killed ${KILLS} times while it crosses the V21 boundary, whose date is a setting: its index equals the network's, and each change of a channel and of a verified address is delivered with one id`,
  async () => {
    const random = seededRandom(SEED);
    const startsAt = Math.floor(Date.now() / 1000) - AGO_SECS;
    const chain = makeBoundaryChain(SEED, { ...TICKS, startsAt });
    const upstream = new UpstreamNode(chain);
    upstream.produce(HISTORY);
    const server = new UpstreamServer(upstream);
    await server.start();
    await using receiver = await startDeliveryReceiver();
    const dataDir = `${dir.path}/follower`;
    const settings = [
      "protocol.network=devnet",
      `protocol.engine_versions=["21=${chain.boundary?.activeAt}"]`,
      `upstream.url=${server.url}`,
      "http.workers=1",
    ].flatMap((setting) => ["--set", setting]);
    const start = () =>
      startNode({ command: compiledProgram, dataDir, args: [...deliveryArgs, ...settings] });
    let node = await start();
    {
      using state = openState(statePath(dataDir));
      const kinds = [...CHANNEL_EVENT_KINDS, "user.updated"];
      const subscription = Object.fromEntries(kinds.map((kind) => [kind, {}]));
      await localStores(state).webhooks.create(receiver.webhook("/hook", { subscription }), 10);
    }
    using index = openIndexReader(indexPath(dataDir));
    const untilComplete = async () => {
      while (
        ![0, ...DATA_SHARDS].every(
          (shard) => (getPosition(index, `upstream ${shard} applied`) ?? 0) >= upstream.height(shard),
        ) ||
        !channelHistoryOf(index).isDone
      )
        await Bun.sleep(10);
    };
    await untilComplete();
    // At its start the node has the webhook, which another process has made.
    expect(await node.stop()).toBe(0);
    node = await start();
    const first = eventsOf(index).at(-1)?.seq ?? 0;
    // Most kills are where shard 0 decides something.
    const share = Math.ceil((TICKS.before + TICKS.after - HISTORY) / (KILLS + 1));
    let known: number | undefined;
    for (let kill = 0; kill < KILLS; kill++) {
      const end = upstream.produced(0) + share;
      const producing = (async () => {
        while (upstream.produced(0) < end) {
          upstream.produce(upstream.produced(0) + 1);
          await Bun.sleep(random.below(30));
        }
      })();
      await Bun.sleep(random.below(share * 20));
      await node.kill();
      await producing;
      node = await start();
      if (known === undefined && upstream.produced(0) > TICKS.before + 1) {
        await untilComplete();
        known = upstream.produced(0);
      }
    }
    upstream.produce(chain.ticks.length);
    await untilComplete();
    const all = eventsOf(index);
    const events = all.filter(({ kind }) => isChannelEvent(kind) || kind === "user.updated");
    const createdAt = new Map(
      all.flatMap(({ kind, fid, seq }) => (kind === "user.created" ? [[fid, seq]] : [])),
    );
    // A user who is registered later than verified, because the data shard lags, has no update to show yet.
    const isShown = ({ kind, fid, seq }: (typeof all)[number]) =>
      kind !== "user.updated" || seq > (createdAt.get(fid) ?? 0);
    // Every shard reports the transfer of a name. Events of before the webhook may be missing.
    const idsSince = (first: number) =>
      new Set(events.flatMap((one) => (one.seq > first && isShown(one) ? one.eventId.toHex() : [])));
    const deliveredIds = () => new Set(receiver.accepted.map(({ messageId }) => messageId));
    const until = Date.now() + DELIVERED_WITHIN_MS;
    while (deliveredIds().size < idsSince(first).size && Date.now() < until) await Bun.sleep(20);
    await allDelivered(node.url);
    expect(await node.stop()).toBe(0);
    server.stop();

    const { has, must } = boundaryState(index, upstream);
    expect(has).toEqual(must);
    expect(chain.dumpOf(index)).toBe(chain.referenceDump);
    const ofBoth = (all: readonly Event[]) => named(all.filter(isOfBoth(known ?? 0)));
    expect(ofBoth(events)).toEqual(ofBoth(await eventsWithoutKills(chain)));
    expect(ofBoth(events.filter(isFollow)).length).toBeGreaterThan(0);
    const updates = verificationEvents(index, upstream, HISTORY);
    expect(updates.has).toEqual(updates.must);
    expect(updates.must.length).toBeGreaterThan(20);
    expect(receiver.violations).toEqual([]);
    const delivered = deliveredIds();
    const contents = new Set(receiver.accepted.map(({ event, messageId }) => `${event} ${messageId}`));
    expect(delivered.size).toBeGreaterThanOrEqual(idsSince(first).size);
    expect(delivered.size).toBeLessThanOrEqual(new Set(events.map((one) => one.eventId.toHex())).size);
    expect(contents.size).toBe(delivered.size);
    expect(events.length).toBeGreaterThan(20);
    expect(verifyIndex(indexPath(dataDir))).toEqual([]);
  },
  90_000 + KILLS * 10_000,
);
