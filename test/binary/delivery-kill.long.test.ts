import { afterAll, expect, test } from "bun:test";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { outboxBacklog } from "../../src/db/index/log/outbox.ts";
import { allMessages } from "../../src/db/index/messages/live-messages.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import {
  allDelivered,
  castNow,
  deliveryArgs,
  hubClient,
  likeNow,
  prepareDeliveries,
  uncastNow,
} from "../support/delivery-network.ts";
import {
  type DeliveryReceiver,
  type ReceivedDelivery,
  startDeliveryReceiver,
} from "../support/delivery-receiver.ts";
import { IS_LONG } from "../support/long.ts";
import { startNode, tempDir } from "../support/program.ts";
import { hashOf } from "../support/social.ts";

/** Few enough for the suite; set `DELIVERY_KILLS=50` for more. */
const KILLS = Number(process.env.DELIVERY_KILLS ?? (IS_LONG ? 6 : 2));
const MAX_RUN_MS = 400;
const RECEIVER_MS = 15;
const CASTS_PER_CALL = 10;
const FIDS = [1, 2, 3];

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

/** The webhooks of the tests. `Stream` repeats their filters. */
function subscribe({ webhook }: DeliveryReceiver) {
  const everything = { "cast.created": {}, "cast.deleted": {}, "reaction.created": {} };
  const some = { "cast.created": { author_fids: [2], text: "[02468]\\b" } };
  return [
    webhook("/everything", { subscription: everything }),
    webhook("/some", { subscription: some }),
    webhook("/nothing", { subscription: { "cast.created": { author_fids: [9] }, "follow.created": {} } }),
  ];
}

/** Writes, likes and deletes casts through the official client, and records the events that receivers must get. */
class Stream {
  /** `<path> <event>` for every confirmed message. */
  readonly expected = new Set<string>();
  /** The same for every message that was sent. */
  readonly possible = new Set<string>();
  #serial = 0;

  /** Sends one round of messages. Returns false when the node has exited. */
  async round(hub: ReturnType<typeof hubClient>): Promise<boolean> {
    const casts = Array.from({ length: CASTS_PER_CALL }, () => {
      const fid = FIDS[this.#serial % FIDS.length] ?? 1;
      const text = `cast ${this.#serial++}`;
      const bytes = castNow(fid, text);
      return { fid, text, bytes, hash: hashOf(bytes) };
    });
    const eventsOf = ({ fid, text, hash }: (typeof casts)[number]) => [
      `/everything cast.created ${hash}`,
      ...(fid === 2 && /[02468]$/.test(text) ? [`/some cast.created ${hash}`] : []),
    ];
    if (
      !(await this.#submit(
        hub,
        casts.map((cast) => [cast.bytes, eventsOf(cast)]),
      ))
    )
      return false;
    const [gone, liked] = casts;
    if (!gone || !liked) return false;
    return this.#submit(hub, [
      [uncastNow(gone.fid, gone.hash), [`/everything cast.deleted ${gone.hash}`]],
      [likeNow(1, liked), [`/everything reaction.created 1 ${liked.hash}`]],
    ]);
  }

  async #submit(
    hub: ReturnType<typeof hubClient>,
    messages: readonly (readonly [Uint8Array, readonly string[]])[],
  ): Promise<boolean> {
    for (const [, events] of messages) for (const event of events) this.possible.add(event);
    const accepted = await hub.submit(messages.map(([bytes]) => bytes));
    if (accepted === undefined) return false;
    expect(accepted).not.toContain(false);
    for (const [, events] of messages) for (const event of events) this.expected.add(event);
    return true;
  }
}

/** By how much the counts of attempts and deliveries differ from the rows. */
function attemptsIn(dataDir: string) {
  using state = openState(statePath(dataDir));
  return state.sqlite
    .query(
      `SELECT sum(attempts) - (SELECT count(*) FROM delivery_attempts) AS counted,
         sum(delivered) - (SELECT count(*) FROM deliveries WHERE state = 'delivered') AS delivered FROM attempt_stats`,
    )
    .get();
}

/**
 * Returns how often each event was accepted, as `<path> <event>`. Fails when an event had several ids, or an id several
 * events.
 */
function countsOf({ received, accepted, violations }: DeliveryReceiver): Map<string, number> {
  expect(violations).toEqual([]);
  const distinct = (name: (delivery: ReceivedDelivery) => string) => new Set(received.map(name)).size;
  const events = distinct(({ path, event }) => `${path} ${event}`);
  expect(distinct(({ path, event, messageId }) => `${path} ${event} ${messageId}`)).toBe(events);
  expect(distinct(({ messageId }) => messageId)).toBe(events);
  const counts = new Map<string, number>();
  for (const { path, event } of accepted)
    counts.set(`${path} ${event}`, (counts.get(`${path} ${event}`) ?? 0) + 1);
  return counts;
}

