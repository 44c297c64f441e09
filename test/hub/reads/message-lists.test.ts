import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CastId,
  ed25519,
  type HubResult,
  Message,
  MessageData,
  type MessagesResponse,
  MessageType,
  ReactionType,
  validations,
} from "@farcaster/hub-nodejs";
import { blake3 } from "@noble/hashes/blake3.js";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { decodeRecord } from "../../../src/ingest/record.ts";
import { decodeMessage, type SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import {
  FarcasterNetwork as WireNetwork,
  MessageType as WireType,
} from "../../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS } from "../../demo/records.ts";
import { ManualClock } from "../../support/clock.ts";
import { mergeAdmitted, startTestHub, type TestHub } from "../../support/hub.ts";
import { liveHashes } from "../../support/live-messages.ts";
import { mixedRecords } from "../../support/mixed-records.ts";
import { likeUrl, signed } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";
import { type TemporaryIndex, temporaryIndex } from "../../support/temporary-index.ts";
import { wildMessages } from "../../support/wild-network.ts";

const FIDS = [1, 2, 3, 4, 5, 6, 7];
/** Each is the start of the next. */
const NESTED_URLS = ["https://b.example/x", "https://b.example/xy", "https://b.example/xy/z"];
/** The types of messages that are stored. */
const KINDS = [1, 2, 3, 4, 5, 6, 7, 8, 11, 14, 15];
const PAGE_SIZES = [undefined, 1, 2, 7];

let index: TemporaryIndex;
let hub: TestHub;
/** The submitted messages that are live, by the index's own account of hashes; their contents are those submitted. */
let live: SignedMessage[];

beforeAll(async () => {
  index = temporaryIndex();
  const messages = [...wildMessages("hub lists", 320), ...nestedUrlMessages(), compactState()];
  mergeAdmitted(index.db, messages);
  const hashes = new Set(liveHashes(index.db));
  const byHash = new Map(messages.map((message) => [message.hash.toHex(), message]));
  live = [...byHash].flatMap(([hash, message]) => (hashes.has(hash) ? [message] : []));
  expect(live.length).toBe(hashes.size);
  hub = await startTestHub(index.path);
});

afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});

/** A cast under each of the URLs, and a like of it. */
function nestedUrlMessages(): SignedMessage[] {
  return NESTED_URLS.flatMap((url) => {
    const value = { text: `under ${url}`, parent: { $case: "parentUrl" as const, value: url } };
    const body = { $case: "castAddBody" as const, value };
    const under = signed(7, { type: WireType.MESSAGE_TYPE_CAST_ADD, body });
    return [under, likeUrl(7, url)].map(({ bytes }) => expectOk(decodeMessage(bytes)));
  });
}

/** Says which users the last user follows. */
function compactState(): SignedMessage {
  const value = { type: "follow", targetFids: [1, 2] };
  const body = { $case: "linkCompactStateBody" as const, value };
  const { bytes } = signed(7, { type: WireType.MESSAGE_TYPE_LINK_COMPACT_STATE, body });
  return expectOk(decodeMessage(bytes));
}

type PageFields = { pageSize?: number; pageToken?: Uint8Array; reverse?: boolean };
type List = (page: PageFields) => Promise<HubResult<MessagesResponse>>;

async function walk(list: List, page: PageFields): Promise<Message[]> {
  const found: Message[] = [];
  let pageToken: Uint8Array | undefined;
  for (let pages = 0; pages < 2000; pages++) {
    const { messages, nextPageToken } = (
      await list({ ...page, ...(pageToken === undefined ? {} : { pageToken }) })
    )._unsafeUnwrap();
    if (page.pageSize !== undefined) expect(messages.length).toBeLessThanOrEqual(page.pageSize);
    expect(messages.length > 0 || nextPageToken === undefined).toBe(true);
    found.push(...messages);
    if (nextPageToken === undefined) return found;
    pageToken = nextPageToken;
  }
  throw new Error("the walk does not end");
}

