import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type HubResult,
  OnChainEventType,
  ReactionType,
  StoreType,
  UserDataType,
  type UserNameProof,
} from "@farcaster/hub-nodejs";
import { status } from "@grpc/grpc-js";
import { indexPath, openIndexInMemory } from "../../../src/db/index/database.ts";
import { readMethods } from "../../../src/hub/reads/methods.ts";
import { Message, MessageType, StorageUnitType } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { keyAddedEvent } from "../../support/envelopes.ts";
import { proEvent, rentEvent, signerEvent, transferEvent } from "../../support/events.ts";
import { gaslessKeyMessage } from "../../support/gasless-keys.ts";
import { startTestHub, type TestHub } from "../../support/hub.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeSigner, makeWallet } from "../../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../../support/node.ts";
import {
  bio,
  cast,
  compact,
  ensProof,
  fname,
  hashBytes,
  likeUrl,
  link,
  react,
  signed,
  uncast,
  verify,
  WALLET,
} from "../../support/records.ts";

const UNKNOWN_FIDS = [3 + 2 ** 32, 3 + 2 ** 53];
const NEW_OWNER = makeWallet("new owner").address;
const AUTH = makeWallet("auth address").address;
const YEAR = 365 * 86_400;

let node: TestNode;
let hub: TestHub;
const gone = cast(3, "gone");
const kept = cast(3, "kept");

beforeAll(async () => {
  node = startTestNode();
  for (const fid of [1, 2, 3, 4]) node.ingestAll(accountRecords(fid));
  node.ingestAll(accountRecords(5, 2000));
  node.ingestEvent(transferEvent(4, makeWallet("custody 4").address, NEW_OWNER, { block: 900_000 }));
  node.ingestEvent(signerEvent(2, makeSigner("removed").publicKey, { block: 900_001 }));
  node.ingestEvent(signerEvent(2, makeSigner("removed").publicKey, { block: 900_002 }, "remove"));
  node.ingestEvent(keyAddedEvent(2, authKey(), { block: 900_003 }, { keyType: 2, requestFid: 3 }));
  node.ingestEvent(rentEvent(2, 3, { block: 900_004, at: 1_700_000_000 }));
  node.ingestEvent(rentEvent(2, 2, { block: 900_005, at: 1_730_000_000 }));
  node.ingestEvent(proEvent(2, 30, { block: 900_006 }));
  node.ingestMessage(
    gaslessKeyMessage({ fid: 3, signer: makeSigner("gasless"), requestFid: 2, nonce: 7, ttlSecs: 86_400 }),
  );
  const lend = signed(5, {
    type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
    body: {
      $case: "lendStorageBody",
      value: { toFid: 2, numUnits: 10, unitType: StorageUnitType.UNIT_TYPE_2025 },
    },
  });
  node.merge([
    kept,
    gone,
    uncast(3, gone, DEFAULT_TIMESTAMP + 1),
    react(3, 1),
    likeUrl(3, "https://a.example/x"),
    link(3, "follow", 2),
    link(3, "follow", 4),
    compact(3, "block", [1, 2]),
    compact(2, "follow", [3]),
    compact(2, "block", []),
    bio(3, ""),
    verify(3),
    ensProof(3, "carol.eth"),
    fname(0, "user4"),
    lend,
  ]);
  hub = await startTestHub(indexPath(node.dir), { clock: node.clock });
});

afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  node[Symbol.dispose]();
});

/** The key of an auth address as it is on chain. */
function authKey(): Uint8Array {
  return Buffer.concat([Buffer.alloc(12), AUTH]);
}

async function errorOf(result: Promise<HubResult<unknown>>): Promise<string> {
  return (await result).match(
    () => "no error",
    ({ errCode, message }) => `${errCode}: ${message}`,
  );
}

const nameOf = ({ name, fid, type }: UserNameProof) => [Buffer.from(name).toString(), fid, type];

