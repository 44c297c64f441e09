import { expect, test } from "bun:test";
import { ChangeTracker, type TrackedChange } from "../../../src/ingest/merge/change-tracker.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { bio, cast } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";

const signed = ({ bytes }: { readonly bytes: Uint8Array }) => expectOk(decodeMessage(bytes));
const [first, second, third] = ["first", "second", "third"].map((text, at) =>
  signed(bio(1, text, 1000 + at)),
) as [ReturnType<typeof signed>, ReturnType<typeof signed>, ReturnType<typeof signed>];
const CHANNEL: TrackedChange = {
  change: { kind: "channel.created", channelId: "0x01", id: "a", fid: 1, actorFid: null, timestamp: 1 },
  reference: "a",
};

function trackAll(tracker: ChangeTracker): void {
  tracker.trackRemoved(first, first.dataBytes, undefined);
  tracker.trackAdded(second, second.dataBytes);
  tracker.trackUserCreated(1);
  tracker.trackUserUpdated(2);
  tracker.trackChannel(CHANNEL);
}

const found = (tracker: ChangeTracker) => ({
  slots: tracker.slots().map(({ before, after }) => [before?.message.hash, after?.message.hash]),
  created: [...tracker.createdUsers],
  updated: [...tracker.updatedUsers],
  channels: [...tracker.channels],
});
const NOTHING = { slots: [], created: [], updated: [], channels: [] };

test("nothing is tracked before the first operation", () => {
  const tracker = new ChangeTracker();
  trackAll(tracker);
  expect(found(tracker)).toEqual(NOTHING);
});

test("the changes of an operation are known until the next one starts", () => {
  const tracker = new ChangeTracker();
  tracker.start(false);
  trackAll(tracker);
  expect(found(tracker)).toEqual({
    slots: [[first.hash, second.hash]],
    created: [1],
    updated: [2],
    channels: [CHANNEL],
  });
  tracker.start(false);
  expect(found(tracker)).toEqual(NOTHING);
});

test("an operation that is history has no changes", () => {
  const tracker = new ChangeTracker();
  tracker.start(true);
  trackAll(tracker);
  expect(found(tracker)).toEqual(NOTHING);
});

test("a slot changes from what it held first to what it holds last, if that is another message", () => {
  const tracker = new ChangeTracker();
  const slotsAfter = (steps: readonly (readonly ["added" | "removed", typeof first])[]) => {
    tracker.start(false);
    for (const [how, message] of steps)
      if (how === "added") tracker.trackAdded(message, message.dataBytes);
      else tracker.trackRemoved(message, message.dataBytes, undefined);
    return found(tracker).slots;
  };
  const other = signed(cast(1, "of another slot"));
  expect(slotsAfter([["added", first]])).toEqual([[undefined, first.hash]]);
  expect(slotsAfter([["removed", first]])).toEqual([[first.hash, undefined]]);
  expect(
    slotsAfter([
      ["added", first],
      ["removed", first],
    ]),
  ).toEqual([]);
  expect(
    slotsAfter([
      ["removed", first],
      ["added", second],
      ["removed", second],
      ["added", first],
    ]),
  ).toEqual([]);
  expect(
    slotsAfter([
      ["removed", first],
      ["added", other],
      ["added", second],
      ["removed", second],
      ["added", third],
    ]),
  ).toEqual([
    [first.hash, third.hash],
    [undefined, other.hash],
  ]);
});
