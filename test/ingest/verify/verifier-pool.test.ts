import { afterEach, describe, expect, test } from "bun:test";
import { packMessages } from "../../../src/db/index/bulk/packed-messages.ts";
import { splitEncoded } from "../../../src/db/index/messages/split.ts";
import { candidateAt } from "../../../src/ingest/bulk/spool-candidates.ts";
import type { MessagePage, VerifiedPage } from "../../../src/ingest/bulk/verify/verifier.ts";
import { startVerifierPool, type VerifierPool } from "../../../src/ingest/bulk/verify/verifier-pool.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { packBytes, unpackBytes } from "../../../src/lib/bytes.ts";
import { Store } from "../../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { keysOfSigned } from "../../../src/trust/trie-key.ts";
import { DEFAULT_NOW_SECS, signMessage } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { expectOk } from "../../support/result.ts";
import { unverifiedRecords } from "../../support/unverified-records.ts";

const VERIFIER = new URL("../../../src/node/workers/verifier.worker.ts", import.meta.url).href;

let pool: VerifierPool | undefined;
let crashes: string[] = [];

afterEach(async () => {
  await pool?.stop();
  pool = undefined;
  crashes = [];
});

function startPool(
  options: { url?: string; threads?: number; maxBytesInFlight?: number; openThread?: () => Worker } = {},
): VerifierPool {
  const { url = VERIFIER, ...rest } = options;
  pool = startVerifierPool({
    threads: 2,
    openThread: () => new Worker(url),
    context: () => ({ network: 1, nowUnixSecs: DEFAULT_NOW_SECS, isHistory: true }),
    onCrash: (reason) => crashes.push(reason),
    ...rest,
  });
  return pool;
}

const cast = (fid: number, text: string, mentions: number[] = []) =>
  signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      body: {
        $case: "castAddBody",
        value: { text, mentions, mentionsPositions: mentions.map(() => 0) },
      },
    },
    accountSigner(fid),
  );

function changed(bytes: Uint8Array, change: (message: Message) => void): Uint8Array {
  const message = Message.decode(bytes);
  change(message);
  return Message.encode(message).finish();
}

function pageOf(messages: readonly Uint8Array[], collectsMentions = false): MessagePage {
  return { fid: 1, store: Store.Casts, messages: packBytes(messages), collectsMentions };
}

const messagesOf = (parts: readonly VerifiedPage[]) =>
  parts.flatMap((part) => unpackBytes(part.messages).map((bytes) => Buffer.from(bytes).toString("hex")));
const hexOf = (messages: readonly Uint8Array[]) =>
  messages.map((bytes) => Buffer.from(bytes).toString("hex"));

describe("verifyPage", () => {
  test("returns the valid messages as received, and a refusal for each invalid one", async () => {
    const valid = [cast(1, "a"), cast(1, "b")];
    const forged = [
      changed(cast(1, "signature"), ({ signature }) => signature.fill(7, 0, 8)),
      changed(cast(1, "hash"), ({ hash }) => hash.fill(7, 0, 8)),
      changed(cast(1, "signer"), (message) => {
        message.signer = accountSigner(2).publicKey;
      }),
      Uint8Array.of(0xff, 0xff),
    ];
    const parts = await startPool().verifyPage(pageOf([valid[0]!, ...forged, valid[1]!]));
    expect(messagesOf(parts)).toEqual(hexOf(valid));
    expect(parts.flatMap(({ refusals }) => refusals.map(({ reason }) => reason))).toEqual([
      "invalid signature",
      "hash is not that of the data",
      "invalid signature",
      expect.stringContaining("message cannot be decoded"),
    ]);
  });

  test("skips messages of other fids and stores without a refusal", async () => {
    const page = { ...pageOf([cast(2, "of another fid"), cast(1, "mine")]), store: Store.Links };
    expect(await startPool().verifyPage(page)).toEqual([
      { messages: { count: 0, bytes: new Uint8Array() }, refusals: [], mentioned: [] },
    ]);
  });

  test("returns the fids that valid messages mention, if requested", async () => {
    const messages = [
      cast(1, "a", [5, 6]),
      cast(1, "b", [6]),
      changed(cast(1, "c", [7]), ({ signature }) => signature.fill(7, 0, 8)),
    ];
    const verifier = startPool();
    const mentioned = async (collects: boolean) =>
      (await verifier.verifyPage(pageOf(messages, collects))).flatMap((part) => part.mentioned);
    expect(await mentioned(true)).toEqual([5, 6]);
    expect(await mentioned(false)).toEqual([]);
  });

  test("packs valid messages for the bulk build, if requested", async () => {
    const valid = [cast(1, "a"), cast(1, "b")];
    const forged = changed(cast(1, "c"), ({ signature }) => signature.fill(7, 0, 8));
    const page = { ...pageOf([...valid, forged]), packsColumns: true };
    expect(await startPool().verifyPage(page)).toMatchObject([
      {
        messages: { count: 0 },
        packed: packMessages(valid.map((bytes) => splitEncoded(bytes, 1))),
        refusals: [{ reason: "invalid signature" }],
      },
    ]);
  });

  test("keeps the order within large concurrent pages", async () => {
    const verifier = startPool({ maxBytesInFlight: 50_000 });
    const pages = [0, 1, 2].map((page) =>
      Array.from({ length: page === 0 ? 3 : 300 }, (_, n) => cast(1, `${page} ${n}`)),
    );
    const results = await Promise.all(pages.map((messages) => verifier.verifyPage(pageOf(messages))));
    expect(results.map((parts) => messagesOf(parts))).toEqual(pages.map(hexOf));
  });
});

