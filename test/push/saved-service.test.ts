import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createSavedService } from "../../src/push/saved-service.ts";
import { packFids } from "../../src/push/store/fid-list.ts";
import type { SavedKind } from "../../src/push/store/saved-store.ts";
import { ManualClock } from "../support/clock.ts";
import { expectErr, expectOk } from "../support/result.ts";
import { testApp } from "../support/send.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

const APP = "app";
const OWNER = 3;

let state: ReturnType<typeof openStateFile>;
let clock: ManualClock;
let service: ReturnType<typeof createSavedService>;
beforeEach(() => {
  state = openStateFile();
  clock = new ManualClock(1000);
  const { saved } = localStores(state.db, { clock });
  service = createSavedService({
    apps: { get: async (_, appId) => ({ ok: true, value: testApp({ appId }) }) },
    saved,
    clock,
  });
});
afterEach(() => state[Symbol.dispose]());

const save = (kind: SavedKind, body: object) =>
  service.save(OWNER, kind, { app_id: APP, name: "N", ...body });
const refusalOf = async (kind: SavedKind, body: object) => expectErr(await save(kind, body)).message;
const saveSegment = (filter: object) => save("segment", { filter });

describe("a segment", () => {
  test("stores zones under their usual names, and refuses what is none", async () => {
    const { content } = expectOk(await saveSegment({ time_zones: ["europe/paris", "UTC"], added_after: 5 }));
    expect(content.filter).toEqual({ time_zones: ["Europe/Paris", "UTC"], added_after: 5 });
    for (const zone of ["Europe/Nowhere", "+05:30", 7]) {
      expect(await refusalOf("segment", { filter: { time_zones: ["UTC", zone] } })).toContain(
        "must be an IANA time zone",
      );
    }
  });

  test("without zones has no such condition", async () => {
    const { content } = expectOk(await saveSegment({ added_after: 5 }));
    expect(content).toEqual({ name: "N", filter: { added_after: 5 } });
  });

  test("may begin, end, or have both, in this order", async () => {
    for (const filter of [{ added_after: 9 }, { added_before: 9 }, { added_after: 8, added_before: 9 }])
      expect(expectOk(await saveSegment(filter)).content.filter).toEqual(filter);
    for (const added_after of [9, 10])
      expect(await refusalOf("segment", { filter: { added_after, added_before: 9 } })).toBe(
        "filter.added_after must be before filter.added_before",
      );
  });

  test("has opens or no opens as a condition, not both", async () => {
    for (const filter of [{ opened_within_days: 3 }, { not_opened_within_days: 3 }])
      expect(expectOk(await saveSegment(filter)).content.filter).toEqual(filter);
    expect(await refusalOf("segment", { filter: { opened_within_days: 3, not_opened_within_days: 3 } })).toBe(
      "filter has both opened_within_days and not_opened_within_days",
    );
  });

  test("replaces the conditions of an audience by its current ones, with the fids packed", async () => {
    const audience = { targetFids: [], excludeFids: [4], followingFid: null };
    const used = async (segmentId: string | null, appId = APP) =>
      service.withSegment({ appId }, audience, segmentId);
    const { itemId } = expectOk(await saveSegment({ fids: [5, 7], added_after: 5 }));
    expect(expectOk(await used(itemId))).toEqual({
      ...audience,
      segment: { added_after: 5, fids: packFids([5, 7]) },
    });
    await save("segment", { segment_id: itemId, filter: { added_after: 6 } });
    expect(expectOk(await used(itemId))).toEqual({ ...audience, segment: { added_after: 6 } });
    expect(expectOk(await used(null))).toEqual(audience);
    expect(expectErr(await used(itemId, "another")).message).toBe("no such segment");
    const draft = expectOk(await save("draft", { send: {} }));
    expect(expectErr(await used(draft.itemId)).message).toBe("no such segment");
  });
});

test.each([
  ["segment", { filter: { added_after: 5 }, extra: 1 }, 'an unknown key "extra"'],
  ["segment", { filter: { added_after: 5, extra: 1 } }, 'filter has an unknown key "extra"'],
  ["draft", { send: {}, extra: 1 }, 'an unknown key "extra"'],
  ["draft", { send: { extra: 1 } }, 'send has an unknown key "extra"'],
  ["draft", { send: { quiet_hours: { from: "a", to: "b", extra: 1 } } }, 'an unknown key "extra"'],
  ["draft", { send: { variants: [{ extra: 1 }] } }, 'an unknown key "extra"'],
] as const)(
  "a %s with %j is refused: an unknown condition or field would be lost",
  async (kind, body, message) => {
    expect(await refusalOf(kind, body)).toContain(message);
  },
);

test("a text of a draft may be as long as the longest that it is for, and no longer", async () => {
  const title = "x".repeat(256);
  expect(expectOk(await save("draft", { send: { title } })).content.send).toEqual({ title });
  expect(await refusalOf("draft", { send: { title: `${title}x` } })).toContain("at most 256 characters");
});

test("an item keeps its id and the time of its creation when it is replaced", async () => {
  const first = expectOk(await saveSegment({ added_after: 5 }));
  expect(first).toMatchObject({ appId: APP, kind: "segment", createdAt: 1000, updatedAt: 1000 });
  clock.advanceSecs(60);
  const second = expectOk(await save("segment", { segment_id: first.itemId, filter: { added_after: 6 } }));
  expect(second).toMatchObject({ itemId: first.itemId, createdAt: 1000, updatedAt: 1060 });
  expect(expectOk(await service.list(OWNER, "segment", APP))).toEqual([second]);
  expect(await refusalOf("segment", { segment_id: "other", filter: { added_after: 6 } })).toBe(
    "no such segment",
  );
  expect(await refusalOf("draft", { draft_id: first.itemId, send: {} })).toBe("no such draft");
});

test("deletes an item once, and none that a concurrent call has deleted", async () => {
  const { itemId } = expectOk(await saveSegment({ added_after: 5 }));
  const outcomes = await Promise.all([0, 1].map(() => service.delete(OWNER, "segment", itemId)));
  expect(outcomes.map(({ ok }) => ok).sort()).toEqual([false, true]);
  expect(expectOk(await service.list(OWNER, "segment", APP))).toEqual([]);
});

test.each([
  ["draft", { send: {} }, "an app may have at most 100 drafts, of 1 MiB together"],
  ["segment", { filter: { added_after: 5 } }, "an app may have at most 100 segments, of 4 MiB together"],
] as const)("an app has at most a hundred of each kind: %s", async (kind, body, message) => {
  for (let at = 0; at < 100; at++) expectOk(await save(kind, body));
  expect(expectErr(await save(kind, body))).toEqual({ kind: "tooManyRequests", message });
});

test("an app has at most 4 MiB of segments", async () => {
  // Each has 17 characters per fid.
  const fids = Array.from({ length: 100_000 }, (_, at) => 1e15 + at);
  for (let at = 0; at < 2; at++) expectOk(await saveSegment({ fids }));
  expect(await refusalOf("segment", { filter: { fids } })).toContain("of 4 MiB together");
});