test(`a node that is killed at ${KILLS} random moments delivers every event at least once, with one id`, async () => {
  const dataDir = `${dir.path}/killed`;
  await using receiver = await startDeliveryReceiver(async ({ messageId }) => {
    await Bun.sleep(Math.random() * 2 * RECEIVER_MS);
    // Some attempts fail, so that kills also occur between attempts.
    return Math.random() < 0.1 && !messageId.endsWith("0")
      ? new Response("busy", { status: 503 })
      : undefined;
  });
  await prepareDeliveries(dataDir, { fids: FIDS, webhooks: subscribe(receiver) });
  const args = [
    ...deliveryArgs,
    "--set",
    "webhooks.retry_initial_backoff_ms=20",
    "--set",
    "webhooks.retry_max_attempts=20",
  ];
  const stream = new Stream();
  const interrupted = { outbox: 0, deliveries: 0 };

  for (let kill = 0; kill < KILLS; kill++) {
    const node = await startNode({ command: compiledProgram, dataDir, args });
    using hub = hubClient(node.hubAddress);
    const writing = (async () => {
      while (await stream.round(hub));
    })();
    // Not before it has work, however long its start takes.
    const before = stream.expected.size;
    await until(() => stream.expected.size > before, "the node accepts a round");
    await Bun.sleep(Math.random() * MAX_RUN_MS);
    await node.kill();
    await writing;
    const left = leftIn(dataDir);
    if (left.outbox > 0) interrupted.outbox += 1;
    if (left.deliveries > 0) interrupted.deliveries += 1;
  }

  const last = await startNode({ command: compiledProgram, dataDir, args });
  await allDelivered(last.url);
  expect(await last.stop()).toBe(0);
  expect(last.logs()).not.toContain('"level":"error"');
  expect(attemptsIn(dataDir)).toEqual({ counted: 0, delivered: 0 });
  // An unconfirmed message may have been stored; then its event is delivered as well.
  for (const event of storedIn(dataDir)) stream.expected.add(event);
  const counts = countsOf(receiver);
  expect([...stream.expected].filter((event) => !counts.has(event))).toEqual([]);
  expect([...counts.keys()].filter((event) => !stream.possible.has(event))).toEqual([]);
  // How much a node delivers before it is killed depends on what else the machine does.
  expect(interrupted.deliveries).toBeGreaterThan(KILLS / 8);
  if (process.env.DELIVERY_KILLS) {
    const repeated = [...counts.values()].filter((count) => count > 1).length;
    process.stderr.write(
      `${JSON.stringify({ events: counts.size, received: receiver.received.length, repeated, interrupted })}\n`,
    );
  }
}, 600_000);

test("without faults, every event is delivered exactly once, also across a restart", async () => {
  const dataDir = `${dir.path}/calm`;
  await using receiver = await startDeliveryReceiver();
  await prepareDeliveries(dataDir, { fids: FIDS, webhooks: subscribe(receiver) });
  const stream = new Stream();
  for (let run = 0; run < 2; run++) {
    await using node = await startNode({ command: compiledProgram, dataDir, args: deliveryArgs });
    using hub = hubClient(node.hubAddress);
    for (let round = 0; round < 8; round++) expect(await stream.round(hub)).toBe(true);
    // The first run is stopped while it delivers.
    if (run > 0) await allDelivered(node.url);
    expect(await node.stop()).toBe(0);
  }
  const counts = countsOf(receiver);
  expect([...counts.keys()].sort()).toEqual([...stream.expected].sort());
  expect(receiver.received).toHaveLength(counts.size);
}, 180_000);

/** The unfinished work of a dead node. */
function leftIn(dataDir: string): { outbox: number; deliveries: number } {
  using index = openIndexReader(indexPath(dataDir));
  using state = openState(statePath(dataDir));
  const queued = state.sqlite
    .query<{ count: number }, []>("SELECT count(*) AS count FROM deliveries WHERE due_at_ms IS NOT NULL")
    .get();
  return { outbox: outboxBacklog(index).events, deliveries: queued?.count ?? 0 };
}

/** The events of the messages in the index. */
function storedIn(dataDir: string): string[] {
  using index = openIndexReader(indexPath(dataDir));
  const stored = allMessages(index, FarcasterNetwork.FARCASTER_NETWORK_MAINNET).toArray();
  return stored.flatMap((live) => {
    const message = live.decode();
    const { fid, body } = message.data;
    switch (body?.$case) {
      case "castAddBody":
        return [`/everything cast.created 0x${message.hash.toHex()}`];
      case "castRemoveBody":
        return [`/everything cast.deleted 0x${body.value.targetHash.toHex()}`];
      case "reactionBody": {
        const { target } = body.value;
        const hash = target?.$case === "targetCastId" ? target.value.hash.toHex() : "";
        return [`/everything reaction.created ${fid} 0x${hash}`];
      }
      default:
        return [];
    }
  });
}
