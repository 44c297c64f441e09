import { expect, test } from "bun:test";
import { readTotals } from "../../../src/db/index/counts/totals.ts";
import type { RelayedOp } from "../../../src/ingest/relayed-op.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { registerEvent, rentEvent, signerEvent, transferEvent } from "../../support/events.ts";
import { makeSigner, makeWallet } from "../../support/messages.ts";
import { startTestNode } from "../../support/node.ts";
import { fname } from "../../support/records.ts";

const [first, second] = ["first", "second"].map((seed) => makeWallet(seed).address) as [
  Uint8Array,
  Uint8Array,
];
test("an event and a proof that are repeated are duplicates, and another event at the same place is a conflict", () => {
  using node = startTestNode();
  const rent = rentEvent(1, 1, { block: 13 });
  expect([rent, rent, rentEvent(1, 2, { block: 13 })].map((event) => node.ingestEvent(event))).toEqual([
    "ok",
    "bad_request.duplicate",
    "bad_request.conflict",
  ]);
  const [early, late] = [fname(1, "one", 10), fname(1, "one", 5)];
  expect([early, early, late, late, early].map((proof) => node.ingest(proof))).toEqual([
    "ok",
    "bad_request.duplicate",
    "ok",
    "bad_request.duplicate",
    "bad_request.conflict",
  ]);
});

const put = (event: OnChainEvent): RelayedOp => ({
  kind: "onChainEvent",
  event: OnChainEvent.encode(event).finish(),
  happenedAt: 0,
});
const remove = (ref: OnChainEvent): RelayedOp => ({ kind: "removeOnChainEvent", ref, happenedAt: 0 });

test("fids and on-chain events are counted once each, whatever is repeated, replaced and removed", () => {
  using node = startTestNode();
  const totalsAfter = (op: RelayedOp) => {
    node.relay([op]);
    const { fids, on_chain_events: events } = readTotals(node.db);
    const rowsOf = (table: string) =>
      node.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n;
    expect([rowsOf("fids"), rowsOf("on_chain_events")]).toEqual([fids, events]);
    return [fids, events];
  };
  const register = registerEvent(1, first, { block: 10 });
  const transfer = transferEvent(1, first, second, { block: 11 });
  const key = signerEvent(1, makeSigner("key").publicKey, { block: 12 });
  expect(totalsAfter(put(register))).toEqual([1, 1]);
  expect(totalsAfter(put(register))).toEqual([1, 1]);
  expect(totalsAfter(put(registerEvent(1, second, { block: 10 })))).toEqual([1, 1]);
  expect(totalsAfter(put(transfer))).toEqual([1, 2]);
  expect(totalsAfter(put(key))).toEqual([1, 3]);
  expect(totalsAfter(put(rentEvent(2, 1, { block: 13 })))).toEqual([1, 4]);
  expect(totalsAfter(put(registerEvent(2, first, { block: 14 })))).toEqual([2, 5]);
  expect(totalsAfter(remove(key))).toEqual([2, 4]);
  expect(totalsAfter(remove(key))).toEqual([2, 4]);
  expect(totalsAfter(remove(register))).toEqual([2, 3]);
  expect(totalsAfter(remove(transfer))).toEqual([1, 2]);
  expect(totalsAfter(remove(rentEvent(2, 1, { block: 13 })))).toEqual([1, 1]);
});