/** Every message of an fid that lists have. */
async function everyMessage({ client }: TestHub, fid: number): Promise<Message[]> {
  const lists: List[] = [
    (page) => client.getAllCastMessagesByFid({ fid, ...page }),
    (page) => client.getAllReactionMessagesByFid({ fid, ...page }),
    (page) => client.getAllLinkMessagesByFid({ fid, ...page }),
    (page) => client.getLinkCompactStateMessageByFid({ fid, ...page }),
    (page) => client.getAllUserDataMessagesByFid({ fid, ...page }),
    (page) => client.getAllVerificationMessagesByFid({ fid, ...page }),
    (page) => client.getAllLendStorageMessagesByFid({ fid, ...page }),
  ];
  return (await Promise.all(lists.map((list) => walk(list, {})))).flat();
}

const hashOf = ({ hash }: { hash: Uint8Array }) => Buffer.from(hash).toString("hex");
type Order = (a: SignedMessage, b: SignedMessage) => number;
const byTime: Order = (a, b) => a.data.timestamp - b.data.timestamp || Buffer.compare(a.hash, b.hash);
const bySender: Order = (a, b) =>
  a.data.timestamp - b.data.timestamp || a.data.fid - b.data.fid || reactionTypeOf(a) - reactionTypeOf(b);

function reactionTypeOf({ data: { body } }: SignedMessage): number {
  return body?.$case === "reactionBody" ? body.value.type : 0;
}

async function expectList(list: List, wanted: (message: SignedMessage) => boolean, order = byTime) {
  const expected = live.filter(wanted).sort(order);
  for (const reverse of [false, true]) {
    const hashes = (reverse ? expected.toReversed() : expected).map(hashOf);
    for (const pageSize of PAGE_SIZES) {
      if (pageSize === 1 && expected.length > 25) continue;
      const found = await walk(list, { reverse, ...(pageSize === undefined ? {} : { pageSize }) });
      expect(found.map(hashOf)).toEqual(hashes);
    }
  }
  return expected.length;
}

const isType = (type: MessageType, fid: number) => (message: SignedMessage) =>
  message.data.fid === fid && (message.data.type as number) === type;
const either =
  (...tests: ((message: SignedMessage) => boolean)[]) =>
  (message: SignedMessage) =>
    tests.some((one) => one(message));

/** The casts and URLs that live messages name as parent or target. */
function targets(): { casts: CastId[]; urls: string[] } {
  const casts = new Map<string, CastId>();
  const urls = new Set<string>();
  for (const { data } of live) {
    const { body } = data;
    const target =
      body?.$case === "reactionBody"
        ? body.value.target
        : body?.$case === "castAddBody"
          ? body.value.parent
          : undefined;
    if (target === undefined) continue;
    if (typeof target.value === "string") urls.add(target.value);
    else casts.set(`${target.value.fid} ${target.value.hash.toHex()}`, target.value as CastId);
  }
  return { casts: [...casts.values()], urls: [...urls] };
}

const sameCast = (a: CastId | undefined, b: CastId) =>
  a !== undefined && a.fid === b.fid && Buffer.compare(a.hash, b.hash) === 0;

