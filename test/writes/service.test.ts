import { describe, expect, test } from "bun:test";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { Message } from "../../src/protocol/wire/generated/message.ts";
import { LEASE_MS } from "../../src/writes/store/write-store.ts";
import { signerEvent } from "../support/events.ts";
import { liveHashes } from "../support/live-messages.ts";
import { until } from "../support/manual-time.ts";
import { signedCast } from "../support/messages.ts";
import { accountSigner, type TestNode } from "../support/node.ts";
import { expectOk } from "../support/result.ts";
import {
  OWNER,
  type ScriptedUpstream,
  startScriptedUpstream,
  startTestWrites,
  type TestWrites,
} from "../support/writes.ts";

const cast = (text: string, fid = 1) => signedCast(fid, text, accountSigner(fid));
const idem = (key: string, body = "body") => ({
  idem: { key, bodyDigest: new Uint8Array(Buffer.from(body.padEnd(32))) },
});

/** Merges what the upstream accepts into the index, as following it does. */
function follow(upstream: ScriptedUpstream, node: TestNode): void {
  upstream.onAccepted = (bytes) => void node.merge([{ kind: "message", bytes }]);
}

/** Does what a process has done that is killed before it submits a message. Returns its hash. */
async function storeOnly({ store }: TestWrites, bytes: Uint8Array, key?: string): Promise<string> {
  const { hash, data } = expectOk(decodeMessage(bytes));
  const { fid, type } = data;
  const call = {
    ownerFid: OWNER.fid,
    signerUuid: "",
    route: "POST /message",
    idem: key ?? "",
    bodyDigest: idem("").idem.bodyDigest,
    outcomes: [{ hash: hash.toHex(), fid, type, state: "pending" }],
  } as const;
  await store.begin(
    {
      request: crypto.randomUUID(),
      ownerFid: OWNER.fid,
      apiKeyId: OWNER.apiKeyId,
      call: key === undefined ? null : call,
      messages: [{ position: 0, fid, type, hash, message: bytes }],
      audit: { action: "write.message", signerUuid: null, requestId: "request", address: "127.0.0.1" },
    },
    10,
  );
  return hash.toHex();
}

