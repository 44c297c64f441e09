import { expect, test } from "bun:test";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { ValidatorSets } from "../../../src/trust/validator-sets.ts";
import { createEndpoints } from "../../../src/upstream/peers/endpoints/endpoints.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { callsAtOnce } from "../../support/upstream/calls.ts";
import { serveRecording } from "../../support/upstream/recorded.ts";
import { chain, LAST_BLOCK, SHARDS, validators } from "../../support/upstream/recorded-nodes.ts";

test("a node whose last question failed is not followed for a while, and is a witness as soon as it responds", async () => {
  const heads = new Map(SHARDS.map((shard) => [shard, LAST_BLOCK]));
  using first = await serveRecording(() => chain, heads, { listing: { count: 2 } });
  using second = await serveRecording(() => chain, heads, { listing: { count: 2 } });
  const endpoints = createEndpoints({
    urls: [first.url, second.url],
    settings: callsAtOnce(1),
    timings: { ...DEFAULT_TIMINGS, headPollMs: 600_000, coolMs: 1e9, maxCoolMs: 1e9 },
    ask: () => ({
      network: FarcasterNetwork.FARCASTER_NETWORK_DEVNET,
      sets: new ValidatorSets([validators]),
    }),
    received: () => LAST_BLOCK,
    shards: () => 2,
    onFault: () => {},
  });
  await using _ = { [Symbol.asyncDispose]: () => endpoints.close() };
  const [one, other] = endpoints.all;
  if (!one || !other) throw new Error("two nodes are set");
  for (const each of [one, other]) expect(await endpoints.isUpToDate(each)).toBe(true);
  other.fellSilent("14 UNAVAILABLE");
  other.cool();
  expect(endpoints.second()).toBe(one);
  expect(endpoints.witnesses()).toEqual([one, other]);
  expect(await endpoints.isUpToDate(other)).toBe(true);
  expect(endpoints.status()[1]?.state).toBe("failing");
  other.refuse("it lies");
  expect(endpoints.witnesses()).toEqual([one]);
  expect(await endpoints.isUpToDate(other)).toBe(false);
});