describe("each list has exactly its messages in order, whatever the page size, forwards and reversed:", () => {
  test("casts, reactions, links, user data, verifications and lends by fid", async () => {
    let rows = 0;
    for (const fid of FIDS) {
      const { client } = hub;
      const adds = (type: MessageType) => isType(type, fid);
      rows += await expectList((page) => client.getCastsByFid({ fid, ...page }), adds(MessageType.CAST_ADD));
      rows += await expectList(
        (page) => client.getAllCastMessagesByFid({ fid, ...page }),
        either(adds(MessageType.CAST_ADD), adds(MessageType.CAST_REMOVE)),
      );
      for (const type of [0, 1, 2])
        rows += await expectList(
          (page) => client.getReactionsByFid({ fid, reactionType: type, ...page }),
          (one) => adds(MessageType.REACTION_ADD)(one) && (type === 0 || reactionTypeOf(one) === type),
        );
      rows += await expectList(
        (page) => client.getAllReactionMessagesByFid({ fid, ...page }),
        either(adds(MessageType.REACTION_ADD), adds(MessageType.REACTION_REMOVE)),
      );
      for (const linkType of ["", "follow", "block", "mute"])
        rows += await expectList(
          (page) => client.getLinksByFid({ fid, linkType, ...page }),
          (one) =>
            adds(MessageType.LINK_ADD)(one) &&
            (linkType === "" ||
              (one.data.body?.$case === "linkBody" && one.data.body.value.type === linkType)),
        );
      rows += await expectList(
        (page) => client.getAllLinkMessagesByFid({ fid, ...page }),
        either(adds(MessageType.LINK_ADD), adds(MessageType.LINK_REMOVE)),
      );
      rows += await expectList(
        (page) => client.getUserDataByFid({ fid, ...page }),
        adds(MessageType.USER_DATA_ADD),
      );
      rows += await expectList(
        (page) => client.getAllUserDataMessagesByFid({ fid, ...page }),
        adds(MessageType.USER_DATA_ADD),
      );
      rows += await expectList(
        (page) => client.getVerificationsByFid({ fid, ...page }),
        adds(MessageType.VERIFICATION_ADD_ETH_ADDRESS),
      );
      rows += await expectList(
        (page) => client.getAllVerificationMessagesByFid({ fid, ...page }),
        either(adds(MessageType.VERIFICATION_ADD_ETH_ADDRESS), adds(MessageType.VERIFICATION_REMOVE)),
      );
      rows += await expectList(
        (page) => client.getAllLendStorageMessagesByFid({ fid, ...page }),
        adds(MessageType.LEND_STORAGE),
      );
    }
    expect(rows).toBeGreaterThan(300);
  });

  test("casts by parent and by mention", async () => {
    const { casts, urls } = targets();
    const { client } = hub;
    let rows = 0;
    for (const parentCastId of casts.slice(0, 25))
      rows += await expectList(
        (page) => client.getCastsByParent({ parentCastId, ...page }),
        ({ data: { body } }) =>
          body?.$case === "castAddBody" &&
          body.value.parent?.$case === "parentCastId" &&
          sameCast(body.value.parent.value as CastId, parentCastId),
      );
    for (const parentUrl of [...urls, "https://a.example/"])
      rows += await expectList(
        (page) => client.getCastsByParent({ parentUrl, ...page }),
        ({ data: { body } }) =>
          body?.$case === "castAddBody" &&
          body.value.parent?.$case === "parentUrl" &&
          body.value.parent.value === parentUrl,
      );
    for (const fid of FIDS)
      rows += await expectList(
        (page) => client.getCastsByMention({ fid, ...page }),
        ({ data: { body } }) => body?.$case === "castAddBody" && body.value.mentions.includes(fid),
      );
    expect(rows).toBeGreaterThan(40);
  });

  test("reactions by target and by cast, and links by target, in the order of time and sender", async () => {
    const { casts, urls } = targets();
    const { client } = hub;
    let rows = 0;
    const isReaction = (one: SignedMessage, type: number, isTarget: (target: unknown) => boolean) => {
      const { body } = one.data;
      return (
        (one.data.type as number) === MessageType.REACTION_ADD &&
        body?.$case === "reactionBody" &&
        (type === 0 || body.value.type === type) &&
        isTarget(body.value.target?.value)
      );
    };
    for (const targetCastId of casts.slice(0, 25))
      for (const type of [0, 1, 2]) {
        const isTarget = (target: unknown) =>
          typeof target === "object" && sameCast(target as CastId, targetCastId);
        const list: List = (page) =>
          client.getReactionsByTarget({ targetCastId, reactionType: type, ...page });
        rows += await expectList(list, (one) => isReaction(one, type, isTarget), bySender);
        if (type === 0) continue;
        await expectList(
          (page) => client.getReactionsByCast({ targetCastId, reactionType: type, ...page }),
          (one) => isReaction(one, type, isTarget),
          bySender,
        );
      }
    for (const targetUrl of [...urls, "https://a.example/"])
      rows += await expectList(
        (page) => client.getReactionsByTarget({ targetUrl, reactionType: ReactionType.NONE, ...page }),
        (one) => isReaction(one, 0, (target) => target === targetUrl),
        bySender,
      );
    for (const targetFid of FIDS)
      for (const linkType of ["follow", "block", "mute"])
        rows += await expectList(
          (page) => client.getLinksByTarget({ targetFid, linkType, ...page }),
          ({ data: { type, body } }) =>
            (type as number) === MessageType.LINK_ADD &&
            body?.$case === "linkBody" &&
            body.value.type === linkType &&
            body.value.target?.value === targetFid,
          bySender,
        );
    expect(rows).toBeGreaterThan(40);
  });
});

