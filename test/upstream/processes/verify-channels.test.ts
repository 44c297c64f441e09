import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Client } from "@grpc/grpc-js";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../../src/db/index/database.ts";
import { putPosition } from "../../../src/db/index/positions.ts";
import { CastingMode } from "../../../src/protocol/wire/generated/message.ts";
import { createUpstreamClient, type UpstreamClient } from "../../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";
import { type ChannelChoice, compareChannels } from "../../../src/upstream/verify/verify-channels.ts";
import { emptyDir } from "../../cli/run.ts";
import {
  Action,
  activateChannels,
  acts,
  moderates,
  ownsWallet,
  pins,
  registers,
  updates,
  walletOf,
} from "../../support/channel-records.ts";
import { type LoggedNode, startLoggedNode } from "../../support/logged-node.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords } from "../../support/node.ts";

const [OWNER, MODERATOR, MEMBER] = [1, 2, 3] as const;
const cast = (byte: number) => new Uint8Array(20).fill(byte);

let node: LoggedNode;
let connection: Client;
let client: UpstreamClient;
let dir: ReturnType<typeof emptyDir>;
/** An index with all that the node has. */
let db: IndexDatabase;

beforeAll(async () => {
  node = await startLoggedNode();
  activateChannels(node.db);
  const merged = node.merge(
    ...[OWNER, MODERATOR, MEMBER].flatMap((fid) => accountRecords(fid)),
    ownsWallet(OWNER),
    registers("books", walletOf(OWNER)),
    registers("films", walletOf(OWNER)),
    registers("parked", walletOf(9)),
    updates(OWNER, "books", { name: "Books", castingMode: CastingMode.CASTING_MODE_EVERYONE }),
    acts(OWNER, "books", Action.addModerator, MODERATOR),
    acts(MODERATOR, "books", Action.addMember, MEMBER, DEFAULT_TIMESTAMP + 1),
    pins(MODERATOR, "books", cast(1)),
    moderates(MODERATOR, "books", cast(2), true),
    moderates(MODERATOR, "books", cast(3), true),
    moderates(MODERATOR, "books", cast(3), false, DEFAULT_TIMESTAMP + 1),
  );
  expect(new Set(merged)).toEqual(new Set(["ok"]));
  connection = connectUpstream(`http://${node.hub.address}`);
  const pace = { callTimeoutMs: 30_000, stallMs: 30_000 };
  client = createUpstreamClient(connection, pace, new AbortController().signal);
  dir = emptyDir();
});
afterAll(async () => {
  db[Symbol.dispose]();
  connection.close();
  await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});
beforeEach(() => {
  if (db) db[Symbol.dispose]();
  const path = indexPath(dir.path);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
  node.db.sqlite.query("VACUUM INTO ?").run(path);
  db = openIndexWriter(path);
});

const compare = (choice: ChannelChoice = { sample: 10 }, over = client) =>
  compareChannels(
    { client: over, db, concurrency: 2, settle: async () => {}, nameServer: undefined },
    choice,
    Math.random,
  );

test("check 34: an index that equals the upstream has no difference", async () => {
  expect(await compare()).toEqual({ registrations: 3, compared: 3, differences: [] });
});

