import { beforeEach, expect, test } from "bun:test";
import { OperationEvents } from "../../../src/ingest/hub-log/operation-events.ts";
import { decodeMessage, type SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import { HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { FollowedEvent } from "../../../src/protocol/wire/generated/upstream.ts";
import { fnameProof, rentEvent } from "../../support/events.ts";
import { DEFAULT_NOW_SECS, makeWallet } from "../../support/messages.ts";
import { cast, ensProof, link } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";

const MERGE = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
const PRUNE = HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE;
const REVOKE = HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE;
const PROOF = HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF;
const ON_CHAIN = HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT;

const signed = ({ bytes }: { readonly bytes: Uint8Array }): SignedMessage => expectOk(decodeMessage(bytes));
const [gm, gn, follow] = [signed(cast(1, "gm")), signed(cast(2, "gn")), signed(link(1, "follow", 2))];
const [name, itsSuccessor] = [signed(ensProof(1, "one.eth")), signed(ensProof(2, "one.eth"))];
const fname = fnameProof("one", 1, makeWallet("a").address, DEFAULT_NOW_SECS);
const rent = rentEvent(1, 1, { block: 1 });

let events: OperationEvents;
beforeEach(() => {
  events = new OperationEvents();
});

const taken = () => events.take().map(({ type, fid }) => [type, fid]);
const bodies = () => events.take().map(({ body }) => body && FollowedEvent.decode(body).body);

function everything(): void {
  events.removed("pruned", gn);
  events.removed("revoked", gm);
  events.removed("displaced", gn);
  events.transferred(fname, undefined);
  events.happenedOnChain(rent);
  events.merged(follow);
}

test("an operation is reported as its event on the chain, its transfer, its merge, the revokes and the prunes", () => {
  events.startTransaction(true);
  everything();
  events.endOperation();
  expect(taken()).toEqual([
    [ON_CHAIN, 1],
    [PROOF, 1],
    [MERGE, 1],
    [REVOKE, 1],
    [PRUNE, 2],
  ]);
  const merge = bodies()[2];
  expect(merge?.$case === "merge" && merge.value.deletedMessages).toHaveLength(1);
});

test("an operation reports nothing of the one before it", () => {
  events.startTransaction(true);
  everything();
  events.endOperation();
  const before = taken();
  events.endOperation();
  expect(taken()).toEqual(before);
});

test("without a transaction, and in one that is not logged, there are no events", () => {
  for (const start of [() => {}, () => events.startTransaction(false)]) {
    start();
    everything();
    events.endOperation();
    expect([events.isOn, taken()]).toEqual([false, []]);
  }
});

test("a transaction has nothing of one that was rolled back, be it amid an operation", () => {
  events.startTransaction(true);
  everything();
  events.endOperation();
  everything();
  events.startTransaction(true);
  events.endOperation();
  events.removed("compacted", follow);
  events.endOperation();
  expect(taken()).toEqual([]);
});

test("a link that a compact state removes is a revoke if the same transaction has merged it", () => {
  events.startTransaction(true);
  events.merged(follow);
  events.endOperation();
  events.removed("compacted", follow);
  events.removed("compacted", signed(link(1, "follow", 3)));
  events.endOperation();
  expect(taken()).toEqual([
    [MERGE, 1],
    [REVOKE, 1],
  ]);
});

test("a proof in a message is reported as a proof, with the one that it replaces, and its removal as one", () => {
  events.startTransaction(true);
  events.removed("displaced", name);
  events.merged(itsSuccessor);
  events.endOperation();
  events.removed("pruned", itsSuccessor);
  events.endOperation();
  expect(taken()).toEqual([
    [PROOF, 2],
    [PROOF, 2],
  ]);
  const [replaced, removed] = bodies().map((body) => (body?.$case === "proofs" ? body.value : undefined));
  expect([replaced?.proofMessage, replaced?.deletedProofMessage].map((one) => one !== undefined)).toEqual([
    true,
    true,
  ]);
  expect([removed?.proof, removed?.deletedProof].map((one) => one !== undefined)).toEqual([false, true]);
});