test("a list of a URL has nothing of a URL that begins with it, or that it begins with", async () => {
  for (const url of NESTED_URLS) {
    const casts = await walk((page) => hub.client.getCastsByParent({ parentUrl: url, ...page }), {});
    expect(casts.map(({ data }) => data?.castAddBody?.text)).toEqual([`under ${url}`]);
    const likes = await walk((page) => hub.client.getReactionsByTarget({ targetUrl: url, ...page }), {});
    expect(likes.map(({ data }) => data?.reactionBody?.targetUrl)).toEqual([url]);
  }
});

test("each message has its data twice, and passes the official library's check of its hash and signature", async () => {
  const bySubmitted = new Map(live.map((message) => [hashOf(message), message]));
  const types = new Set<MessageType>();
  let odd = 0;
  for (const fid of FIDS)
    for (const message of await everyMessage(hub, fid)) {
      const { dataBytes = new Uint8Array(), data, hash, signature, signer } = message;
      const submitted = bySubmitted.get(hashOf(message));
      expect(Buffer.from(dataBytes).equals(Buffer.from(submitted?.dataBytes ?? []))).toBe(true);
      expect(data).toEqual(MessageData.decode(dataBytes));
      expect(Buffer.from(signature).equals(Buffer.from(submitted?.signature ?? []))).toBe(true);
      expect(Buffer.from(blake3(dataBytes, { dkLen: 20 })).toString("hex")).toBe(hashOf(message));
      expect((await ed25519.verifyMessageHashSignature(signature, hash, signer))._unsafeUnwrap()).toBe(true);
      types.add(data?.type ?? 0);
      const canonical = Message.encode({ ...message, dataBytes: undefined }).finish();
      if (!Buffer.from(canonical).includes(Buffer.from(dataBytes))) odd += 1;
    }
  expect([...types].sort((a, b) => a - b)).toEqual(KINDS);
  // Encodings that the library would not write.
  expect(odd).toBeGreaterThan(0);
});

test("each message of the demo network is valid for the official library", async () => {
  using demo = temporaryIndex();
  const records = mixedRecords({ fids: 6, perType: 8 });
  const engine = createIngestEngine({
    db: demo.db,
    network: WireNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(ANCHOR_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });
  engine.apply(records.map((record) => expectOk(decodeRecord(record))));
  await using served = await startTestHub(demo.path);
  const refused: string[] = [];
  const types = new Set<MessageType>();
  const { fids } = (await served.client.getFids({ shardId: 1 }))._unsafeUnwrap();
  for (const fid of fids)
    for (const message of await everyMessage(served, fid)) {
      const type = message.data?.type ?? 0;
      types.add(type);
      // The library compares the time of lends with that of its machine.
      (await validations.validateMessage(message)).mapErr(({ message: reason }) =>
        type === MessageType.LEND_STORAGE && reason.includes("10 mins in the past")
          ? 0
          : refused.push(`${type}: ${reason}`),
      );
    }
  expect(refused).toEqual([]);
  expect(types.size).toBeGreaterThanOrEqual(9);
});

test("a time range has both its ends, and a range that ends before it starts has nothing", async () => {
  const fid = 1;
  const own = live.filter(either(isType(MessageType.CAST_ADD, fid), isType(MessageType.CAST_REMOVE, fid)));
  const times = own.map(({ data }) => data.timestamp).sort((a, b) => a - b);
  const startTimestamp = times[Math.floor(times.length / 4)] ?? 0;
  const stopTimestamp = times[Math.floor(times.length / 2)] ?? 0;
  const within = own
    .filter(({ data }) => data.timestamp >= startTimestamp && data.timestamp <= stopTimestamp)
    .sort(byTime)
    .map(hashOf);
  const list: List = (page) =>
    hub.client.getAllCastMessagesByFid({ fid, startTimestamp, stopTimestamp, ...page });
  expect((await walk(list, { pageSize: 3 })).map(hashOf)).toEqual(within);
  expect((await walk(list, { pageSize: 3, reverse: true })).map(hashOf)).toEqual(within.toReversed());
  const none: List = (page) =>
    hub.client.getAllCastMessagesByFid({ fid, startTimestamp: 10, stopTimestamp: 5, ...page });
  expect(await walk(none, {})).toEqual([]);
});