describe("check 34: what is wrong in the index is named", () => {
  const hex = (byte: number) => `0x${cast(byte).toHex()}`;
  const books = "channel_id = (SELECT channel_id FROM channels WHERE key = 'books')";
  test.each([
    [
      "a member in another state",
      `UPDATE channel_slots SET state = 4 WHERE target_fid = ${MEMBER}`,
      [`fid ${MEMBER} member`],
      [`fid ${MEMBER} banned`],
    ],
    ["a lost member", `DELETE FROM channel_slots WHERE target_fid = ${MEMBER}`, [`fid ${MEMBER} member`], []],
    [
      "an invented member",
      `UPDATE channel_slots SET target_fid = 77 WHERE target_fid = ${MEMBER}`,
      [`fid ${MEMBER} member`],
      ["fid 77 member"],
    ],
    [
      "another pin",
      `UPDATE channel_slots SET detail = x'${cast(9).toHex()}' WHERE kind = 20`,
      [`pin ${hex(1)} by fid ${MODERATOR}`],
      [`pin ${hex(9)} by fid ${MODERATOR}`],
    ],
    [
      "no pin",
      "UPDATE channel_slots SET state = 2 WHERE kind = 20",
      [`pin ${hex(1)} by fid ${MODERATOR}`],
      [],
    ],
    [
      "a hidden cast that is shown",
      `UPDATE channel_slots SET state = 2 WHERE kind = 21 AND state = 1`,
      [`cast ${hex(2)} hidden by fid ${MODERATOR}`],
      [`cast ${hex(2)} shown by fid ${MODERATOR}`],
    ],
    [
      "lost settings",
      "DELETE FROM channel_slots WHERE kind = 18",
      ['name "Books"', "CASTING_MODE_EVERYONE"],
      ["CASTING_MODE_MEMBERS_ONLY"],
    ],
    ["another owner", "UPDATE owner_claims SET is_add = 0", [`owner fid ${OWNER}`], ["owner fid 0"]],
    [
      "another address",
      `UPDATE channels SET owner_address = x'${cast(7).toHex()}' WHERE key = 'books'`,
      [`owner address 0x${walletOf(OWNER).toHex()}`, `owner fid ${OWNER}`],
      [`owner address ${hex(7)}`, "owner fid 0"],
    ],
    ["another end", `UPDATE channels SET expiry = 5 WHERE ${books}`, ["expiry 4000000000"], ["expiry 5"]],
  ])("%s", async (_, change, missing, extra) => {
    db.sqlite.exec(change);
    const { differences } = await compare();
    const found = differences.find(({ key }) => key === "books");
    expect([found?.missing.toSorted(), found?.extra.toSorted()]).toEqual([
      missing.toSorted(),
      extra.toSorted(),
    ]);
  });

  test("a channel that is lost, and a registration", async () => {
    db.sqlite.exec("DELETE FROM channels WHERE key = 'films'");
    db.sqlite.exec(
      `DELETE FROM on_chain_events WHERE type = 6
         AND block_number = (SELECT max(block_number) FROM on_chain_events WHERE type = 6)`,
    );
    const { differences } = await compare();
    expect(differences.map(({ key, missing, extra }) => [key, missing.length > 0, extra])).toEqual([
      ["", true, []],
      ["films", true, []],
    ]);
  });
});

test("the channels of an fid are those that it owns or has a role in, on either side", async () => {
  expect((await compare({ fids: [MEMBER] })).compared).toBe(1);
  expect((await compare({ fids: [OWNER, MEMBER] })).compared).toBe(2);
  expect((await compare({ fids: [77] })).compared).toBe(0);
  db.sqlite.exec(`DELETE FROM channel_slots WHERE target_fid = ${MEMBER}`);
  expect((await compare({ fids: [MEMBER] })).differences).toMatchObject([
    { key: "books", missing: [`fid ${MEMBER} member`] },
  ]);
});

test("what the index has from shard 0 before the upstream's data shards is not a difference, an older fault is", async () => {
  // The upstream has repeated the first 50 events of shard 0; the index has 60.
  const behind = Object.assign(Object.create(client), {
    info: async () => ({ shardInfos: [0, 1].map((shardId) => ({ shardId, maxHeight: 5 })) }),
    events: async () => [{ body: { $case: "blockConfirmed", value: { maxBlockEventSeqnum: 50 } } }],
  });
  db.transaction(() => putPosition(db, "upstream seqnum", 60));
  db.sqlite.exec("UPDATE channel_slots SET state = 2, seqnum = 55 WHERE kind = 20");
  db.sqlite.exec("UPDATE owner_claims SET is_add = 0, seqnum = 56");
  expect((await compare(undefined, behind)).differences).toEqual([]);
  db.sqlite.exec("UPDATE channel_slots SET seqnum = 49 WHERE kind = 20");
  expect((await compare(undefined, behind)).differences).toMatchObject([{ key: "books", extra: [] }]);
});
