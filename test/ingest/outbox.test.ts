import { expect, test } from "bun:test";
import { eventsAfter, markPublished, outboxBacklog } from "../../src/db/index/log/outbox.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import {
  type CastAddBody,
  FarcasterNetwork,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { inWords, takeEvents } from "../support/outbox.ts";
import { cast, hashBytes, link, signed, uncast, unlink } from "../support/records.ts";
import { expectOk } from "../support/result.ts";

const NOW = DEFAULT_TIMESTAMP;

function startNode() {
  const node = startTestNode();
  node.ingestAll(accountRecords(1));
  return node;
}

test("an event has the times at which it happened and was applied, and the thread of its cast", () => {
  using node = startNode();
  const root = replyTo({ $case: "parentUrl", value: "https://a.example" }, "root");
  const middle = replyTo(below(root), "middle");
  const leaf = replyTo(below(middle), "leaf");
  node.merge([root, middle, leaf]);
  node.clock.advanceSecs(60);
  node.merge([uncast(1, leaf, NOW + 30), uncast(1, root, NOW + 40), uncast(1, middle, NOW + 50)]);
  const rows = takeEvents(node.db).map((event) => [
    inWords(event),
    event.happenedAt - DEFAULT_NOW_SECS,
    event.appliedAt - DEFAULT_NOW_SECS,
    event.root?.hash ? Buffer.from(event.root.hash).toString("hex") : null,
    event.root?.parentUrl,
  ]);
  const rootHash = hashBytes(root).toString("hex");
  expect(rows).toEqual([
    ["cast.created 1 root", 0, 0, null, "https://a.example"],
    ["cast.created 1 middle", 0, 0, rootHash, "https://a.example"],
    ["cast.created 1 leaf", 0, 0, rootHash, "https://a.example"],
    ["cast.deleted 1 leaf", 30, 60, rootHash, "https://a.example"],
    ["cast.deleted 1 root", 40, 60, null, "https://a.example"],
    ["cast.deleted 1 middle", 50, 60, rootHash, null],
  ]);
});

test("a record that was rolled back leaves no event, and the other records leave theirs once", () => {
  using node = startNode();
  node.db.sqlite.exec(
    `CREATE TRIGGER poison BEFORE INSERT ON notifications BEGIN SELECT RAISE(ABORT, 'poison'); END`,
  );
  let notifications = 0;
  const engine = createIngestEngine({
    db: node.db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: node.clock,
    onFault: () => undefined,
    onEvents: () => notifications++,
  });
  const records = [cast(1, "a"), link(1, "follow", 2), cast(1, "b"), unlink(1, "follow", 3)];
  engine.apply(records.map((record) => expectOk(decodeRecord(record))));
  expect(takeEvents(node.db).map(inWords)).toEqual(["cast.created 1 a", "cast.created 1 b"]);
  expect(notifications).toBe(2);
});

test("sequence numbers are never reused, also after the outbox was empty", () => {
  using node = startNode();
  const numbers = ["a", "b", "c"].map((text) => {
    node.merge([cast(1, text)]);
    return takeEvents(node.db)[0]?.seq ?? 0;
  });
  expect(numbers[1]).toBe((numbers[0] ?? 0) + 1);
  expect(numbers[2]).toBe((numbers[0] ?? 0) + 2);
  expect(outboxBacklog(node.db)).toEqual({ events: 0, oldestAt: null });
});

test("the backlog is the number of waiting events and the time of the oldest", () => {
  using node = startNode();
  node.merge([cast(1, "a"), cast(1, "b")]);
  node.clock.advanceSecs(10);
  node.merge([cast(1, "c")]);
  expect(outboxBacklog(node.db)).toEqual({ events: 3, oldestAt: DEFAULT_NOW_SECS });
  markPublished(node.db, eventsAfter(node.db, 0, 2).at(-1)?.seq ?? 0);
  expect(outboxBacklog(node.db)).toEqual({ events: 1, oldestAt: DEFAULT_NOW_SECS + 10 });
});

type Parent = NonNullable<CastAddBody["parent"]>;

function replyTo(parent: Parent, text: string): EncodedRecord {
  return signed(1, {
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    body: { $case: "castAddBody", value: { text, parent } },
  });
}

function below(record: EncodedRecord): Parent {
  return { $case: "parentCastId", value: { fid: 1, hash: hashBytes(record) } };
}