describe("writes of a node that follows no other", () => {
  test("a message is merged before the response, and nothing is queued", async () => {
    await using node = await startTestWrites();
    const reply = await node.submit([cast("hello")]);
    if (!reply.ok) throw new Error(reply.refusal.message);
    const [outcome] = reply.outcomes;
    expect(outcome).toMatchObject({ state: "merged", fid: 1, type: 1 });
    expect(liveHashes(node.node.db)).toEqual([outcome?.hash ?? ""]);
    expect(await node.submit([cast("hello")])).toMatchObject({ ok: true, outcomes: reply.outcomes });
    expect(await node.stats()).toMatchObject({
      answered: { merged: 2 },
      queue: { count: 0, oldestAt: null },
    });
    const hash = Buffer.from(outcome?.hash ?? "", "hex");
    expect(await node.writes.find(OWNER.fid, hash)).toMatchObject({ state: "merged" });
  });

  test("a refusal says its status and code", async () => {
    await using node = await startTestWrites();
    const refusalOf = async (message: Uint8Array) => {
      const reply = await node.submit([message]);
      return reply.ok ? reply : [reply.refusal.status, reply.refusal.code, reply.refusal.message];
    };
    expect(await refusalOf(new Uint8Array([1, 2, 3]))).toMatchObject([
      400,
      "invalid_message",
      expect.stringMatching(/decoded/),
    ]);
    expect(await refusalOf(cast("x".repeat(2000)))).toMatchObject([
      400,
      "invalid_message",
      expect.stringMatching(/text/),
    ]);
    expect(await refusalOf(signedCast(1, "hello", accountSigner(2)))).toEqual([
      403,
      "signer_not_approved",
      "signer is not an active key of the fid",
    ]);
    expect(await refusalOf(cast("hello", 9))).toMatchObject([
      400,
      "invalid_message",
      "fid 9 is not registered",
    ]);
  });

  test("copies with one key that arrive together are one write with one response", async () => {
    await using node = await startTestWrites();
    const message = cast("hello");
    const replies = await Promise.all(Array.from({ length: 50 }, () => node.submit([message], idem("a"))));
    const [first] = replies;
    for (const reply of replies) {
      if (!reply.ok || !first?.ok) throw new Error("refused");
      expect(reply.outcomes).toEqual(first.outcomes);
    }
    expect(replies.filter((reply) => reply.ok && reply.replayed).length).toBe(49);
    expect(await node.submit([message], idem("a", "other"))).toMatchObject({
      ok: false,
      refusal: { status: 409, code: "idempotency_conflict" },
    });
    await node.restart();
    expect(await node.submit([message], idem("a"))).toMatchObject({ ok: true, replayed: true });
  });

  test("a definite refusal frees the key", async () => {
    await using node = await startTestWrites();
    expect(await node.submit([signedCast(1, "a", accountSigner(2))], idem("a"))).toMatchObject({ ok: false });
    expect(await node.submit([cast("a")], idem("a", "other"))).toMatchObject({ ok: true, replayed: false });
  });

  test("a write that was stored before a crash is submitted at the start, and its key gets a response", async () => {
    await using node = await startTestWrites();
    const message = cast("hello");
    const hash = await storeOnly(node, message, "a");
    await node.restart();
    expect(await node.submit([message], idem("a"))).toMatchObject({
      ok: true,
      replayed: true,
      outcomes: [{ state: "merged" }],
    });
    expect(liveHashes(node.node.db)).toEqual([hash]);
  });

  test("the audit log has each message once, and why a write was refused", async () => {
    await using node = await startTestWrites();
    const message = cast("hello");
    for (let n = 0; n < 2; n += 1) await node.submit([message], idem("a"));
    await node.submit([signedCast(1, "a", accountSigner(2))], { route: "DELETE /cast" });
    const entries = await node.audit.list(OWNER.fid, { limit: 10, before: undefined });
    expect(entries.map(({ action, userFid, outcome }) => [action, userFid, outcome])).toEqual([
      ["write.cast.delete", 1, "signer_not_approved"],
      ["write.message", 1, "ok"],
    ]);
    expect(entries[1]).toMatchObject({
      apiKeyId: OWNER.apiKeyId,
      requestId: "request",
      address: "127.0.0.1",
      hash: Uint8Array.fromHex(liveHashes(node.node.db)[0] ?? ""),
    });
  });

  test("a repetition brings back what the index has lost, and says so if the network refuses it", async () => {
    await using node = await startTestWrites();
    const messages = [cast("stays"), cast("lost")];
    const [stays, lost] = messages.map((bytes) => Message.decode(bytes).hash.toHex());
    const reply = await node.submit(messages, idem("a"));
    if (!reply.ok) throw new Error(reply.refusal.message);
    const { outcomes } = reply;
    // As after the restore of an index that is older than the state.
    const lose = () => {
      const message = expectOk(decodeMessage(messages[1] ?? new Uint8Array()));
      const ref = { fid: 1, hash: message.hash, ...slotOf(message) };
      node.node.relay([{ kind: "remove", ref, happenedAt: 1 }]);
    };
    lose();
    expect(liveHashes(node.node.db)).toEqual([stays ?? ""]);
    node.pause(true);
    expect(await node.submit(messages, idem("a"))).toMatchObject({ refusal: { status: 503 } });
    node.pause(false);
    const repeated = await Promise.all(Array.from({ length: 5 }, () => node.submit(messages, idem("a"))));
    for (const again of repeated) expect(again).toEqual({ ok: true, replayed: true, outcomes });
    expect(liveHashes(node.node.db).toSorted()).toEqual([stays ?? "", lost ?? ""].toSorted());
    const entries = await node.audit.list(OWNER.fid, { limit: 10, before: undefined });
    expect(entries.map(({ outcome }) => outcome)).toEqual(["ok", "ok"]);
    lose();
    node.node.ingestEvent(signerEvent(1, accountSigner(1).publicKey, { block: 500_000 }, "remove"));
    expect(await node.submit(messages, idem("a"))).toMatchObject({
      outcomes: [{ state: "merged" }, { state: "refused", refusal: { code: "signer_not_approved" } }],
    });
  });

  test("a message that was merged when the process was killed has its entry in the audit log after the next start", async () => {
    await using node = await startTestWrites();
    const message = cast("hello");
    await storeOnly(node, message);
    node.node.merge([{ kind: "message", bytes: message }]);
    await node.restart();
    await until(async () => (await node.stats()).queue?.count === 0);
    const entries = await node.audit.list(OWNER.fid, { limit: 10, before: undefined });
    expect(entries).toMatchObject([{ action: "write.message", userFid: 1, outcome: "ok" }]);
  });

  test("a write without its entry in the audit log is not reported as merged; it has it later, once", async () => {
    await using node = await startTestWrites();
    const repair = node.breakAudit();
    expect(await node.submit([cast("hello")])).toMatchObject({ ok: true, outcomes: [{ state: "queued" }] });
    repair();
    node.node.clock.advanceSecs(LEASE_MS / 1000);
    await until(async () => (await node.stats()).queue?.count === 0);
    const entries = await node.audit.list(OWNER.fid, { limit: 10, before: undefined });
    expect(entries).toMatchObject([{ action: "write.message", outcome: "ok" }]);
  });

  test("a paused node still says the outcome of a write that it has taken", async () => {
    await using node = await startTestWrites();
    await node.submit([cast("hello")], idem("a"));
    node.pause(true);
    expect(await node.submit([cast("hello")], idem("a"))).toMatchObject({
      ok: true,
      replayed: true,
      outcomes: [{ state: "merged" }],
    });
    expect(await node.submit([cast("other")], idem("b"))).toMatchObject({ refusal: { status: 503 } });
  });

  test("a paused node refuses writes and keeps the queue", async () => {
    await using node = await startTestWrites();
    node.pause(true);
    expect(await node.submit([cast("hello")])).toMatchObject({
      ok: false,
      refusal: { status: 503, retryAfterSecs: 60 },
    });
    expect(liveHashes(node.node.db)).toEqual([]);
  });
});

