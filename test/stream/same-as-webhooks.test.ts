import { expect, test } from "bun:test";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { eventRange, hasEventsAfter, markPublished } from "../../src/db/index/log/outbox.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { startPublisher } from "../../src/webhooks/publish/publisher.ts";
import { UNTRIED } from "../../src/webhooks/store/webhook-store.ts";
import type { Subscription } from "../../src/webhooks/subscription.ts";
import { makeSecret } from "../management/owned-store-contract.ts";
import { silentLog } from "../support/log.ts";
import { noBans, startMatching } from "../support/matching.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { uncast } from "../support/records.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";
import { localStores } from "../support/state-stores.ts";
import { SseClient, startTestStreams } from "../support/streams.ts";

const CHANNEL = "https://warpcast.com/~/channel/bread,butter";

/** Each as a subscription and as a query. */
const SUBSCRIPTIONS: readonly (readonly [Subscription, string])[] = [
  [
    { "cast.created": { author_fids: [1] }, "cast.deleted": { author_fids: [1] } },
    "kinds=cast.created,cast.deleted&fids=1",
  ],
  [
    { "cast.created": { parent_urls: [CHANNEL] } },
    `kinds=cast_created&parent_urls=${encodeURIComponent(CHANNEL)}`,
  ],
  [{ "cast.created": { text: "(?i)gm" }, "cast.deleted": { text: "(?i)gm" } }, "text=(%3Fi)gm"],
  [
    {
      "follow.created": { target_fids: [3] },
      "follow.deleted": { target_fids: [3] },
      "reaction.created": { target_fids: [3] },
      "reaction.deleted": { target_fids: [3] },
    },
    "target_fids=3",
  ],
  [
    { "reaction.created": { fids: [2] }, "reaction.deleted": { fids: [2] } },
    "kinds=reaction.created,reaction.deleted&author_fids=2",
  ],
];

test("streams of both transports have, byte for byte, the bodies of webhooks with the same filters", async () => {
  await using bench = startTestStreams();
  const { node } = bench;
  const state = openState(statePath(node.dir));
  using index = openIndexReader(indexPath(node.dir));
  const { webhooks, publications } = localStores(state, { clock: node.clock });
  const nowSecs = Math.floor(node.clock.nowMs() / 1000);
  for (const [at, [subscription]] of SUBSCRIPTIONS.entries()) {
    const webhookId = `webhook-${at}`;
    const fixed = {
      title: webhookId,
      description: null,
      active: true,
      compatPrefix: null,
      health: UNTRIED,
      ownerFid: 1,
    };
    const urls = { targetUrl: "https://receiver.example", secrets: [makeSecret(at)] };
    await webhooks.create(
      { ...fixed, ...urls, webhookId, subscription, createdAt: nowSecs, updatedAt: nowSecs },
      100,
    );
  }
  const publisher = startPublisher({
    index,
    outbox: {
      async awaitEvents(afterSeq) {
        while (!hasEventsAfter(node.db, afterSeq)) await Bun.sleep(5);
      },
      markPublished: async (seq) => node.db.transaction(() => markPublished(node.db, seq)),
    },
    store: publications,
    matching: startMatching(),
    bannedAmong: noBans,
    hasRoom: async () => true,
    onQueued: () => undefined,
    onDeactivated: () => undefined,
    clock: node.clock,
    log: silentLog,
  });
  const clients = await Promise.all(SUBSCRIPTIONS.map(([, query]) => SseClient.open(bench.url(query))));
  const socketData: string[][] = SUBSCRIPTIONS.map(() => []);
  const sockets = SUBSCRIPTIONS.map(([subscription], at) => {
    const socket = new WebSocket(bench.url("wait=1").replace("http", "ws"));
    const opened = Promise.withResolvers<void>();
    socket.onopen = () => socket.send(JSON.stringify({ subscription }));
    socket.onmessage = ({ data }) => {
      const { event } = JSON.parse(data);
      if (event === "hello") opened.resolve();
      else socketData[at]?.push(/"data":(.*)\}$/s.exec(data)?.[1] ?? "");
    };
    return opened.promise;
  });
  await Promise.all([...clients.map((client) => client.next()), ...sockets]);

  let serial = 0;
  const cast = (fid: number, text: string, parentUrl?: string) => {
    const body =
      parentUrl === undefined
        ? { text }
        : { text, parent: { $case: "parentUrl" as const, value: parentUrl } };
    const timestamp = DEFAULT_TIMESTAMP - 500 + serial++;
    const message = signedCast(fid, text, accountSigner(fid), {
      timestamp,
      ...({ body: { $case: "castAddBody", value: body } } as object),
    });
    expect(node.ingestMessage(message)).toBe("ok");
    return message;
  };
  cast(1, "hello\nthere \u2028 \u0000-free");
  const removed = cast(1, "gm everyone");
  cast(2, "GM in a channel", CHANNEL);
  const target = cast(3, "a target");
  cast(3, "elsewhere", `${CHANNEL}/x`);
  node.ingestMessage(linkMessage(1, "follow", 3));
  node.ingestMessage(linkMessage(1, "follow", 3, { remove: true, at: DEFAULT_TIMESTAMP + 1 }));
  node.ingestMessage(reactionMessage(2, ReactionType.REACTION_TYPE_LIKE, { fid: 3, hash: hashOf(target) }));
  node.ingestAll([uncast(1, { kind: "message", bytes: removed })]);

  while (publisher.stats().publishedEvents < eventRange(node.db).headSeq) await Bun.sleep(5);
  const delivered = state.sqlite
    .query<{ id: string; body: string }, []>(
      `SELECT w.webhook_id AS id, e.body FROM deliveries d
       JOIN delivery_events e ON e.seq = d.event JOIN webhooks w ON w.seq = d.webhook ORDER BY e.seq`,
    )
    .all();
  for (const [at, client] of clients.entries()) {
    const bodies = delivered.filter(({ id }) => id === `webhook-${at}`).map(({ body }) => body);
    expect(bodies.length).toBeGreaterThan(0);
    expect((await client.events(bodies.length)).map(({ data }) => data ?? "")).toEqual(bodies);
    while ((socketData[at]?.length ?? 0) < bodies.length) await Bun.sleep(5);
    expect(socketData[at]).toEqual(bodies);
    await client[Symbol.asyncDispose]();
  }
  await publisher.stop();
  state[Symbol.dispose]();
});