describe("reads of one message", () => {
  test("return the message that was submitted, and refuse what is not there with what it is", async () => {
    const { client } = hub;
    const target = { fid: 2, hash: hashBytes(cast(2, "liked")) };
    const cases: [Promise<HubResult<{ dataBytes?: Uint8Array | undefined }>>, { bytes: Uint8Array }][] = [
      [client.getCast({ fid: 3, hash: hashBytes(kept) }), kept],
      [client.getReaction({ fid: 3, reactionType: ReactionType.LIKE, targetCastId: target }), react(3, 1)],
      [
        client.getReaction({ fid: 3, reactionType: ReactionType.LIKE, targetUrl: "https://a.example/x" }),
        likeUrl(3, "https://a.example/x"),
      ],
      [client.getLink({ fid: 3, linkType: "follow", targetFid: 2 }), link(3, "follow", 2)],
      [client.getUserData({ fid: 3, userDataType: UserDataType.BIO }), bio(3, "")],
      [client.getVerification({ fid: 3, address: Buffer.from(WALLET.slice(2), "hex") }), verify(3)],
    ];
    for (const [found, record] of cases) {
      const { dataBytes = new Uint8Array() } = (await found)._unsafeUnwrap();
      expect(Buffer.from(dataBytes).toString("hex")).toBe(
        Buffer.from(Message.decode(record.bytes).dataBytes ?? []).toString("hex"),
      );
    }
    expect(await errorOf(client.getCast({ fid: 2, hash: hashBytes(kept) }))).toBe(
      "not_found: cast not found",
    );
    expect(await errorOf(client.getCast({ fid: 3, hash: hashBytes(gone) }))).toBe(
      "not_found: cast not found",
    );
    expect(await errorOf(client.getReaction({ fid: 3, reactionType: 2, targetCastId: target }))).toBe(
      "not_found: reaction not found",
    );
    expect(
      await errorOf(client.getReaction({ fid: 3, reactionType: 1, targetUrl: "https://a.example/xy" })),
    ).toBe("not_found: reaction not found");
    expect(await errorOf(client.getLink({ fid: 3, linkType: "follow", targetFid: 9 }))).toBe(
      "not_found: link not found",
    );
    expect(await errorOf(client.getUserData({ fid: 3, userDataType: 1 }))).toBe(
      "not_found: user data not found",
    );
    expect(await errorOf(client.getVerification({ fid: 2, address: AUTH }))).toBe(
      "not_found: verification not found",
    );
  });

  test("invalid parameters are refused, each with what is wrong", async () => {
    const { client } = hub;
    const hash = hashBytes(kept);
    const invalid = "bad_request.invalid_param";
    expect(await errorOf(client.getCast({ fid: 0, hash }))).toBe(`${invalid}: fid is required`);
    expect(await errorOf(client.getCast({ fid: 3, hash: hash.subarray(1) }))).toBe(
      `${invalid}: a hash has 20 bytes`,
    );
    expect(await errorOf(client.getUserData({ fid: 3, userDataType: 99 as UserDataType }))).toBe(
      `${invalid}: Invalid user data type`,
    );
    expect(await errorOf(client.getReaction({ fid: 3, reactionType: 0, targetUrl: "x" }))).toBe(
      `${invalid}: reaction_type is required`,
    );
    expect(await errorOf(client.getOnChainEvents({ fid: 3, eventType: 9 as OnChainEventType }))).toBe(
      `${invalid}: Invalid event type`,
    );
    expect(await errorOf(client.getLinksByTarget({ targetFid: 2, linkType: "" }))).toBe(
      `${invalid}: link_type is required`,
    );
    expect(await errorOf(client.getReactionsByCast({ targetCastId: { fid: 3, hash } }))).toBe(
      `${invalid}: reaction_type is required`,
    );
    expect(await errorOf(client.getCastsByParent({}))).toBe("not_found: Parent not specified");
    expect(await errorOf(client.getReactionsByTarget({}))).toBe("not_found: Target not specified");
    expect(await errorOf(client.getReactionsByCast({ targetUrl: "x", reactionType: 1 }))).toBe(
      "not_found: Target not specified",
    );
    expect(await errorOf(client.getFids({ shardId: 9 }))).toBe(`${invalid}: no such shard`);
  });
});

