import { expect, test } from "bun:test";
import { putPosition } from "../../src/db/index/positions.ts";
import { err, ok } from "../../src/lib/result.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { buildMessage, ed25519KeyFromSeed } from "../../src/protocol/message/build-message.ts";
import {
  ChannelUpdateBody,
  type MessageData,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import { refusal } from "../../src/writes/refusals.ts";
import type { UnsignedBody } from "../../src/writes/rpc.ts";
import type { WriteSigners } from "../../src/writes/service.ts";
import { ACCEPTED_RETRY_MS } from "../../src/writes/submit-writes.ts";
import { activateChannels, ownsWallet, pins, registers, walletOf } from "../support/channel-records.ts";
import { signerEvent } from "../support/events.ts";
import { until } from "../support/manual-time.ts";
import {
  OWNER,
  type ScriptedUpstream,
  startScriptedUpstream,
  startTestWrites,
  type TestWrites,
} from "../support/writes.ts";

const FID = 1;
const KEY = "books";
const SIGNER = "8d4f8d2e-6a3f-4f0a-9d52-3c1d2b9c9f10";
const key = ed25519KeyFromSeed(new Uint8Array(32).fill(7));

/** One signer, of the owner of the channel. */
const signers: WriteSigners = {
  async userOf(signerUuid) {
    return signerUuid === SIGNER ? ok(FID) : err(refusal(404, "unknown_signer", "no such signer"));
  },
  async sign(_uuid, _owner, messages: readonly MessageData[]) {
    return ok(messages.map((data) => buildMessage(data, key)));
  },
};

async function startOwner(upstream?: ScriptedUpstream): Promise<TestWrites> {
  const writes = await startTestWrites({ signers, ...(upstream && { upstream }) });
  const { node } = writes;
  activateChannels(node.db);
  node.ingestEvent(signerEvent(FID, key.publicKey, { block: 300_000 }));
  node.ingestAll([ownsWallet(FID), registers(KEY, walletOf(FID))]);
  return writes;
}

const channelId = channelIdOfKey(KEY);
const pin = (byte: number): UnsignedBody => ({
  type: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
  body: { $case: "channelPinBody", value: { channelId, castHash: new Uint8Array(20).fill(byte) } },
});
const rename = (name: string, basis: number | null): UnsignedBody => ({
  type: MessageType.MESSAGE_TYPE_CHANNEL_UPDATE,
  body: { $case: "channelUpdateBody", value: { ...ChannelUpdateBody.create(), channelId, name } },
  basis,
});

const publish = (writes: TestWrites, ...bodies: readonly UnsignedBody[]) =>
  writes.submit([], { signerUuid: SIGNER, route: "PATCH /channel", content: { bodies } });

async function outcomeOf(writes: TestWrites, body: UnsignedBody) {
  const reply = await publish(writes, body);
  const [outcome] = reply.ok ? reply.outcomes : [];
  return reply.ok ? outcome : reply.refusal.code;
}

/** Applies what the upstream accepts, as shard 0 decides it. */
const follow = (upstream: ScriptedUpstream, { node }: TestWrites) => {
  upstream.onAccepted = (bytes) => void node.merge([{ kind: "message", bytes }]);
};

const atBlock = ({ node }: TestWrites, block: number) =>
  node.db.transaction(() => putPosition(node.db, "upstream 0 applied", block));

test("settings that were made from older ones are refused, and nothing is signed", async () => {
  await using writes = await startOwner();
  const both = await Promise.all([
    outcomeOf(writes, rename("One", null)),
    outcomeOf(writes, rename("Two", null)),
  ]);
  expect(both).toEqual([expect.objectContaining({ state: "merged" }), "conflict"]);
  expect(await outcomeOf(writes, rename("Three", null))).toBe("conflict");
  expect(await outcomeOf(writes, rename("Three", 1))).toMatchObject({ state: "merged" });
});

test("while a change of the settings is on its way, the next one is refused", async () => {
  await using upstream = await startScriptedUpstream();
  await using writes = await startOwner(upstream);
  expect(await outcomeOf(writes, rename("One", null))).toMatchObject({ state: "queued" });
  expect(await outcomeOf(writes, rename("Two", null))).toBe("conflict");
  expect(upstream.received).toHaveLength(1);
});

test("a message that was merged and has lost its slot before it is seen is merged, and the outcome says so", async () => {
  await using upstream = await startScriptedUpstream();
  await using writes = await startOwner(upstream);
  upstream.onAccepted = (bytes) => {
    void writes.node.merge([{ kind: "message", bytes }, pins(FID, KEY, new Uint8Array(20).fill(9))]);
  };
  expect(await outcomeOf(writes, pin(1))).toMatchObject({ state: "merged", isReplaced: true });
});

test("several messages of one write in a channel are sent one by one: shard 0 takes no bulk", async () => {
  await using upstream = await startScriptedUpstream();
  await using writes = await startOwner(upstream);
  follow(upstream, writes);
  const reply = await publish(writes, pin(1), rename("One", null));
  expect(reply).toMatchObject({ ok: true, outcomes: [{ state: "merged" }, { state: "merged" }] });
  expect([upstream.received.length, upstream.bulks]).toEqual([2, []]);
});

test("an accepted message that shard 0 has not merged for 100 blocks is refused, and never sent again", async () => {
  await using upstream = await startScriptedUpstream();
  await using writes = await startOwner(upstream);
  atBlock(writes, 1_000);
  const outcome = await outcomeOf(writes, pin(1));
  if (typeof outcome !== "object") throw new Error(outcome);
  expect(outcome.state).toBe("queued");
  const hash = Uint8Array.fromHex(outcome.hash);
  const status = () => writes.store.find(OWNER.fid, hash);

  atBlock(writes, 1_099);
  writes.node.clock.advanceSecs(ACCEPTED_RETRY_MS / 1000);
  const looked = (await status())?.updatedAt ?? 0;
  await until(async () => ((await status())?.updatedAt ?? 0) > looked);
  expect(await status()).toMatchObject({ state: "queued" });

  atBlock(writes, 1_100);
  writes.node.clock.advanceSecs(ACCEPTED_RETRY_MS / 1000);
  await until(async () => (await status())?.state === "refused");
  expect(await status()).toMatchObject({ reason: expect.stringContaining("not_merged") });
  expect(upstream.received).toEqual([outcome.hash]);
});

test("a queued message that shard 0 merged is never sent again, even after a later one", async () => {
  await using upstream = await startScriptedUpstream();
  await using writes = await startOwner(upstream);
  upstream.answer = () => "silence";
  const outcome = await outcomeOf(writes, pin(1));
  if (typeof outcome !== "object") throw new Error(outcome);
  expect(outcome.state).toBe("queued");
  const [queued] = await writes.store.queuedOf(FID, MessageType.MESSAGE_TYPE_CHANNEL_PIN);
  if (!queued) throw new Error("nothing is queued");
  writes.node.ingestAll([{ kind: "message", bytes: queued }, pins(FID, KEY, new Uint8Array(20).fill(9))]);
  upstream.answer = () => "ok";
  writes.node.clock.advanceSecs(ACCEPTED_RETRY_MS / 1000);
  const hash = Uint8Array.fromHex(outcome.hash);
  await until(async () => (await writes.store.find(OWNER.fid, hash))?.state === "merged");
  expect(upstream.received).toEqual([outcome.hash]);
});
