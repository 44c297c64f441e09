import { afterAll, beforeAll, expect, test } from "bun:test";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

/** A storage unit holds 100 casts and 200 links and reactions: each new one removes the oldest. */
const AUTHOR = 1;
const ROOT_AUTHOR = 2;
const CASTS = 100;
const LINKS = 200;
const URL_OF_ALL = "https://c.example/all";

let api: TestApi;
let root: `0x${string}`;
let serial = 0;

function castOf(fid: number, value: object): Uint8Array {
  serial += 1;
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      timestamp: DEFAULT_TIMESTAMP - 10_000 + serial,
      body: { $case: "castAddBody", value: { text: `cast ${serial}`, ...value } },
    },
    accountSigner(fid),
  );
}

/** Casts of the author, in turns replies and casts in a channel, each liked and each with a follow. */
function write(count: number): void {
  const bytes: Uint8Array[] = [];
  for (let n = 0; n < count; n++) {
    const reply = { fid: ROOT_AUTHOR, hash: Buffer.from(root.slice(2), "hex") };
    const cast = castOf(
      AUTHOR,
      serial % 2
        ? { parent: { $case: "parentCastId", value: reply } }
        : { parent: { $case: "parentUrl", value: URL_OF_ALL } },
    );
    const at = DEFAULT_TIMESTAMP - 10_000 + serial;
    bytes.push(cast, linkMessage(AUTHOR, "follow", 1_000 + serial, { at }));
    const target = { fid: AUTHOR, hash: hashOf(cast) };
    bytes.push(reactionMessage(ROOT_AUTHOR, ReactionType.REACTION_TYPE_LIKE, target, { at }));
  }
  const outcomes = api.node.ingestAll(bytes.map((one) => ({ kind: "message", bytes: one })));
  expect(new Set(outcomes)).toEqual(new Set(["ok"]));
}

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  for (const fid of [AUTHOR, ROOT_AUTHOR]) api.node.ingestAll(accountRecords(fid));
  const bytes = castOf(ROOT_AUTHOR, {});
  api.node.ingestMessage(bytes);
  root = hashOf(bytes);
  write(LINKS + 5);
});
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: bodies of three APIs
type Body = any;
const hashes = (body: Body) => body.casts.map((cast: Body) => cast.hash);
const messageHashes = (body: Body) => body.messages.map((message: Body) => message.hash);
const parentUrl = encodeURIComponent(URL_OF_ALL);

const LISTS: readonly (readonly [path: () => string, limitName: string, idsOf: (body: Body) => string[]])[] =
  [
    [() => `/v2/svc/feed/user/casts?fid=${AUTHOR}`, "limit", hashes],
    [() => `/v2/svc/feed/parent_urls?parent_urls=${parentUrl}`, "limit", hashes],
    [
      () => `/v2/farcaster/cast/conversation?identifier=${root}&type=hash&reply_depth=1&sort_type=chron`,
      "limit",
      (body) => body.conversation.cast.direct_replies.map((cast: Body) => cast.hash),
    ],
    [
      () => `/v2/farcaster/reactions/user?fid=${ROOT_AUTHOR}&type=likes`,
      "limit",
      (body) => body.reactions.map((reaction: Body) => reaction.cast.hash),
    ],
    [() => `/v1/castsByFid?fid=${AUTHOR}`, "pageSize", messageHashes],
    [() => `/v1/castsByFid?fid=${AUTHOR}&reverse=1`, "pageSize", messageHashes],
    [() => `/v1/castsByParent?fid=${ROOT_AUTHOR}&hash=${root}`, "pageSize", messageHashes],
    [() => `/v1/linksByFid?fid=${AUTHOR}&link_type=follow`, "pageSize", messageHashes],
    [() => `/v1/reactionsByFid?fid=${ROOT_AUTHOR}&reaction_type=Like&reverse=1`, "pageSize", messageHashes],
  ];

async function read(path: string): Promise<Body> {
  const response = await fetch(`${api.url}${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  return response.json();
}

/** Reads a list page by page, and calls `between` after each page. */
async function walk(list: (typeof LISTS)[number], limit: number, between: () => void): Promise<string[]> {
  const [path, limitName, idsOf] = list;
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const name = limitName === "limit" ? "cursor" : "pageToken";
    const from: string = cursor === "" ? "" : `&${name}=${encodeURIComponent(cursor)}`;
    const body = await read(`${path()}&${limitName}=${limit}${from}`);
    ids.push(...idsOf(body));
    cursor = (limitName === "limit" ? body.next?.cursor : body.nextPageToken) || null;
    between();
  }
  return ids;
}

test.each(LISTS.map((list) => [list[0].toString().replace(/^.*`(\/v\d[^?]*).*$/s, "$1"), list] as const))(
  "%s shows each entry that stays once, and none twice, while the storage removes the oldest at every page",
  async (_, list) => {
    const before = new Set(await walk(list, 100, () => undefined));
    const walked = await walk(list, 9, () => write(2));
    const after = new Set(await walk(list, 100, () => undefined));
    const stayed = [...before].filter((id) => after.has(id));
    expect(stayed.length).toBeGreaterThan(15);
    expect(stayed.length).toBeLessThan(before.size);
    expect(new Set(walked).size).toBe(walked.length);
    expect(stayed.filter((id) => !walked.includes(id))).toEqual([]);
    expect(before.size).toBeLessThanOrEqual(Math.max(CASTS, LINKS));
  },
);
