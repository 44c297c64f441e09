import { expect, test } from "bun:test";
import { compiledProgram } from "../support/compiled-program.ts";
import {
  allDelivered,
  castNow,
  deliveryArgs,
  hubClient,
  prepareDeliveries,
} from "../support/delivery-network.ts";
import { type ReceivedDelivery, startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { startNode, tempDir } from "../support/program.ts";
import { hashOf } from "../support/social.ts";

const CASTS = 60;
const ATTEMPTS = 3;
/** With 4 concurrent calls each, more than enough to use all 16. */
const HANGING = 6;

test("receivers that hang, fail or redirect to private addresses do not delay a working receiver", async () => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  const released = Promise.withResolvers<undefined>();
  const hangs = new Map<string, number>();
  let mostHanging = 0;
  await using hanging = await startDeliveryReceiver(({ path }) => {
    hangs.set(path, (hangs.get(path) ?? 0) + 1);
    mostHanging = Math.max(mostHanging, ...hangs.values());
    return released.promise.then(() => undefined);
  });
  await using failing = await startDeliveryReceiver(() => new Response("broken", { status: 500 }));
  await using within = await startDeliveryReceiver();
  await using redirecting = await startDeliveryReceiver(
    () =>
      new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${within.port}/inside` } }),
  );
  const all = Promise.withResolvers<void>();
  await using fast = await startDeliveryReceiver(() => {
    if (fast.received.length >= CASTS) all.resolve();
    return undefined;
  });
  await prepareDeliveries(dataDir, {
    fids: [1],
    webhooks: [
      ...Array.from({ length: HANGING }, (_, at) => hanging.webhook(`/hanging/${at}`)),
      failing.webhook("/failing"),
      redirecting.webhook("/redirecting"),
      fast.webhook("/fast"),
    ],
  });
  const args = [
    ...deliveryArgs,
    ...["--set", "webhooks.delivery_timeout_secs=60"],
    ...["--set", "webhooks.retry_initial_backoff_ms=10"],
    ...["--set", `webhooks.retry_max_attempts=${ATTEMPTS}`],
  ];
  await using node = await startNode({ command: compiledProgram, dataDir, args });
  using hub = hubClient(node.hubAddress);
  const events: string[] = [];
  for (let call = 0; call < CASTS / 10; call++) {
    const casts = Array.from({ length: 10 }, (_, at) => castNow(1, `cast ${call} ${at}`));
    events.push(...casts.map((bytes) => `cast.created ${hashOf(bytes)}`));
    expect(await hub.submit(casts)).not.toContain(false);
  }
  await all.promise;
  // No hanging call has finished: none has a response, and none has reached its timeout of 60 seconds.
  expect(namesOf(fast.received)).toEqual(events.toSorted());
  expect(hanging.received.length).toBeGreaterThan(0);
  expect(mostHanging).toBeLessThanOrEqual(4);

  released.resolve(undefined);
  await allDelivered(node.url);
  expect(namesOf(hanging.received)).toEqual(events.flatMap((event) => Array(HANGING).fill(event)).toSorted());
  for (const { received } of [failing, redirecting]) {
    expect(namesOf(received)).toEqual(events.flatMap((event) => Array(ATTEMPTS).fill(event)).toSorted());
    expect(new Set(received.map(({ messageId }) => messageId)).size).toBe(CASTS);
  }
  expect(fast.received).toHaveLength(CASTS);
  expect(within.received).toEqual([]);
  for (const { violations } of [hanging, failing, redirecting, fast]) expect(violations).toEqual([]);
}, 180_000);

const namesOf = (received: readonly ReceivedDelivery[]) => received.map(({ event }) => event).toSorted();