describe("on-chain events, keys and names", () => {
  test("the events of each type are those that were received, in chain order and in pages", async () => {
    const { client } = hub;
    const rents = (
      await client.getOnChainEvents({ fid: 2, eventType: OnChainEventType.EVENT_TYPE_STORAGE_RENT })
    )._unsafeUnwrap();
    expect(rents.events.map(({ blockNumber }) => blockNumber)).toEqual([400_002, 900_004, 900_005]);
    const first = (
      await client.getOnChainEvents({ fid: 2, eventType: 4, pageSize: 2, reverse: true })
    )._unsafeUnwrap();
    expect(first.events.map(({ blockNumber }) => blockNumber)).toEqual([900_005, 900_004]);
    const { nextPageToken = new Uint8Array() } = first;
    const rest = (
      await client.getOnChainEvents({ fid: 2, eventType: 4, pageToken: nextPageToken, reverse: true })
    )._unsafeUnwrap();
    expect(rest.events.map(({ blockNumber }) => blockNumber)).toEqual([400_002]);
    expect(rest.nextPageToken).toBeUndefined();
    const expected = OnChainEvent.encode(rentEvent(2, 3, { block: 900_004, at: 1_700_000_000 })).finish();
    const shown = rents.events[1];
    expect(
      OnChainEvent.encode(shown as OnChainEvent & typeof shown)
        .finish()
        .toHex().length,
    ).toBeGreaterThan(0);
    expect(shown?.blockTimestamp).toBe(OnChainEvent.decode(expected).blockTimestamp);
  });

  test("only active keys that sign are signers; a removed key and an auth address are not", async () => {
    const { client } = hub;
    const { events } = (await client.getOnChainSignersByFid({ fid: 2 }))._unsafeUnwrap();
    expect(events.map(({ blockNumber }) => blockNumber)).toEqual([200_002]);
    const own = await client.getOnChainSigner({ fid: 2, signer: accountSigner(2).publicKey });
    expect(own._unsafeUnwrap().blockNumber).toBe(200_002);
    for (const signer of [makeSigner("removed").publicKey, authKey()])
      expect(await errorOf(client.getOnChainSigner({ fid: 2, signer }))).toBe(
        "not_found: Active signer not found",
      );
  });

  test("keys of both sources are listed with nonces, in pages of any size and in both directions", async () => {
    const { client } = hub;
    const all = (await client.getSignersByFid({ fid: 3, requesterFids: [2, 9] }))._unsafeUnwrap();
    expect(all.signers.map(({ source, nonce }) => [source, nonce])).toEqual([
      [1, undefined],
      [2, 7],
    ]);
    expect(all).toMatchObject({
      gaslessSignerCount: 1,
      gaslessSignerLimit: 1000,
      currentUserNonce: 7,
      requesterFidNonces: { 2: 0, 9: 0 },
    });
    for (const reverse of [false, true]) {
      const first = (
        await client.getSignersByFid({ fid: 3, pageSize: 1, reverse, requesterFids: [] })
      )._unsafeUnwrap();
      const { nextPageToken: pageToken = new Uint8Array() } = first;
      const second = (
        await client.getSignersByFid({ fid: 3, pageSize: 1, pageToken, reverse, requesterFids: [] })
      )._unsafeUnwrap();
      const sources = [...first.signers, ...second.signers].map(({ source }) => source);
      expect(sources as number[]).toEqual(reverse ? [2, 1] : [1, 2]);
      expect(second.nextPageToken).toBeUndefined();
    }
    const gasless = await client.getSigner({ fid: 3, signer: makeSigner("gasless").publicKey });
    expect(gasless._unsafeUnwrap().signer).toMatchObject({ source: 2, fid: 3, requestFid: 2 });
    const onChain = await client.getSigner({ fid: 3, signer: accountSigner(3).publicKey });
    expect(onChain._unsafeUnwrap().signer?.onchainEvent?.blockNumber).toBe(200_003);
    expect(await errorOf(client.getSigner({ fid: 2, signer: makeSigner("gasless").publicKey }))).toBe(
      "not_found: Active signer not found",
    );
    expect(
      await errorOf(client.getSignersByFid({ fid: 3, requesterFids: new Array(101).fill(2) })),
    ).toStartWith("bad_request.invalid_param");
  });

  test("after a transfer the old address has no fid, and the new one has the transfer", async () => {
    const { client } = hub;
    const former = makeWallet("custody 4").address;
    expect(await errorOf(client.getIdRegistryOnChainEventByAddress({ address: former }))).toBe(
      "not_found: no id-registry event for address",
    );
    const event = (await client.getIdRegistryOnChainEventByAddress({ address: NEW_OWNER }))._unsafeUnwrap();
    expect([event.fid, event.blockNumber]).toEqual([4, 900_000]);
    const own = (await client.getIdRegistryOnChainEvent({ fid: 4 }))._unsafeUnwrap();
    expect(own.blockNumber).toBe(900_000);
    const typesOf = async (fid: number, address: Uint8Array) =>
      Object.values((await client.getFidAddressType({ fid, address }))._unsafeUnwrap());
    expect(await typesOf(4, former)).toEqual([false, false, false]);
    expect(await typesOf(4, NEW_OWNER)).toEqual([true, false, false]);
    expect(await typesOf(2, AUTH)).toEqual([false, true, false]);
    expect(await typesOf(3, Buffer.from(WALLET.slice(2), "hex"))).toEqual([false, false, true]);
  });

  test("a name has its live proof, a released one that of fid 0; an fid has all of its own by name", async () => {
    const { client } = hub;
    const proofOf = async (name: string) =>
      nameOf((await client.getUsernameProof({ name: Buffer.from(name) }))._unsafeUnwrap());
    expect(await proofOf("user3")).toEqual(["user3", 3, 1]);
    expect(await proofOf("user4")).toEqual(["user4", 0, 1]);
    expect(await errorOf(client.getUsernameProof({ name: Buffer.from("nobody") }))).toBe(
      "not_found: username proof not found",
    );
    const { proofs } = (await client.getUserNameProofsByFid({ fid: 3 }))._unsafeUnwrap();
    expect(proofs.map(nameOf)).toEqual([
      ["carol.eth", 3, 2],
      ["user3", 3, 1],
    ]);
  });

  test("fids are listed once, ascending, in pages and in reverse", async () => {
    const { client } = hub;
    const page = (await client.getFids({ pageSize: 2, shardId: 1 }))._unsafeUnwrap();
    expect(page.fids).toEqual([1, 2]);
    const { nextPageToken: pageToken = new Uint8Array() } = page;
    expect((await client.getFids({ pageToken, shardId: 0 }))._unsafeUnwrap()).toEqual({
      fids: [3, 4, 5],
      nextPageToken: undefined,
    });
    expect((await client.getFids({ reverse: true, shardId: 1 }))._unsafeUnwrap().fids).toEqual([
      5, 4, 3, 2, 1,
    ]);
  });
});

