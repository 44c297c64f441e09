import { describe, expect, test } from "bun:test";
import type { IndexDatabase } from "../../../src/db/index/database.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import {
  type CastAddBody,
  type DeepPartial,
  MessageType,
} from "../../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import { readEvent } from "../../../src/webhooks/event.ts";
import { buildBodies } from "../../../src/webhooks/publish/payload.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { registerEvent } from "../../support/events.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeWallet } from "../../support/messages.ts";
import { accountRecords, eventRecord } from "../../support/node.ts";
import { takeEvents } from "../../support/outbox.ts";
import {
  bio,
  cast,
  fname,
  hashBytes,
  likeUrl,
  link,
  signed,
  uncast,
  unlink,
  unreact,
} from "../../support/records.ts";
import { hashOf, reactionMessage } from "../../support/social.ts";

const NOW = DEFAULT_TIMESTAMP;

async function apiWithAccounts(...fids: number[]): Promise<TestApi> {
  const api = await startTestApi();
  for (const fid of fids) api.node.ingestAll(accountRecords(fid));
  expect(takeEvents(api.node.db)).toEqual([]);
  return api;
}

interface Body {
  readonly created_at: number;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** The parsed bodies of the events in the outbox. */
function takeBodies({ node }: TestApi): Body[] {
  const events = takeEvents(node.db).map(readEvent);
  return [...buildBodies(node.db, events, nowSecs(node.clock)).values()].map((body) => JSON.parse(body));
}

function castWith(fid: number, body: DeepPartial<CastAddBody>): EncodedRecord {
  return signed(fid, {
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    body: { $case: "castAddBody", value: body },
  });
}

const idOf = (fid: number, record: EncodedRecord) => ({ fid, hash: hashBytes(record) });
const like = (fid: number, target: { fid: number; hash: `0x${string}` }): EncodedRecord => ({
  kind: "message",
  bytes: reactionMessage(fid, 1, target),
});

async function readCast(api: TestApi, record: EncodedRecord) {
  const { status, body } = await api.get(`/cast?identifier=${hashOf(record.bytes)}`);
  return status === 200 ? body.cast : undefined;
}

async function readUser(api: TestApi, fid: number) {
  return ((await api.get(`/user/bulk?fids=${fid}`)).body.users as unknown[])[0];
}

/** A reply in a channel with a mention, a link and a quote, and the casts that it refers to. */
function thread() {
  const url = "https://farcaster.xyz/~/channel/tests";
  const root = castWith(1, { text: "root", parent: { $case: "parentUrl", value: url } });
  const quoted = cast(3, "quoted");
  const reply = castWith(2, {
    text: "hello  and bye",
    mentions: [1, 77],
    mentionsPositions: [6, 11],
    parent: { $case: "parentCastId", value: idOf(1, root) },
    embeds: [
      { embed: { $case: "url", value: "https://a.example/x.png" } },
      { embed: { $case: "castId", value: idOf(3, quoted) } },
    ],
  });
  return { url, root, quoted, reply };
}

describe("bodies of events", () => {
  test("a cast equals the response of a read, with embeds, mentions and counts", async () => {
    await using api = await apiWithAccounts(1, 2, 3);
    const { root, quoted, reply } = thread();
    api.node.merge([root, quoted, reply, like(1, { fid: 2, hash: hashOf(reply.bytes) })]);
    api.node.merge([castWith(3, { text: "re", parent: { $case: "parentCastId", value: idOf(2, reply) } })]);
    api.node.clock.advanceSecs(5);
    const bodies = takeBodies(api);
    const expected = await readCast(api, reply);
    expect(expected).toMatchObject({
      author: { fid: 2, username: "!2" },
      text: "hello @!1 and @!77bye",
      root_parent_url: "https://farcaster.xyz/~/channel/tests",
      reactions: { likes_count: 1 },
      replies: { count: 1 },
      embeds: [{ url: "https://a.example/x.png" }, { cast: { text: "quoted", author: { fid: 3 } } }],
      channel: { id: "tests" },
    });
    expect(bodies[2]).toEqual({
      created_at: DEFAULT_NOW_SECS,
      type: "cast.created",
      data: expected as Record<string, unknown>,
    });
  });

  test("a deleted cast equals the last read before, also when it was created and deleted between two polls", async () => {
    await using api = await apiWithAccounts(1, 2, 3);
    const { root, quoted, reply } = thread();
    api.node.merge([root, quoted, reply, like(1, { fid: 2, hash: hashOf(reply.bytes) })]);
    const before = (await readCast(api, reply)) as Record<string, unknown>;
    takeEvents(api.node.db);
    api.node.merge([uncast(2, reply)]);
    expect(await readCast(api, reply)).toBeUndefined();
    expect(takeBodies(api)).toEqual([{ created_at: DEFAULT_NOW_SECS, type: "cast.deleted", data: before }]);

    const brief = castWith(2, { text: "brief", parent: { $case: "parentCastId", value: idOf(1, root) } });
    api.node.merge([brief, uncast(2, brief)]);
    const [created, deleted] = takeBodies(api);
    expect(created).toMatchObject({ type: "cast.created", data: { text: "brief", type: "cast-reply" } });
    expect(deleted).toMatchObject({ type: "cast.deleted", data: created?.data as object });
  });

  test("a cast deleted in the same batch is neither quoted nor a target", async () => {
    await using api = await apiWithAccounts(1, 2, 3);
    const { root, quoted, reply } = thread();
    const target = { fid: 3, hash: hashOf(quoted.bytes) };
    api.node.merge([root, quoted, reply, like(1, target), uncast(3, quoted)]);
    const [, , quoting, reaction, deleted] = takeBodies(api);
    expect(quoting?.data).toMatchObject({ embeds: [{}, { cast_id: target, cast: null }] });
    expect(reaction).toMatchObject({ type: "reaction.created", data: { cast: null } });
    expect(deleted).toMatchObject({ type: "cast.deleted", data: { text: "quoted" } });
  });

  test("a follow shows both users and its time", async () => {
    await using api = await apiWithAccounts(1, 2);
    api.node.merge([link(1, "follow", 2, NOW - 20)]);
    api.node.merge([unlink(1, "follow", 2, NOW - 10), link(1, "follow", 4242)]);
    const [user, target] = [await readUser(api, 1), await readUser(api, 2)];
    const of = (type: string, data: object) => ({ created_at: DEFAULT_NOW_SECS, type, data });
    expect(takeBodies(api)).toEqual([
      of("follow.created", { object: "follow", timestamp: DEFAULT_NOW_SECS - 20, user, target_user: target }),
      of("follow.deleted", {
        object: "unfollow",
        timestamp: DEFAULT_NOW_SECS - 10,
        user,
        target_user: target,
      }),
      of("follow.created", { object: "follow", timestamp: DEFAULT_NOW_SECS, user, target_user: null }),
    ] as Body[]);
  });

  test("a follow has the timestamp of its message", async () => {
    await using api = await apiWithAccounts(1, 2);
    const shownAt = NOW - 1_000_000;
    api.node.merge([
      signed(1, {
        type: MessageType.MESSAGE_TYPE_LINK_ADD,
        body: {
          $case: "linkBody",
          value: { type: "follow", displayTimestamp: shownAt, target: { $case: "targetFid", value: 2 } },
        },
      }),
    ]);
    expect(takeBodies(api)[0]?.data.timestamp).toBe(DEFAULT_NOW_SECS - 1_000_000);
  });

  test("a reaction shows its target cast, or null", async () => {
    await using api = await apiWithAccounts(1, 2);
    const liked = cast(2, "liked");
    const hash = hashOf(liked.bytes);
    api.node.merge([liked]);
    takeEvents(api.node.db);
    api.node.merge([like(1, { fid: 2, hash }), like(1, { fid: 1, hash }), likeUrl(1, "https://a.example")]);
    api.node.merge([unreact(1, 1, NOW + 3)]);
    const [user, target] = [await readUser(api, 1), await readCast(api, liked)];
    const reaction = (type: string, timestamp: number, shown: unknown) => ({
      created_at: DEFAULT_NOW_SECS,
      type,
      data: { object: "reaction", timestamp, reaction_type: 1, user, cast: shown },
    });
    expect(takeBodies(api)).toEqual([
      reaction("reaction.created", DEFAULT_NOW_SECS, target),
      reaction("reaction.created", DEFAULT_NOW_SECS, null),
      reaction("reaction.created", DEFAULT_NOW_SECS, null),
      reaction("reaction.deleted", DEFAULT_NOW_SECS + 3, target),
    ]);
  });

  test("a user equals the response of a read", async () => {
    await using api = await apiWithAccounts(1);
    const wallet = makeWallet("new").address;
    api.node.merge([
      eventRecord(registerEvent(50, wallet, { block: 9000, at: DEFAULT_NOW_SECS })),
      bio(1, "new bio"),
      fname(1, "renamed"),
    ]);
    const [created, updated] = [await readUser(api, 50), await readUser(api, 1)];
    expect(updated).toMatchObject({ profile: { bio: { text: "new bio" } } });
    expect(takeBodies(api).map(({ type, data }) => [type, data])).toEqual([
      ["user.created", created],
      ["user.updated", updated],
      ["user.updated", updated],
    ] as [string, Record<string, unknown>][]);
  });

  test("a batch needs as few statements as one event", async () => {
    await using api = await apiWithAccounts(1, 2, 3);
    const statementsFor = (repeats: number): string[] => {
      const { root, quoted, reply } = thread();
      api.node.merge([root, quoted, reply]);
      for (let n = 0; n < repeats; n++) {
        const text = castWith(2, {
          text: `${repeats} ${n}`,
          embeds: [quoteOf(3, quoted)],
          mentions: [n % 3],
          mentionsPositions: [0],
        });
        api.node.merge([
          text,
          like(1, { fid: 2, hash: hashOf(text.bytes) }),
          link(3, "follow", 100 * repeats + n),
        ]);
        api.node.merge([uncast(2, text, NOW + 1)]);
      }
      const events = takeEvents(api.node.db).map(readEvent);
      return statementsOf(api.node.db, () => buildBodies(api.node.db, events, DEFAULT_NOW_SECS));
    };
    expect(statementsFor(1).length).toBeLessThanOrEqual(7);
    expect(statementsFor(20).length).toBeLessThanOrEqual(7);
  });
});

function quoteOf(fid: number, record: EncodedRecord): DeepPartial<CastAddBody["embeds"][number]> {
  return { embed: { $case: "castId", value: idOf(fid, record) } };
}

function statementsOf(db: IndexDatabase, work: () => void): string[] {
  const names: string[] = [];
  db.onStatement = (name) => names.push(name);
  work();
  db.onStatement = undefined;
  return names;
}
