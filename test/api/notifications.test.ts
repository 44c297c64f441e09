import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signMessage, type TestData } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import type { ResponseEntry } from "../support/notification-model.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

const { REACTION_TYPE_LIKE: LIKE, REACTION_TYPE_RECAST: RECAST } = ReactionType;
const WINDOW_SECS = 3600;
/** Farcaster seconds at which a test's events start. */
const START = DEFAULT_TIMESTAMP - 50_000;
const START_UNIX = DEFAULT_NOW_SECS - 50_000;
const OTHERS = Array.from({ length: 13 }, (_, n) => 100 + n);

let api: TestApi;
let nextViewer = 1;

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of OTHERS) api.node.ingestAll(accountRecords(fid));
});
afterAll(() => api[Symbol.asyncDispose]());

function take(message: Uint8Array): void {
  expect(api.node.ingestMessage(message)).toBe("ok");
}

function newViewer(): number {
  const fid = nextViewer++;
  api.node.ingestAll(accountRecords(fid));
  return fid;
}

type CastBody = NonNullable<Extract<TestData["body"], { $case?: "castAddBody" }>>["value"];

function cast(fid: number, at: number, value: CastBody): `0x${string}` {
  const message = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      timestamp: START + at,
      body: { $case: "castAddBody", value: { text: `${fid} at ${at}`, ...value } },
    },
    accountSigner(fid),
  );
  take(message);
  return hashOf(message);
}

function removeCast(fid: number, hash: string): void {
  const targetHash = Buffer.from(hash.slice(2), "hex");
  take(
    signMessage(
      {
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        fid,
        timestamp: START + 40_000,
        body: { $case: "castRemoveBody", value: { targetHash } },
      },
      accountSigner(fid),
    ),
  );
}

const parent = (fid: number, hash: string): Pick<NonNullable<CastBody>, "parent"> => ({
  parent: { $case: "parentCastId", value: { fid, hash: Buffer.from(hash.slice(2), "hex") } },
});
const under = (url: string): Pick<NonNullable<CastBody>, "parent"> => ({
  parent: { $case: "parentUrl", value: url },
});
const mention = (fid: number) => ({ mentions: [fid], mentionsPositions: [0] });

const entriesOf = async (path: string, limit = 100) =>
  await readAllPages<ResponseEntry>(api, path, "notifications", limit);

