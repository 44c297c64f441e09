import { expect, test } from "bun:test";
import { blockOfEvent, firstEventId, MAX_EVENTS_OF_BLOCK } from "../../src/protocol/hub-event-id.ts";

test("the id of a hub event is its block shifted by 14 bits plus its position, also above 32 bits", () => {
  expect(firstEventId(3)).toBe(49_152);
  for (const block of [0, 1, 2 ** 18, 2 ** 38]) {
    const first = firstEventId(block);
    expect(BigInt(first)).toBe(BigInt(block) << 14n);
    for (const id of [first, first + 1, first + MAX_EVENTS_OF_BLOCK]) expect(blockOfEvent(id)).toBe(block);
    expect(blockOfEvent(first + MAX_EVENTS_OF_BLOCK + 1)).toBe(block + 1);
  }
});
