import { describe, expect, test } from "bun:test";
import { err, ok } from "../../src/lib/result.ts";
import { buildMessage, ed25519KeyFromSeed } from "../../src/protocol/message/build-message.ts";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import {
  type MessageData,
  MessageType,
  ReactionType,
  UserDataType,
} from "../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { refusal } from "../../src/writes/refusals.ts";
import type { UnsignedBody } from "../../src/writes/rpc.ts";
import type { WriteSigners } from "../../src/writes/service.ts";
import { signerEvent } from "../support/events.ts";
import { startScriptedUpstream, startTestWrites, type TestWrites } from "../support/writes.ts";

const FID = 1;
const SIGNER = "8d4f8d2e-6a3f-4f0a-9d52-3c1d2b9c9f10";
const key = ed25519KeyFromSeed(new Uint8Array(32).fill(7));

/** One signer, of fid 1. */
const signers: WriteSigners = {
  async userOf(signerUuid) {
    return signerUuid === SIGNER ? ok(FID) : err(refusal(404, "unknown_signer", "no such signer"));
  },
  async sign(_uuid, _owner, messages: readonly MessageData[]) {
    return ok(messages.map((data) => buildMessage(data, key)));
  },
};

async function startSigning(options: Parameters<typeof startTestWrites>[0] = {}): Promise<TestWrites> {
  const writes = await startTestWrites({ ...options, signers });
  writes.node.ingestEvent(signerEvent(FID, key.publicKey, { block: 300_000 }));
  return writes;
}

const TARGET = { fid: 2, hash: new Uint8Array(20).fill(9) };
const reaction = (type: MessageType): UnsignedBody => ({
  type,
  body: {
    $case: "reactionBody",
    value: {
      type: ReactionType.REACTION_TYPE_LIKE,
      target: { $case: "targetCastId", value: TARGET },
    },
  },
});
const LIKE = reaction(MessageType.MESSAGE_TYPE_REACTION_ADD);
const UNLIKE = reaction(MessageType.MESSAGE_TYPE_REACTION_REMOVE);
const bio = (value: string): UnsignedBody => ({
  type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
  body: { $case: "userDataBody", value: { type: UserDataType.USER_DATA_TYPE_BIO, value } },
});

async function publish(writes: TestWrites, bodies: readonly UnsignedBody[], signerUuid = SIGNER) {
  const reply = await writes.submit([], { signerUuid, route: "POST /reaction", content: { bodies } });
  return reply.ok ? reply.outcomes.map(({ state }) => state) : reply.refusal.code;
}

const likes = ({ node }: TestWrites) =>
  node.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM reactions").get()?.n;

describe("unsigned bodies", () => {
  test("50 likes and unlikes within a second end as the last one", async () => {
    await using writes = await startSigning();
    for (let n = 0; n < 50; n += 1)
      expect(await publish(writes, [n % 2 === 0 ? LIKE : UNLIKE])).toEqual(["merged"]);
    expect(likes(writes)).toBe(0);
    expect(await publish(writes, [LIKE])).toEqual(["merged"]);
    expect(likes(writes)).toBe(1);
  });

  test("what the network already has makes no message", async () => {
    await using writes = await startSigning();
    expect(await publish(writes, [UNLIKE])).toEqual(["unchanged"]);
    expect(await publish(writes, [LIKE])).toEqual(["merged"]);
    expect(await publish(writes, [LIKE])).toEqual(["unchanged"]);
    expect(await publish(writes, [bio("a"), LIKE])).toEqual(["merged", "unchanged"]);
    expect(await publish(writes, [bio("a")])).toEqual(["unchanged"]);
    expect(await publish(writes, [bio("b")])).toEqual(["merged"]);
  });

  test("a time more than five minutes ahead is 409", async () => {
    await using writes = await startSigning();
    const now = toFarcasterSecs(nowSecs(writes.node.clock));
    const slot = Uint8Array.of(Store.UserData, UserDataType.USER_DATA_TYPE_BIO);
    await writes.store.takeTimes(FID, [{ slot, heldAt: now + 298 }], now, 300);
    expect(await publish(writes, [bio("300 s ahead")])).toEqual(["merged"]);
    expect(await publish(writes, [bio("301 s ahead")])).toBe("conflict");
  });

  test("an unlike is sent while the like before it is still under way", async () => {
    await using upstream = await startScriptedUpstream();
    await using writes = await startSigning({ upstream });
    expect(await publish(writes, [LIKE])).toEqual(["queued"]);
    expect(await publish(writes, [UNLIKE])).toEqual(["queued"]);
    expect(upstream.received.length).toBe(2);
  });

  test("an unknown signer writes nothing", async () => {
    await using writes = await startSigning();
    expect(await publish(writes, [LIKE], crypto.randomUUID())).toBe("unknown_signer");
    expect(likes(writes)).toBe(0);
  });
});