describe("writes of a node that follows another", () => {
  test("one owner has a part of the writes under way, so that the upstream's silence to it stops no other", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream, timeoutMs: 2000 });
    const ofAnother = Message.decode(cast("of another")).hash.toHex();
    upstream.answer = (hash) => (hash === ofAnother ? "ok" : "silence");
    const messages = Array.from({ length: 300 }, (_, n) => cast(`cast ${n}`, 100 + n));
    const replies = messages.map((message) => node.submit([message]));
    const other = await node.submit([cast("of another")], { owner: { ...OWNER, fid: OWNER.fid + 1 } });
    expect(other).toMatchObject({ ok: true });
    const refused = (await Promise.all(replies)).filter((reply) => !reply.ok);
    expect(refused).toHaveLength(300 - 256);
    for (const reply of refused)
      expect(reply).toMatchObject({ refusal: { status: 429, code: "rate_limited", retryAfterSecs: 5 } });
    expect((await node.stats()).underWay).toBe(0);
  });

  test("200 once the index has the message", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    follow(upstream, node.node);
    const reply = await node.submit([cast("hello")]);
    expect(reply).toMatchObject({ ok: true, outcomes: [{ state: "merged" }] });
    const hash = reply.ok ? (reply.outcomes[0]?.hash ?? "") : "";
    expect(await node.writes.find(OWNER.fid, Buffer.from(hash, "hex"))).toMatchObject({ state: "merged" });
  });

  test("202 while no block shows an accepted message; it ends when the index has it", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    const message = cast("hello");
    const reply = await node.submit([message]);
    expect(reply).toMatchObject({ ok: true, outcomes: [{ state: "queued" }] });
    expect(upstream.received.length).toBe(1);
    expect((await node.stats()).queue?.count).toBe(1);
    // A mempool that forgets: the same bytes again after a minute.
    node.node.clock.advanceSecs(59);
    await node.stats();
    expect(upstream.received.length).toBe(1);
    follow(upstream, node.node);
    node.node.clock.advanceSecs(1);
    await until(async () => liveHashes(node.node.db).length === 1);
    expect(new Set(upstream.received).size).toBe(1);
    await until(async () => (await node.stats()).queue?.count === 0);
    const hash = Buffer.from(upstream.received[0] ?? "", "hex");
    expect(await node.writes.find(OWNER.fid, hash)).toMatchObject({ state: "merged" });
  });

  test("503 and nothing stored while the upstream is unreachable", async () => {
    const upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    await upstream[Symbol.asyncDispose]();
    expect(await node.submit([cast("hello")], idem("a"))).toMatchObject({
      ok: false,
      refusal: { status: 503, code: "upstream_unavailable", retryAfterSecs: 5 },
    });
    expect((await node.stats()).queue?.count).toBe(0);
    await using back = await startScriptedUpstream(Number(new URL(upstream.url).port));
    await until(async () => {
      const reply = await node.submit([cast("other")]);
      return reply.ok;
    });
    expect(back.received.length).toBeGreaterThan(0);
    expect(liveHashes(node.node.db)).toEqual([]);
  });

  test("a lost response is 202, and the message is there once in the end", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    follow(upstream, node.node);
    upstream.answer = () => "silence";
    const message = cast("hello");
    const reply = await node.submit([message], idem("a"));
    expect(reply).toMatchObject({ ok: true, outcomes: [{ state: "queued" }] });
    // It had taken the message, though.
    node.node.merge([{ kind: "message", bytes: message }]);
    upstream.answer = () => "bad_request.duplicate";
    node.node.clock.advanceSecs(1);
    await until(async () => (await node.stats()).queue?.count === 0);
    expect(new Set(upstream.received).size).toBe(1);
    expect(liveHashes(node.node.db)).toEqual([upstream.received[0] ?? ""]);
    if (!reply.ok) throw new Error("refused");
    const { outcomes } = reply;
    expect(await node.submit([message], idem("a"))).toEqual({ ok: true, replayed: true, outcomes });
  });

  test("each response of the upstream has its status, and a refused message is dropped", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    const answers = {
      "bad_request.validation_failure": 400,
      "bad_request.conflict": 409,
      "bad_request.prunable": 403,
      "bad_request.rate_limited": 429,
      login: 502,
    } as const;
    for (const [answer, expected] of Object.entries(answers)) {
      upstream.answer = () => answer as keyof typeof answers;
      const reply = await node.submit([cast(answer)], idem(answer));
      expect(reply.ok ? 200 : reply.refusal.status).toBe(expected);
    }
    expect((await node.stats()).queue?.count).toBe(0);
    upstream.answer = () => "internal";
    expect(await node.submit([cast("internal")])).toMatchObject({
      ok: true,
      outcomes: [{ state: "queued" }],
    });
  });

  test("a queued message that the network refuses says so, only to its owner", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    upstream.answer = () => "silence";
    const reply = await node.submit([cast("hello")]);
    const hash = Buffer.from(reply.ok ? (reply.outcomes[0]?.hash ?? "") : "", "hex");
    upstream.answer = () => "bad_request.validation_failure";
    node.node.clock.advanceSecs(1);
    await until(async () => (await node.stats()).refusedLater === 1);
    expect(await node.writes.find(OWNER.fid, hash)).toMatchObject({
      state: "refused",
      reason: expect.stringMatching(/validation/),
    });
    expect(await node.writes.find(OWNER.fid + 1, hash)).toBeUndefined();
  });

  test("a conflict after an OK means that it was merged", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    const reply = await node.submit([cast("hello")]);
    const hash = Buffer.from(reply.ok ? (reply.outcomes[0]?.hash ?? "") : "", "hex");
    upstream.answer = () => "bad_request.conflict";
    node.node.clock.advanceSecs(60);
    await until(async () => (await node.stats()).queue?.count === 0);
    expect(await node.writes.find(OWNER.fid, hash)).toMatchObject({ state: "merged" });
  });

  test("several messages are sent in one call; after a failed one each is sent by itself, in order", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    follow(upstream, node.node);
    const [a, b, c] = [cast("a"), cast("b"), cast("c")];
    expect(await node.submit([a, b, c])).toMatchObject({
      ok: true,
      outcomes: [{ state: "merged" }, { state: "merged" }, { state: "merged" }],
    });
    expect(upstream.bulks.length).toBe(1);
    const refused = cast("e");
    const refusedHash = (await node.submit([refused])).ok ? upstream.received.at(-1) : "";
    upstream.received.length = 0;
    upstream.answer = (hash) => (hash === refusedHash ? "bad_request.validation_failure" : "ok");
    expect(await node.submit([cast("d"), refused, cast("f")])).toMatchObject({
      ok: true,
      outcomes: [{ state: "merged" }, { state: "refused", refusal: { status: 400 } }, { state: "merged" }],
    });
    const hashes = upstream.bulks[1] ?? [];
    expect(upstream.received).toEqual([...hashes, ...hashes]);
  });

  test("a full queue refuses new writes", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream, settings: ["writes.max_queued=1"] });
    expect(await node.submit([cast("a")])).toMatchObject({ ok: true });
    expect(await node.submit([cast("b")])).toMatchObject({ ok: false, refusal: { status: 503 } });
    expect(upstream.received.length).toBe(1);
  });

  test("one fid without a response delays no other", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream, timeoutMs: 2_000 });
    follow(upstream, node.node);
    const slow = cast("slow");
    upstream.answer = () => "silence";
    const first = node.submit([slow]);
    await until(async () => upstream.received.length === 1);
    upstream.answer = () => "ok";
    let hasFirstEnded = false;
    void first.then(() => {
      hasFirstEnded = true;
    });
    expect(await node.submit([cast("fast", 2)])).toMatchObject({ ok: true, outcomes: [{ state: "merged" }] });
    expect(hasFirstEnded).toBe(false);
    expect(await first).toMatchObject({ ok: true, outcomes: [{ state: "queued" }] });
  });

  test("messages that others send for a fid delay no write of another owner", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream, timeoutMs: 2_000 });
    follow(upstream, node.node);
    upstream.answer = () => "silence";
    const stranger = { ...OWNER, fid: 4, apiKeyId: "another key" };
    const forged = Array.from({ length: 65 }, (_, n) =>
      node.submit([cast(`forged ${n}`)], { owner: stranger }),
    );
    await until(async () => upstream.received.length === 1);
    upstream.answer = () => "ok";
    expect(await node.submit([cast("mine")])).toMatchObject({ ok: true, outcomes: [{ state: "merged" }] });
    expect(await forged.at(-1)).toMatchObject({ ok: false, refusal: { status: 503 } });
    await Promise.all(forged);
  });

  test("after a crash the stored bytes are submitted at once", async () => {
    await using upstream = await startScriptedUpstream();
    await using node = await startTestWrites({ upstream });
    upstream.answer = () => "silence";
    await node.submit([cast("hello")]);
    upstream.answer = () => "ok";
    follow(upstream, node.node);
    await node.restart();
    node.node.clock.advanceSecs(LEASE_MS / 1000);
    await until(async () => liveHashes(node.node.db).length === 1);
    expect(new Set(upstream.received).size).toBe(1);
  });
});
