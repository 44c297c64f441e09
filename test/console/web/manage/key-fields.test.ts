import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ApiKey,
  draftOfKey,
  emptyKeyDraft,
  keyChanges,
  keyProblems,
  keyValues,
} from "../../../../src/console/web/manage/keys/key-fields.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const key: ApiKey = {
  object: "api_key",
  owner_fid: 3,
  updated_at: 1,
  api_key_id: "k",
  name: "site",
  description: null,
  prefix: "svc_1",
  scopes: ["read", "push"],
  app_id: "app",
  active: true,
  inactive_reason: null,
  units_per_minute: 1000,
  writes_per_minute: 10,
  created_at: 1,
  expires_at: 1_800_000_123,
  last_used_at: null,
  secrets: [],
};

describe("the form of an API key", () => {
  test("without anything but a name asks for a key that reads, without an end, with the node's limits", () => {
    expect(keyValues({ ...emptyKeyDraft, name: "bot" })).toEqual({
      name: "bot",
      description: null,
      scopes: ["read"],
      app_id: null,
      expires_at: null,
      units_per_minute: null,
      writes_per_minute: null,
    });
  });

  test("accepts a last day, until it ends, and refuses a past or invalid one", () => {
    const ends = keyValues({ ...emptyKeyDraft, expires_at: "2027-01-31" }).expires_at ?? 0;
    expect(new Date(ends * 1000)).toEqual(new Date(2027, 1, 1));
    const problemOf = (day: string) => keyProblems({ ...emptyKeyDraft, expires_at: day }, NOW_MS).expires_at;
    expect(problemOf("")).toBeUndefined();
    expect(problemOf("2026-11-23")).toBeUndefined();
    for (const day of ["2026-11-20", "2027-02-30", "soon"])
      expect(problemOf(day)).toBe("A day in the future, or empty.");
  });

  test("names the field that is wrong", () => {
    const draft = {
      ...emptyKeyDraft,
      name: "",
      scopes: [],
      units_per_minute: "0",
      writes_per_minute: "1.5",
    };
    expect(Object.keys(keyProblems(draft, NOW_MS)).toSorted()).toEqual([
      "name",
      "scopes",
      "units_per_minute",
      "writes_per_minute",
    ]);
  });

  test("sends an app only for keys that may push", () => {
    const draft = { ...emptyKeyDraft, app_id: "app" };
    expect(keyValues(draft).app_id).toBeNull();
    expect(keyValues({ ...draft, scopes: ["push"] }).app_id).toBe("app");
  });

  test("of a key that exists changes nothing by itself, whatever second it ends at", () => {
    const secs = fc.integer({ min: 1_700_000_000, max: 4_000_000_000 });
    fc.assert(
      fc.property(fc.option(secs), (expires_at) => {
        const one = { ...key, expires_at };
        expect(keyChanges(one, draftOfKey(one))).toEqual({});
      }),
    );
  });

  test("sends what was changed: null where a field was emptied", () => {
    const draft = { ...draftOfKey(key), name: "shop", units_per_minute: "", expires_at: "" };
    expect(keyChanges(key, draft)).toEqual({ name: "shop", units_per_minute: null, expires_at: null });
  });
});