test("stops once its threads have replied to what they were sent", async () => {
  const verifier = startPool();
  const verified = verifier.verifyPage(pageOf([cast(1, "a")])).catch((cause: Error) => cause.message);
  // It is sent before this stops the pool.
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  await verifier.stop();
  expect(await verified).toBe("the verifier threads were stopped");
});

test("each thread has its next request before it replies to the first", async () => {
  let sent = 0;
  const verifier = startPool({
    openThread() {
      const worker = new Worker(VERIFIER);
      const post = worker.postMessage.bind(worker);
      return Object.assign(worker, {
        postMessage(message: unknown, transfer: ArrayBuffer[]) {
          sent += 1;
          post(message, transfer);
        },
      });
    },
  });
  // A part of its own each, and each just as large as a request has to be.
  const overhead = packBytes([new Uint8Array()]).bytes.length;
  const pages = Array.from({ length: 8 }, () => pageOf([new Uint8Array(65_536 - overhead)]));
  const verified = pages.map((page) => verifier.verifyPage(page));
  // Before a reply can arrive: no event is handled meanwhile.
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  expect(sent).toBe(4);
  await Promise.all(verified);
  expect(sent).toBe(8);
});

test("small parts that wait for a thread are sent to it together", async () => {
  let sent = 0;
  const verifier = startPool({
    openThread() {
      const worker = new Worker(VERIFIER);
      const post = worker.postMessage.bind(worker);
      return Object.assign(worker, {
        postMessage(message: unknown, transfer: ArrayBuffer[]) {
          sent += 1;
          post(message, transfer);
        },
      });
    },
  });
  await Promise.all(Array.from({ length: 20 }, (_, n) => verifier.verifyPage(pageOf([cast(1, `${n}`)]))));
  // Two for each thread at once, and the rest.
  expect(sent).toBe(5);
});

test("a call ends when the pool is stopped, however far it has come", async () => {
  for (let turns = 0; turns < 6; turns++) {
    const verifier = startPool({ threads: 1 });
    let hasEnded = false;
    const end = () => {
      hasEnded = true;
    };
    void verifier.verifyPage(pageOf([cast(1, "a")])).then(end, end);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await verifier.stop();
    await new Promise(setImmediate);
    expect({ turns, hasEnded }).toEqual({ turns, hasEnded: true });
  }
});

test("stops although a thread ends without a reply", async () => {
  const verifier = startPool({ url: new URL("processes/exiting.worker.ts", import.meta.url).href });
  const verified = verifier.verifyPage(pageOf([cast(1, "a")])).catch((cause: Error) => cause.message);
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  await verifier.stop();
  expect(await verified).toBe("the verifier threads were stopped");
});

test("validateRecords returns the refusals by place, and the valid messages packed if requested", async () => {
  const records = accountRecords(1);
  const broken: EncodedRecord = { kind: "onChainEvent", bytes: Uint8Array.of(1) };
  const all = [...records, broken, { kind: "message" as const, bytes: cast(1, "a") }];
  const verifier = startPool();
  const plain = await verifier.validateRecords(all, { collectsCandidates: false });
  expect([...plain.refusals].map(([at, { code }]) => [at, code])).toEqual([
    [records.length, "bad_request.parse_failure"],
  ]);
  expect(plain.candidates).toEqual([]);
  const packed = await verifier.validateRecords(all, { collectsCandidates: true });
  expect(packed.refusals).toEqual(plain.refusals);
  expect(packed.candidates).toEqual(unverifiedRecords(all).candidates);
});