describe("/notifications", () => {
  test("each kind of entry is complete", async () => {
    const viewer = newViewer();
    const own = cast(viewer, 0, {});
    take(linkMessage(100, "follow", viewer, { at: START + 1 }));
    const mentioning = cast(101, 2, mention(viewer));
    const reply = cast(102, 3, { ...parent(viewer, own), mentions: [viewer], mentionsPositions: [0] });
    take(reactionMessage(103, LIKE, { fid: viewer, hash: own }, { at: START + 4 }));
    take(reactionMessage(103, RECAST, { fid: viewer, hash: own }, { at: START + 5 }));
    const user = (fid: number) => expect.objectContaining({ object: "user", fid });
    const { body } = await api.get(`/notifications?fid=${viewer}`);
    expect(body).toEqual({
      notifications: [
        {
          type: "reaction",
          most_recent_timestamp: START_UNIX + 5,
          cast: expect.objectContaining({ object: "cast", hash: own }),
          reactions: [
            { reaction_type: "recast", user: user(103), timestamp: START_UNIX + 5 },
            { reaction_type: "like", user: user(103), timestamp: START_UNIX + 4 },
          ],
          follows: [],
          count: 2,
        },
        {
          type: "cast-reply",
          most_recent_timestamp: START_UNIX + 3,
          cast: expect.objectContaining({ hash: reply, parent_hash: own }),
          reactions: [],
          follows: [],
          count: 1,
        },
        {
          type: "cast-mention",
          most_recent_timestamp: START_UNIX + 2,
          cast: expect.objectContaining({ hash: mentioning }),
          reactions: [],
          follows: [],
          count: 1,
        },
        {
          type: "follow",
          most_recent_timestamp: START_UNIX + 1,
          cast: null,
          reactions: [],
          follows: [{ user: user(100), timestamp: START_UNIX + 1 }],
          count: 1,
        },
      ],
      next: { cursor: null },
    });
  });

  test("an act exactly one window older than the newest starts the next window; one a second younger does not", async () => {
    const viewer = newViewer();
    for (const [at, fid] of [WINDOW_SECS + 1, 2, 1, 0].entries())
      take(linkMessage(OTHERS[at] ?? 0, "follow", viewer, { at: START + fid }));
    for (const limit of [1, 100]) {
      const entries = await entriesOf(`/notifications?fid=${viewer}`, limit);
      expect(entries.map(({ follows }) => follows.map(({ timestamp }) => timestamp - START_UNIX))).toEqual([
        [WINDOW_SECS + 1, 2],
        [1, 0],
      ]);
    }
  });

  test("an entry lists its ten newest acts and counts all, without those of silenced users", async () => {
    const viewer = newViewer();
    const own = cast(viewer, 0, {});
    for (const [at, fid] of OTHERS.entries()) {
      take(linkMessage(fid, "follow", viewer, { at: START + at }));
      take(reactionMessage(fid, LIKE, { fid: viewer, hash: own }, { at: START + 20_000 + at }));
    }
    const newest = OTHERS.toReversed().slice(0, 10);
    const [reactions, follows] = await entriesOf(`/notifications?fid=${viewer}`, 1);
    expect(reactions?.reactions.map(({ user }) => user.fid)).toEqual(newest);
    expect(follows?.follows.map(({ user }) => user.fid)).toEqual(newest);
    expect([reactions?.count, follows?.count]).toEqual([13, 13]);

    take(linkMessage(viewer, "block", 112, { at: START + 30_000 }));
    take(linkMessage(viewer, "mute", 111, { at: START + 30_000 }));
    const [filtered] = await entriesOf(`/notifications?fid=${viewer}`);
    expect(filtered?.reactions.map(({ user }) => user.fid)).toEqual(OTHERS.slice(1, 11).toReversed());
    expect(filtered).toMatchObject({ count: 11, most_recent_timestamp: START_UNIX + 20_010 });
  });

  test("reactions to a removed, unknown or foreign cast under the viewer's fid cause no notification", async () => {
    const viewer = newViewer();
    const own = cast(viewer, 0, {});
    const another = cast(100, 1, {});
    for (const hash of [own, another, `0x${"12".repeat(20)}` as const])
      take(reactionMessage(101, LIKE, { fid: viewer, hash }, { at: START + 2 }));
    expect((await entriesOf(`/notifications?fid=${viewer}`)).map(({ cast }) => cast?.hash)).toEqual([own]);
    removeCast(viewer, own);
    expect(await entriesOf(`/notifications?fid=${viewer}`)).toEqual([]);
  });

  test("a user's own acts cause no notification", async () => {
    const viewer = newViewer();
    const own = cast(viewer, 0, mention(viewer));
    cast(viewer, 1, parent(viewer, own));
    take(reactionMessage(viewer, LIKE, { fid: viewer, hash: own }, { at: START + 2 }));
    expect(await entriesOf(`/notifications?fid=${viewer}`)).toEqual([]);
  });

  test("a page runs a bounded number of statements whatever its size", async () => {
    const viewer = newViewer();
    for (let n = 0; n < 40; n++) {
      const own = cast(viewer, n, {});
      take(reactionMessage(OTHERS[n % 13] ?? 0, LIKE, { fid: viewer, hash: own }, { at: START + 100 + n }));
      cast(OTHERS[n % 13] ?? 0, 200 + n, mention(viewer));
    }
    for (const limit of [1, 10, 100]) {
      let cursor: string | null = null;
      do {
        api.takeStatements();
        const more: string = cursor === null ? "" : `&cursor=${cursor}`;
        const { body } = await api.get(`/notifications?fid=${viewer}&limit=${limit}${more}`);
        // Cursors have hashes: those of the windows before the page, and of those that it opened.
        expect(api.takeStatements().length).toBeLessThanOrEqual(11);
        ({ cursor } = body.next as { cursor: string | null });
      } while (cursor !== null);
    }
  });
});

