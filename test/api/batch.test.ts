import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exactFids } from "../../src/api/operations/batch.ts";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { registerEvent, signerEvent, transferEvent } from "../support/events.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signedCast,
  signMessage,
} from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { expectMatchesOpenApi } from "../support/openapi.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

let api: TestApi;

const { REACTION_TYPE_LIKE: LIKE, REACTION_TYPE_RECAST: RECAST } = ReactionType;
const PATHS = [
  "/batch/following",
  "/batch/reactions",
  "/batch/cast-interactions",
  "/batch/signers",
  "/batch/id-registrations",
];
const AT = DEFAULT_NOW_SECS - 86_400;

const casts = [0, 1, 2, 3].map((n) => signedCast(2, `cast ${n}`, accountSigner(2)));
const [a = "0x", b = "0x", c = "0x", doomed = "0x"] = casts.map(hashOf);
const own = signedCast(1, "my own", accountSigner(1));

const take = (bytes: Uint8Array) => expect(api.node.ingestMessage(bytes)).toBe("ok");
const at = (secs: number) => ({ at: DEFAULT_TIMESTAMP + secs });
const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`;

function reply(parent: { fid: number; hash: `0x${string}` }, secs: number): void {
  take(
    signMessage(
      {
        fid: 1,
        type: MessageType.MESSAGE_TYPE_CAST_ADD,
        timestamp: DEFAULT_TIMESTAMP + secs,
        body: {
          $case: "castAddBody",
          value: {
            text: `reply at ${secs}`,
            parent: {
              $case: "parentCastId",
              value: { fid: parent.fid, hash: Buffer.from(parent.hash.slice(2), "hex") },
            },
          },
        },
      },
      accountSigner(1),
    ),
  );
}

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2, 3]) api.node.ingestAll(accountRecords(fid));
  for (const cast of [...casts, own]) take(cast);
  for (const [fid, secs] of [
    [2, 5],
    [3, 9],
    [777, 1],
  ] as const)
    take(linkMessage(1, "follow", fid, at(secs)));
  take(linkMessage(1, "block", 3, at(9)));
  const react = (type: ReactionType, fid: number, hash: `0x${string}`, secs: number) =>
    take(reactionMessage(1, type, { fid, hash }, at(secs)));
  react(LIKE, 2, a, 10);
  react(RECAST, 2, a, 20);
  react(LIKE, 2, b, 15);
  react(LIKE, 2, doomed, 30);
  react(LIKE, 3, a, 31);
  react(LIKE, 1, hashOf(own), 12);
  reply({ fid: 2, hash: b }, 25);
  reply({ fid: 2, hash: b }, 26);
  reply({ fid: 2, hash: c }, 3);
  reply({ fid: 3, hash: c }, 40);
  reply({ fid: 1, hash: hashOf(own) }, 41);
  take(
    signMessage(
      {
        fid: 2,
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        timestamp: DEFAULT_TIMESTAMP + 50,
        body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(doomed.slice(2), "hex") } },
      },
      accountSigner(2),
    ),
  );
});

afterAll(() => api[Symbol.asyncDispose]());

async function post(path: string, body: string) {
  const response = await fetch(`${api.url}/v2/svc${path}`, { method: "POST", body });
  const parsed = (await response.json()) as Record<string, unknown>;
  expectMatchesOpenApi(api.document, "post", `/v2/svc${path}`, response.status, parsed);
  return { status: response.status, body: parsed, headers: response.headers };
}

const batch = async (path: string, ...fids: (number | bigint)[]) =>
  (await post(path, `{"fids":[${fids.join(",")}]}`)).body;

describe("the body", () => {
  test("is 400 naming fids if it is not a list of u64 numbers", async () => {
    for (const path of PATHS) {
      for (const body of [
        "{}",
        "[]",
        '{"fids":1}',
        '{"fids":null}',
        '{"fids":["1"]}',
        '{"fids":[-1]}',
        '{"fids":[-0]}',
        '{"fids":[1.5]}',
        '{"fids":[1.0]}',
        '{"fids":[1e3]}',
        '{"fids":[1e999]}',
        '{"fids":[18446744073709551616]}',
        '{"fids":[null]}',
        '{"fids":[[1]]}',
        `{"fids":[${Array.from({ length: 101 }, (_, n) => n + 1)}]}`,
        `{"fids":[${Array(101).fill(1)}]}`,
      ]) {
        const { status, body: response } = await post(path, body);
        expect({ path, body, status }).toEqual({ path, body, status: 400 });
        expect(response.message).toMatch(body === "[]" ? /body/ : /fids/);
      }
      for (const body of ["", "{", "fids=1", "\xff"]) expect((await post(path, body)).status).toBe(400);
    }
  });

  test("may have zero to a hundred fids, and unknown fields are ignored", async () => {
    for (const path of PATHS) {
      const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
      const all = await batch(path, ...hundred);
      expect(Object.keys(all)).toEqual(hundred.map(String));
      expect((await post(path, '{"fids":[],"more":1}')).body).toEqual({});
    }
  });

  test("an fid above 2^53 has an empty list under its own digits", async () => {
    for (const path of PATHS) {
      const fids = [2n ** 32n + 1n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 64n - 1n, 9n];
      expect(await batch(path, ...fids)).toEqual(Object.fromEntries(fids.map((fid) => [String(fid), []])));
    }
  });

  test("any list of u64 is returned digit for digit, each once", () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })), (fids) => {
        const exact = exactFids(Buffer.from(`{ "fids" : [ ${fids.join(" , ")} ] }`));
        expect(exact.map(({ digits }) => digits)).toEqual([...new Set(fids.map(String))]);
        for (const { digits, fid } of exact)
          expect(fid === -1 ? 2n ** 53n <= BigInt(digits) : BigInt(fid) === BigInt(digits)).toBe(true);
      }),
    );
  });

  test("a body above 256 KB is 413", async () => {
    const { status } = await post("/batch/following", `{"fids":[1],"pad":"${"x".repeat(256 * 1024)}"}`);
    expect(status).toBe(413);
  });
});

test("following: newest first, times in ISO 8601, without blocks", async () => {
  const iso = (secs: number) => new Date((DEFAULT_NOW_SECS + secs) * 1000).toISOString();
  expect(await batch("/batch/following", 2, 1)).toEqual({
    "1": [
      { fid: 3, followed_at: iso(9) },
      { fid: 2, followed_at: iso(5) },
      { fid: 777, followed_at: iso(1) },
    ],
    "2": [],
  });
  expect(iso(9)).toMatch(/^2025-08-27T05:20:09\.000Z$/);
});

test("reactions: on live casts of their true author, newest first", async () => {
  expect(await batch("/batch/reactions", 1)).toEqual({
    "1": [
      { target_fid: 2, timestamp: DEFAULT_NOW_SECS + 20 },
      { target_fid: 2, timestamp: DEFAULT_NOW_SECS + 15 },
      { target_fid: 1, timestamp: DEFAULT_NOW_SECS + 12 },
      { target_fid: 2, timestamp: DEFAULT_NOW_SECS + 10 },
    ],
  });
});

test("cast-interactions: live casts of other users, by the newest act, each with all acts", async () => {
  expect(await batch("/batch/cast-interactions", 1, 3)).toEqual({
    "1": [
      { hash: b, liked: true, recasted: false, replied: true },
      { hash: a, liked: true, recasted: true, replied: false },
      { hash: c, liked: false, recasted: false, replied: true },
    ],
    "3": [],
  });
});

test("signers: the keys whose latest event is an add, in the order of addition", async () => {
  const key = (name: string) => makeSigner(name).publicKey;
  api.node.ingestEvent(signerEvent(2, key("later"), { block: 300_000, at: AT + 10 }));
  api.node.ingestEvent(signerEvent(2, key("removed"), { block: 300_001 }));
  api.node.ingestEvent(signerEvent(2, key("removed"), { block: 300_002 }, "remove"));
  const signer = (bytes: Uint8Array, created_at: number) => ({
    signer: hexOf(bytes),
    created_at,
    key_type: 1,
    metadata_type: 1,
  });
  expect(await batch("/batch/signers", 2)).toEqual({
    "2": [signer(accountSigner(2).publicKey, AT), signer(key("later"), AT + 10)],
  });
});

test("id-registrations: in chain order, with event types in lower case", async () => {
  const [from, to] = [makeWallet("custody 3").address, makeWallet("other").address];
  api.node.ingestEvent(transferEvent(3, from, to, { block: 900_000, at: AT + 5 }));
  api.node.ingestEvent(registerEvent(50, to, { block: 900_001, at: AT + 6 }));
  expect(await batch("/batch/id-registrations", 3, 50)).toEqual({
    "3": [
      { from: null, to: hexOf(from), timestamp: AT, event_type: "register" },
      { from: hexOf(from), to: hexOf(to), timestamp: AT + 5, event_type: "transfer" },
    ],
    "50": [{ from: null, to: hexOf(to), timestamp: AT + 6, event_type: "register" }],
  });
});

test("a response is no-store JSON and runs at most two statements per fid", async () => {
  for (const path of PATHS) {
    api.takeStatements();
    const { headers } = await post(path, '{"fids":[1,2,3]}');
    expect(api.takeStatements().length).toBeLessThanOrEqual(6);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toBeString();
  }
});