test("validateRecords finds each refusal of many parts at its place", async () => {
  const forged = changed(cast(1, "c"), ({ signature }) => signature.fill(7, 0, 8));
  const all = Array.from({ length: 600 }, (_, n) => ({
    kind: "message" as const,
    bytes: n === 10 || n === 510 ? forged : cast(1, `${n}`),
  }));
  const { refusals, candidates } = await startPool().validateRecords(all, { collectsCandidates: true });
  expect([...refusals.keys()]).toEqual([10, 510]);
  const fids = candidates.flatMap((part) =>
    Array.from({ length: part.count }, (_, n) => candidateAt(part, n)?.fid),
  );
  expect(fids).toEqual(all.map((_, n) => (n === 10 || n === 510 ? undefined : 1)));
});

describe("a pool whose threads do not reply", () => {
  const silent = new URL("processes/silent.worker.ts", import.meta.url).href;

  const pages = [1, 2, 3].map((n) => pageOf([cast(1, `larger than the limit ${n}`)]));
  const bytes = pages[0]?.messages.bytes.length ?? 0;

  test.each([
    ["a single page above it", 100, 1],
    ["just as much", 2 * bytes, 2],
  ])("accepts work up to its limit of bytes, and %s", async (_, maxBytesInFlight, accepted) => {
    let sent = 0;
    pool = startVerifierPool({
      threads: 1,
      openThread: () => {
        const worker = new Worker(silent);
        const send = worker.postMessage.bind(worker);
        return Object.assign(worker, {
          postMessage(message: unknown, transfer: ArrayBuffer[]) {
            sent += 1;
            send(message, transfer);
          },
        });
      },
      context: () => ({ network: 1, nowUnixSecs: DEFAULT_NOW_SECS }),
      onCrash: () => {},
      maxBytesInFlight,
    });
    const calls = pages.map((page) =>
      pool?.verifyPage({ ...page, messages: { ...page.messages, bytes: page.messages.bytes.slice() } }),
    );
    for (const call of calls) call?.catch(() => {});
    await new Promise(setImmediate);
    expect(sent).toBe(accepted);
    void pool.stop();
    pool = undefined;
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(calls.map(() => "rejected"));
  });
});

describe("a thread that fails", () => {
  test.each([
    ["throws", "processes/throwing.worker.ts", "a bug"],
    ["exits", "processes/exiting.worker.ts", "ended by itself"],
  ])("rejects all calls and is reported once if it %s", async (_, file, reason) => {
    const verifier = startPool({ url: new URL(file, import.meta.url).href, maxBytesInFlight: 100 });
    const calls = [1, 2, 3].map((n) => verifier.verifyPage(pageOf([cast(1, `text ${n}`)])));
    const settled = await Promise.allSettled(calls);
    expect(settled.map((call) => call.status === "rejected" && call.reason.message)).toEqual(
      calls.map(() => expect.stringContaining(reason)),
    );
    expect(crashes).toEqual([expect.stringContaining(reason)]);
    await expect(verifier.verifyPage(pageOf([cast(1, "later")]))).rejects.toThrow(reason);
  });
});

test("a page, a snapshot and records have a part for each 250 of them, and no empty one", async () => {
  const verifier = startPool();
  const messages = Array.from({ length: 500 }, (_, n) => cast(1, `${n}`));
  expect(await verifier.verifyPage(pageOf(messages))).toHaveLength(2);
  const keys = messages.map((bytes) => keysOfSigned(expectOk(decodeMessage(bytes)))[0] as Uint8Array);
  const snapshot = await verifier.verifySnapshot({ keys: packBytes(keys), messages: packBytes(messages) });
  expect(snapshot.map(({ packed, broken }) => [packed.count, broken])).toEqual([
    [250, undefined],
    [250, undefined],
  ]);
  const records = messages.map((bytes) => ({ kind: "message" as const, bytes }));
  expect((await verifier.validateRecords(records, { collectsCandidates: true })).candidates).toHaveLength(2);
});

test("stops once its threads have replied to all that they were sent, not only to the first, and ends them", async () => {
  const replies: number[] = [];
  const ended: Promise<void>[] = [];
  const verifier = startPool({
    openThread() {
      const worker = new Worker(VERIFIER);
      worker.addEventListener("message", () => replies.push(1));
      ended.push(new Promise((resolve) => worker.addEventListener("close", () => resolve())));
      return worker;
    },
  });
  const pages = Array.from({ length: 4 }, () => verifier.verifyPage(pageOf([new Uint8Array(70_000)])));
  for (const page of pages) page.catch(() => {});
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  await verifier.stop();
  expect(replies).toHaveLength(4);
  await Promise.all(ended);
});
