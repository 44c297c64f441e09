import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { audienceOf, emptyDraft, sendProblems } from "../../../../src/console/web/manage/apps/campaign.ts";
import { charsOf, problemsOf, readFidList } from "../../../../src/console/web/parts/fields.ts";
import { textFault } from "../../../../src/management/fields.ts";

const APP_URL = "https://bread.example";
const draft = { ...emptyDraft(APP_URL), title: "Fresh bread", body: "The oven is hot." };

describe("a list of fids", () => {
  test.each([
    ["", []],
    ["3", [3]],
    ["3, 5 7\n9;11", [3, 5, 7, 9, 11]],
    ["!3 3 03", [3]],
  ])("%p is %p", (text, fids) => {
    expect(readFidList(text).fids).toEqual(fids);
  });

  test("names the first word that is not an fid", () => {
    for (const bad of ["0", "-1", "1.5", "1e3", "0x3", "fid", "99999999999999999"]) {
      const fields = [{ name: "fids", label: "Fids", kind: "fids" }] as const;
      expect(problemsOf(fields, { fids: `3 ${bad} x` }).fids).toStartWith(`“${bad}” is not an fid`);
    }
  });

  test("any fids, however they are separated, are returned once each", () => {
    const fids = fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxLength: 50 });
    fc.assert(
      fc.property(fids, fc.constantFrom(" ", ", ", "\n", ";", "\t,"), (list, separator) => {
        expect(readFidList(list.join(separator))).toEqual({ fids: list, bad: undefined });
      }),
    );
  });
});

describe("a send", () => {
  test("check 27: title and text are counted as the API counts them", () => {
    const text = fc.string({ unit: "binary", maxLength: 140 });
    fc.assert(
      fc.property(text, (title) => {
        const problems = sendProblems({ ...draft, title, body: title }, APP_URL);
        expect(problems.title === undefined).toBe(textFault({ min: 1, max: 32 })(title) === undefined);
        expect(problems.body === undefined).toBe(textFault({ min: 1, max: 128 })(title) === undefined);
      }),
      { numRuns: 500 },
    );
    expect(charsOf("👩‍🍳")).toBe(3);
    expect(sendProblems({ ...draft, title: "🍞".repeat(32) }, APP_URL)).toEqual({});
    expect(sendProblems({ ...draft, title: "🍞".repeat(33) }, APP_URL).title).toBe(
      "1 too many: at most 32 characters.",
    );
  });

  test.each([
    ["http://bread.example/x", "An https URL."],
    ["https://other.example/x", "Clients only open pages on the app's host: bread.example."],
    ["https://bread.example:8443/", "Clients only open pages on the app's host: bread.example."],
    ["", "An https URL."],
  ])("to %p has a problem", (target_url, problem) => {
    expect(sendProblems({ ...draft, target_url }, APP_URL)).toEqual({ target_url: problem });
  });

  test("to some people names them; an empty list never means everybody", () => {
    const some = { ...draft, audience: "some" as const };
    expect(sendProblems(some, APP_URL).target_fids).toBe("Name at least one fid.");
    expect(audienceOf(some, sendProblems(some, APP_URL))).toBeUndefined();
    const named = { ...some, target_fids: "5 3", exclude_fids: "3", following_fid: "9" };
    expect(audienceOf(named, sendProblems(named, APP_URL))).toEqual({
      target_fids: [5, 3],
      exclude_fids: [3],
      following_fid: 9,
    });
    expect(audienceOf({ ...named, audience: "everyone" }, {})).toEqual({
      exclude_fids: [3],
      following_fid: 9,
    });
  });
});
