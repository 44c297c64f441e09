import { expect, test } from "bun:test";
import { openBulkBuild } from "../../../src/db/index/bulk/open-bulk-build.ts";
import { packMessages } from "../../../src/db/index/bulk/packed-messages.ts";
import { firstCastId, nextCastId, timestampOfCastId } from "../../../src/db/index/cast-id.ts";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { splitEncoded } from "../../../src/db/index/messages/split.ts";
import { hasFreeCastId } from "../../../src/db/index/project/casts.ts";
import { messageHash } from "../../../src/protocol/message/message-hash.ts";
import { encodeMessage, type SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import { toUnixSecs } from "../../../src/protocol/time.ts";
import { FarcasterNetwork, MessageData, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner, startTestNode } from "../../support/node.ts";
import { hashFrom, insertCast } from "../../support/read-model.ts";
import { link } from "../../support/records.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";

const AT = 1_700_000_000;
const IDS = 65_536;
const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

test("65,536 tries visit every id of the second", () => {
  const hash = hashFrom("cast");
  const ids = new Set<number>();
  let id = firstCastId(AT, hash);
  for (let tries = 0; tries < IDS; tries++) {
    ids.add(id);
    id = nextCastId(id, hash);
  }
  expect(ids.size).toBe(IDS);
  expect([...ids].every((one) => timestampOfCastId(one) === AT)).toBe(true);
});

/** Takes ids of a second with rows of missing casts, but for the last `free`. */
function takeIds(db: IndexDatabase, at: number, free: number): void {
  db.sqlite.run(
    `WITH RECURSIVE n (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < ${IDS - 1 - free})
     INSERT INTO missing_casts (id, hash, fid) SELECT ${at * IDS} + id, randomblob(20), 1 FROM n`,
  );
}

test("a second has ids for 65,536 casts, live or missing", () => {
  using db = openIndexInMemory();
  const cast = (n: number) => ({ fid: 1, at: AT, hash: hashFrom(`${n}`), body: { text: "" } });
  takeIds(db, AT, 20);
  db.transaction(() => {
    for (let n = 0; n < 20; n++) insertCast(db, cast(n));
  });
  expect(hasFreeCastId(db, 1, AT, cast(20).hash)).toBe(false);
  expect(hasFreeCastId(db, 1, AT + 1, cast(20).hash)).toBe(true);
});

test("a cast of a full second is refused for good, and changes nothing", () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(1));
  takeIds(node.db, toUnixSecs(DEFAULT_TIMESTAMP), 1);
  const cast = (text: string) => signedCast(1, text, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP });
  const outcomes = ["first", "second", "third"].map((text) => node.ingestMessage(cast(text)));
  expect(outcomes).toEqual(["ok", "bad_request.prunable", "bad_request.prunable"]);
  expect(node.db.sqlite.query("SELECT count(*) AS n FROM casts").get()).toEqual({ n: 1 });
  // Other messages have no such id.
  expect(node.ingest(link(1, "follow", 2, DEFAULT_TIMESTAMP))).toBe("ok");
});

test("a bulk build leaves out the casts that a full second has no ids for, and replies to them name missing casts", () => {
  using built = temporaryIndex();
  const bulk = openBulkBuild(built.db);
  const casts = Array.from({ length: IDS + 3 }, (_, n) => unsignedCast(1 + n, DEFAULT_TIMESTAMP));
  const idOf = ({ hash }: SignedMessage) => firstCastId(toUnixSecs(DEFAULT_TIMESTAMP), hash);
  // Casts get their ids in this order, so the last ones that share an id get none.
  const last = casts.toSorted((a, b) => idOf(a) - idOf(b) || Buffer.compare(a.hash, b.hash)).slice(-60);
  const replies = last.map(({ data, hash }) =>
    unsignedCast(1, DEFAULT_TIMESTAMP + 1, { fid: data.fid, hash }),
  );
  const messages = [...casts, ...replies];
  for (let at = 0; at < messages.length; at += 5000) {
    const page = messages.slice(at, at + 5000);
    bulk.append([packMessages(page.map((one) => splitEncoded(encodeMessage(one), NETWORK)))]);
  }
  while (bulk.step()) {}
  const count = (table: string) => built.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get();
  expect(count("casts")).toEqual({ n: IDS + 60 });
  expect(count("missing_casts")).toEqual({ n: 3 });
  expect(count("casts JOIN missing_casts m ON m.id = parent_id AND m.hash = parent_hash")).toEqual({ n: 3 });
});

/** A cast with an empty signature; a bulk build gets only verified messages, so it does not check them. */
function unsignedCast(
  fid: number,
  timestamp: number,
  parent?: { fid: number; hash: Uint8Array },
): SignedMessage {
  const data = MessageData.fromPartial({
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    fid,
    timestamp,
    network: NETWORK,
    body: {
      $case: "castAddBody",
      value: { text: "gm", parent: parent && { $case: "parentCastId", value: parent } },
    },
  });
  const dataBytes = MessageData.encode(data).finish();
  const sealed = {
    hashScheme: 1,
    signatureScheme: 1,
    signature: new Uint8Array(64),
    signer: new Uint8Array(32),
  };
  return { data, dataBytes, hash: messageHash(dataBytes), ...sealed };
}
