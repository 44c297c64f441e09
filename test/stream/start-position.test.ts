import { expect, test } from "bun:test";
import { resolveStart } from "../../src/stream/position.ts";
import { startTestNode } from "../support/node.ts";

test("a stream from a time without events begins at the end of the log as it was read", () => {
  // Events that are synced before the stream has joined are later ones, and belong to it.
  using node = startTestNode();
  const at = { logId: "00000000000000000000000000000000", seq: 0, blocks: new Map() };
  const ends = { oldest: at, head: at };
  const start = resolveStart(node.db, ends, { from: { kind: "since", unixSecs: 0 }, skipsGap: true }, 0);
  expect(start.ok && start.value.position).toEqual(at);
});
