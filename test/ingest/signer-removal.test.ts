import { expect, test } from "bun:test";
import { indexPath } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { signerEvent } from "../support/events.ts";
import { liveHashes } from "../support/live-messages.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord, startTestNode, type TestNode } from "../support/node.ts";
import { hashOf } from "../support/social.ts";

const FID = 1;
const REFUSED = "bad_request.validation_failure";
const signer = accountSigner(FID);
const cast = (n: number) => signedCast(FID, `cast ${n}`, signer, { timestamp: DEFAULT_TIMESTAMP + n });
const record = (n: number) => ({ kind: "message", bytes: cast(n) }) as const;
const key = (block: number, kind: "add" | "remove") =>
  eventRecord(signerEvent(FID, signer.publicKey, { block }, kind));

function startWithAccount(): TestNode {
  const node = startTestNode();
  node.ingestAll(accountRecords(FID));
  return node;
}

/** The numbers of the casts that are there. */
const live = (node: TestNode, upTo: number) => {
  const hashes = new Set(liveHashes(node.db));
  return Array.from({ length: upTo }, (_, n) => n).filter((n) => hashes.has(hashOf(cast(n)).slice(2)));
};

test("within one batch, a key signs until its removal and again from its next addition; what it signed stays", () => {
  using node = startWithAccount();
  const batch = [
    record(0),
    key(900_000, "remove"),
    record(1),
    record(2),
    key(900_001, "add"),
    record(3),
    key(900_002, "remove"),
    record(4),
  ];
  // The writer looks keys up once, so each change has to reach what it remembers.
  expect(node.ingestAll(batch)).toEqual(["ok", "ok", REFUSED, REFUSED, "ok", "ok", "ok", REFUSED]);
  expect(live(node, 5)).toEqual([0, 3]);
  expect(verifyIndex(indexPath(node.dir))).toEqual([]);
});

test("a message that was valid when it was checked is refused if its key was removed before the commit", () => {
  using node = startWithAccount();
  expect(node.ingestMessage(cast(0))).toBe("ok");
  // Checked by now: `merge` gets what the hub's thread has let through.
  const checked = [record(1), record(2)];
  expect(node.ingest(key(900_000, "remove"))).toBe("ok");
  expect(node.merge(checked).map((outcome) => outcome?.code)).toEqual([REFUSED, REFUSED]);
  expect(live(node, 3)).toEqual([0]);
});

test("an older removal that arrives late does not end a key that was added after it", () => {
  using node = startWithAccount();
  expect(node.ingestAll([key(900_001, "add"), record(0), key(900_000, "remove"), record(1)])).toEqual([
    "ok",
    "ok",
    "ok",
    "ok",
  ]);
  expect(live(node, 2)).toEqual([0, 1]);
});