test("compact link states are listed apart from links", async () => {
  const { client } = hub;
  const states = (await client.getLinkCompactStateMessageByFid({ fid: 2 }))._unsafeUnwrap();
  expect(states.messages.map(({ data }) => data?.linkCompactStateBody?.type).sort()).toEqual([
    "block",
    "follow",
  ]);
  const links = (await client.getAllLinkMessagesByFid({ fid: 3 }))._unsafeUnwrap();
  expect(links.messages.map(({ data }) => data?.linkBody?.targetFid).sort()).toEqual([2, 4]);
});

test("storage limits are those of the units of each era, net of lends, and expire", async () => {
  const limitsOf = async (fid: number) =>
    (await hub.client.getCurrentStorageLimitsByFid({ fid }))._unsafeUnwrap();
  const { limits, units, unitDetails, tierSubscriptions } = await limitsOf(2);
  // 3 legacy units, 2 of 2024, 1 of 2025 and 10 borrowed.
  expect(units).toBe(16);
  expect(unitDetails.map((one) => Object.values(one))).toEqual([
    [0, 3, 3, 0, 0],
    [1, 2, 2, 0, 0],
    [2, 11, 1, 0, 10],
  ]);
  expect(limits.map(({ storeType, name, limit }) => [storeType, name, limit])).toEqual([
    [StoreType.CASTS, "CASTS", 3 * 5000 + 2 * 2000 + 11 * 100],
    [StoreType.LINKS, "LINKS", 3 * 2500 + 2 * 1000 + 11 * 200],
    [StoreType.REACTIONS, "REACTIONS", 3 * 2500 + 2 * 1000 + 11 * 200],
    [StoreType.USER_DATA, "USER_DATA", 5 * 50 + 11 * 25],
    [StoreType.VERIFICATIONS, "VERIFICATIONS", 5 * 25 + 11 * 5],
    [StoreType.USERNAME_PROOFS, "USERNAME_PROOFS", 5 * 5 + 11 * 2],
    [StoreType.STORAGE_LENDS, "STORAGE_LENDS", 6],
  ]);
  expect(tierSubscriptions).toEqual([{ tierType: 1, expiresAt: DEFAULT_NOW_SECS + 29 * 86_400 }]);
  const used = (await limitsOf(3)).limits.map(({ used }) => used);
  // The remove and the cast; follows and a compact state; both likes; the bio; one address; one ENS name.
  expect(used).toEqual([2, 3, 2, 1, 1, 1, 0]);
  expect((await limitsOf(77)).units).toBe(0);
  node.clock.advanceSecs(3 * YEAR);
  expect((await limitsOf(2)).unitDetails.map(({ unitSize }) => unitSize)).toEqual([0, 0, 10]);
  node.clock.advanceSecs(-3 * YEAR);
});