describe("/notifications/channel and /notifications/parent_url", () => {
  const OLD = "https://warpcast.com/~/channel/notes";
  const NEW = "https://farcaster.xyz/~/channel/notes";
  const CHAIN = "chain://eip155:1/erc721:0xabc";
  let viewer: number;
  let hashes: Record<"old" | "new" | "chain" | "deep" | "plain", string>;

  const hashesOf = async (path: string, limit = 100) =>
    (await entriesOf(path, limit)).map(({ cast }) => cast?.hash ?? "");
  const channel = (id: string) =>
    `/notifications/channel?fid=${viewer}&channel_ids=${encodeURIComponent(id)}`;
  const parentUrl = (url: string) =>
    `/notifications/parent_url?fid=${viewer}&parent_urls=${encodeURIComponent(url)}`;

  beforeAll(() => {
    viewer = newViewer();
    const old = cast(100, 1, { ...under(OLD), ...mention(viewer) });
    const own = cast(viewer, 2, parent(100, old));
    take(reactionMessage(101, LIKE, { fid: viewer, hash: own }, { at: START + 3 }));
    hashes = {
      old,
      deep: cast(101, 4, parent(viewer, own)),
      new: cast(102, 5, { ...under(NEW), ...mention(viewer) }),
      chain: cast(103, 6, { ...under(CHAIN), ...mention(viewer) }),
      plain: cast(104, 7, mention(viewer)),
    };
  });

  test("a channel matches all its URLs, a URL only itself, by the root of the thread", async () => {
    for (const limit of [1, 3, 100]) {
      expect(await hashesOf(channel("notes"), limit)).toEqual([hashes.new, hashes.deep, hashes.old]);
      expect(await hashesOf(channel(OLD), limit)).toEqual([hashes.deep, hashes.old]);
      expect(await hashesOf(parentUrl(OLD), limit)).toEqual([hashes.deep, hashes.old]);
      expect(await hashesOf(channel(`notes,${CHAIN}`), limit)).toEqual([
        hashes.chain,
        hashes.new,
        hashes.deep,
        hashes.old,
      ]);
    }
    expect(await hashesOf(parentUrl(NEW))).toEqual([hashes.new]);
    expect(await hashesOf(`${parentUrl(NEW)}&parent_urls=${encodeURIComponent(CHAIN)}`)).toEqual([
      hashes.chain,
      hashes.new,
    ]);
    for (const path of [channel("note"), parentUrl("notes"), parentUrl(`${OLD}/`)])
      expect(await hashesOf(path)).toEqual([]);
  });

  test("entries equal those of the whole list, without silenced authors and threads whose root was removed", async () => {
    const whole = await entriesOf(`/notifications?fid=${viewer}`);
    expect(await entriesOf(channel("notes"))).toEqual(
      whole.filter(
        ({ cast, type }) =>
          type !== "reaction" && [hashes.new, hashes.deep, hashes.old].includes(cast?.hash ?? ""),
      ),
    );
    take(linkMessage(viewer, "mute", 102, { at: START + 10 }));
    expect(await hashesOf(channel("notes"))).toEqual([hashes.deep, hashes.old]);
    removeCast(100, hashes.old);
    expect(await hashesOf(channel("notes"))).toEqual([]);
    expect(await hashesOf(`/notifications?fid=${viewer}`)).toContain(hashes.deep);
  });
});

test("missing and malformed parameters are 400 naming the parameter; unknown fids have no entries", async () => {
  const viewer = newViewer();
  for (const at of [1, 2]) cast(100, at, mention(viewer));
  const first = await api.get(`/notifications?fid=${viewer}&limit=1`);
  const { cursor } = first.body.next as { cursor: string };
  for (const [path, name] of [
    ["/notifications", "fid"],
    ["/notifications?fid=x", "fid"],
    ["/notifications?fid=1&limit=0", "limit"],
    ["/notifications?fid=1&limit=-1", "limit"],
    ["/notifications?fid=1&cursor=garbage", "cursor"],
    ["/notifications/channel?channel_ids=a", "fid"],
    ["/notifications/channel?fid=1", "channel_ids"],
    ["/notifications/channel?fid=1&channel_ids=a&limit=x", "limit"],
    [`/notifications/channel?fid=1&channel_ids=a&cursor=${cursor}`, "cursor"],
    ["/notifications/parent_url?parent_urls=a", "fid"],
    ["/notifications/parent_url?fid=1", "parent_urls"],
    [
      `/notifications/parent_url?fid=1&parent_urls=${Array.from({ length: 351 }, (_, n) => n)}`,
      "parent_urls",
    ],
    [`/notifications/parent_url?fid=1&parent_urls=a&cursor=${cursor}`, "cursor"],
  ] as const) {
    const { status, body } = await api.get(path);
    expect({ path, status }).toEqual({ path, status: 400 });
    expect(body.message).toContain(name);
  }
  for (const fid of [2n ** 32n + BigInt(viewer), 2n ** 53n + BigInt(viewer), 2n ** 64n - 1n, 0n])
    for (const path of [
      `/notifications?fid=${fid}`,
      `/notifications/channel?fid=${fid}&channel_ids=a`,
      `/notifications/parent_url?fid=${fid}&parent_urls=a`,
    ])
      expect((await api.get(path)).body).toEqual({ notifications: [], next: { cursor: null } });
});