describe("positions and numbers that are not what they seem:", () => {
  test("an fid above 32 or 53 bits belongs to no user", async () => {
    const { client } = hub;
    for (const fid of UNKNOWN_FIDS) {
      // The client refuses to send a number above 2^53 - 1, so its bytes are written here.
      const rows = await rawCastsByFid(fid);
      expect(rows).toBe(0);
    }
    expect((await client.getCastsByFid({ fid: 3 }))._unsafeUnwrap().messages.length).toBe(1);
    expect((await client.getCastsByFid({ fid: 0 }))._unsafeUnwrap().messages).toEqual([]);
  });

  test("every method takes an fid of 53 to 64 bits in any field for one that belongs to no user", async () => {
    const db = openIndexInMemory();
    const methods = Object.keys(readMethods(createHubReads({ db, network: 1, clock: node.clock })));
    db[Symbol.dispose]();
    expect(methods.length).toBeGreaterThan(20);
    for (const fid of [2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
      const number = varint(fid);
      const castId = [8, ...number, 0x12, 20, ...Buffer.alloc(20, 1)];
      const requests = {
        numbers: [1, 2, 3, 4, 5].flatMap((field) => [field << 3, ...number]),
        messages: [1, 3, 4].flatMap((field) => [(field << 3) | 2, castId.length, ...castId]),
        lists: [8, 3, (5 << 3) | 2, number.length, ...number],
      };
      for (const method of methods) {
        for (const bytes of Object.values(requests)) {
          const { code } = await rawCall(method, Buffer.from(bytes));
          // The hub reports faults when the test ends, too.
          expect([method, code]).not.toEqual([method, status.INTERNAL]);
          expect([method, code]).not.toEqual([method, status.UNKNOWN]);
        }
      }
    }
  });

  test("an empty token is the first page; garbage and tokens of another list or direction are refused", async () => {
    const { client } = hub;
    const refusal = "bad_request.invalid_param: invalid page_token";
    const first = (await client.getAllCastMessagesByFid({ fid: 3, pageSize: 1 }))._unsafeUnwrap();
    const { nextPageToken: pageToken = new Uint8Array() } = first;
    expect(pageToken.length).toBeGreaterThan(0);
    const empty = await client.getCastsByFid({ fid: 3, pageToken: new Uint8Array() });
    expect(empty._unsafeUnwrap().messages.length).toBe(1);
    for (const token of [pageToken, Buffer.from("garbage"), Buffer.alloc(2000, 1)])
      expect(await errorOf(client.getCastsByFid({ fid: 3, pageToken: token }))).toBe(refusal);
    expect(await errorOf(client.getAllCastMessagesByFid({ fid: 3, pageToken, reverse: true }))).toBe(refusal);
  });

  test("a link with a display time a year back is the newest when it was submitted last", async () => {
    const newest = signed(
      2,
      {
        type: MessageType.MESSAGE_TYPE_LINK_ADD,
        body: {
          $case: "linkBody",
          value: {
            type: "follow",
            displayTimestamp: DEFAULT_TIMESTAMP - YEAR,
            target: { $case: "targetFid", value: 4 },
          },
        },
      },
      DEFAULT_TIMESTAMP + 5,
    );
    node.merge([newest]);
    const { messages } = (
      await hub.client.getLinksByTarget({ targetFid: 4, linkType: "follow", reverse: true })
    )._unsafeUnwrap();
    expect(messages.map(({ data }) => data?.fid)).toEqual([2, 3]);
  });
});

test("rows that stay appear once while others are added and removed during a walk", async () => {
  const fid = 1;
  const staying = Array.from({ length: 40 }, (_, n) => cast(fid, `stays ${n}`, DEFAULT_TIMESTAMP + (n % 5)));
  const leaving = Array.from({ length: 20 }, (_, n) => cast(fid, `leaves ${n}`, DEFAULT_TIMESTAMP + (n % 5)));
  node.merge([...staying, ...leaving]);
  const seen: string[] = [];
  let pageToken: Uint8Array | undefined;
  for (let step = 0; ; step++) {
    const page = (
      await hub.client.getCastsByFid({ fid, pageSize: 3, ...(pageToken ? { pageToken } : {}) })
    )._unsafeUnwrap();
    seen.push(...page.messages.map(({ hash }) => Buffer.from(hash).toString("hex")));
    pageToken = page.nextPageToken;
    if (pageToken === undefined) break;
    const removed = leaving[step];
    node.merge([
      cast(fid, `comes ${step}`, DEFAULT_TIMESTAMP + (step % 5)),
      ...(removed ? [uncast(fid, removed, DEFAULT_TIMESTAMP + 9)] : []),
    ]);
  }
  expect(new Set(seen).size).toBe(seen.length);
  for (const record of staying) expect(seen).toContain(hashBytes(record).toString("hex"));
});

async function rawCastsByFid(fid: number): Promise<number> {
  const { response } = await rawCall("GetCastsByFid", Buffer.from([8, ...varint(BigInt(fid))]));
  return response?.length ?? -1;
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    if (rest <= 0x7fn) return bytes;
  }
}

/** Calls a method with the bytes of its request. Returns the bytes of its response, or the code of its error. */
async function rawCall(
  method: string,
  request: Buffer,
): Promise<{ readonly response?: Buffer | undefined; readonly code?: number | undefined }> {
  const { Client, credentials } = await import("@grpc/grpc-js");
  const raw = new Client(hub.address, credentials.createInsecure());
  const asBuffer = (bytes: Buffer) => bytes;
  const { promise, resolve } = Promise.withResolvers<{ response?: Buffer; code?: number }>();
  raw.makeUnaryRequest(`/HubService/${method}`, asBuffer, asBuffer, request, (cause, response) => {
    raw.close();
    resolve(cause ? { code: cause.code } : { response: response ?? Buffer.alloc(0) });
  });
  return promise;
}
