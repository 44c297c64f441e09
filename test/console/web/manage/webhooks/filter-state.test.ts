import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  fieldsOf,
  fromStream,
  fromSubscription,
  problemNamed,
  toSubscription,
  withExclusion,
} from "../../../../../src/console/web/manage/webhooks/filter-state.ts";
import { readFilters } from "../../../../../src/console/web/stream/filters.ts";
import { eventKinds } from "../../../../../src/webhooks/subscription-schema.ts";
import { someSubscription } from "../../../../support/subscriptions.ts";

const stateOf = (value: unknown) => {
  const read = fromSubscription(value);
  if ("problem" in read) throw new Error(read.problem);
  return read.state;
};

test("check 29: a subscription is the same after the builder has read and written it, also as JSON", () => {
  fc.assert(
    fc.property(someSubscription, (subscription) => {
      const state = stateOf(JSON.parse(JSON.stringify(subscription)));
      const written = toSubscription(state);
      expect(written).toEqual({ subscription: subscription as never });
      expect(stateOf(JSON.parse(JSON.stringify("subscription" in written && written.subscription)))).toEqual(
        state,
      );
      // Each kind is in one group.
      const kinds = state.flatMap((group) => group.kinds);
      expect(new Set(kinds).size).toBe(kinds.length);
    }),
    { numRuns: 200 },
  );
});

test("the builder has every kind of event, and each filter of it", () => {
  for (const { kind, filters } of eventKinds) {
    const ofForm = fieldsOf([kind]).map(({ name }) =>
      name === "author_fids" && !filters.includes("author_fids") ? "fids" : name,
    );
    expect(["match", ...ofForm].sort()).toEqual([...filters].sort());
  }
});

test("a form has the score of a kind, and the exclusions of the whole subscription", () => {
  const subscription = {
    "cast.created": { minimum_author_score: 0.5 },
    "cast.deleted": {},
    "follow.created": {},
    exclude: { bans: true, fids: [3] },
  };
  const state = stateOf(subscription);
  expect(state.map(({ kinds }) => kinds)).toEqual([["cast.created"], ["cast.deleted", "follow.created"]]);
  expect(toSubscription(state)).toEqual({ subscription });
  expect(toSubscription(state.slice(1))).toMatchObject({ subscription: { exclude: subscription.exclude } });
  expect(fromSubscription({ exclude: {} })).toHaveProperty("problem");
  for (const exclude of [[], { fids: ["3"] }, { bans: 1 }, { users: [3] }])
    expect(fromSubscription({ ...subscription, exclude })).toHaveProperty("problem");
  const other = withExclusion(state, { fids: [4], bans: false }, undefined);
  expect(toSubscription(other)).toEqual({
    subscription: { ...subscription, exclude: { fids: [4], bans: false } },
  });
  const { exclude: _, ...rest } = subscription;
  expect(toSubscription(withExclusion(other, {}, undefined))).toEqual({ subscription: rest });
  expect(toSubscription(withExclusion(other, {}, "mir"))).toMatchObject({
    problems: [{ group: 0, field: "exclude_fids" }],
  });
  expect(withExclusion(withExclusion(state, {}, "mir"), subscription.exclude, "")).toEqual(state);
  const [score] = fromStream(readFilters("?exclude_fids=3,4&minimum_author_score=0.5&kinds=cast.created"));
  expect(score).toMatchObject({ exclude: { fids: [3, 4] }, values: { minimum_author_score: ["0.5"] } });
});

test("kinds with the same filter share a form", () => {
  const filter = { text: "(?i)bread", author_fids: [1, 2] };
  expect(
    stateOf({ "cast.created": filter, "follow.created": { fids: [1, 2] }, cast_deleted: filter }),
  ).toEqual([
    {
      kinds: ["cast.created", "cast.deleted"],
      match: undefined,
      values: { text: ["(?i)bread"], author_fids: ["1", "2"] },
    },
    { kinds: ["follow.created"], match: undefined, values: { author_fids: ["1", "2"] } },
  ]);
});

test("a form with a text that is not a value yet states no subscription, and names its field", () => {
  const typed = { author_fids: "mira", parent_urls: "cof" };
  const written = toSubscription([
    { kinds: ["cast.created"], match: undefined, values: { author_fids: ["3"] }, typed },
  ]);
  expect(written).toEqual({
    problems: [
      { group: 0, field: "author_fids", message: expect.stringContaining("“mira” is not in the filter") },
      { group: 0, field: "parent_urls", message: expect.stringContaining("“cof” is not in the filter") },
    ],
  });
});

test("what the API would refuse is named at its field", () => {
  const group = { kinds: ["follow.created" as const], match: undefined, values: { text: ["a"] } };
  expect(toSubscription([group])).toEqual({
    problems: [
      {
        group: 0,
        field: "text",
        message: "follow.created has no such filter: clear it, or give follow.created a filter of its own",
      },
    ],
  });
  expect(toSubscription([{ ...group, kinds: [], values: { author_fids: ["x"] } }])).toMatchObject({
    problems: [{ field: undefined }, { field: "author_fids", message: "x is not an fid or @name" }],
  });
  const twice = { ...group, values: {} };
  expect(toSubscription([twice, twice])).toMatchObject({ problems: [{ group: 1, field: undefined }] });
});

test("the words of the API find their field", () => {
  const state = stateOf({ "follow.created": { fids: [1] }, "cast.created": { text: "(" } });
  expect(problemNamed(state, "subscription.cast.created.text is not a valid RE2 regular expression")).toEqual(
    {
      group: 1,
      field: "text",
      message: "is not a valid RE2 regular expression",
    },
  );
  expect(
    problemNamed(state, "every entry of subscription.follow.created.fids must be an integer"),
  ).toMatchObject({
    group: 0,
    field: "author_fids",
  });
  for (const other of [
    "url must be https",
    "subscription.user.created.match is wrong",
    "subscription.cast.created.x y",
  ])
    expect(problemNamed(state, other)).toBeUndefined();
});

test("anything that is not a subscription is refused with a sentence, and nothing throws", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const read = fromSubscription(value);
      if ("problem" in read) expect(read.problem).toMatch(/\.$/);
      else toSubscription(read.state);
    }),
  );
  for (const bad of [
    null,
    [],
    "x",
    {},
    { "cast.created": null },
    { "cast.created": { fids: [1] } },
    { cast: {} },
  ])
    expect(fromSubscription(bad)).toHaveProperty("problem");
  for (const filter of [
    { text: 1 },
    { author_fids: ["1"] },
    { author_fids: 1 },
    { parent_urls: [1] },
    { match: "some" },
  ])
    expect(fromSubscription({ "cast.created": filter })).toHaveProperty("problem");
  const both = { "cast.created": {}, cast_created: { text: "a" } };
  expect(fromSubscription(both)).toEqual({ problem: "cast.created appears twice." });
});

test("the filters of a stream become a form with the kinds that have them", () => {
  const formOf = (query: string) => fromStream(readFilters(query));
  expect(formOf("")).toEqual([{ kinds: ["cast.created"], match: undefined, values: {} }]);
  expect(formOf("?text=bread")).toEqual([
    { kinds: ["cast.created", "cast.deleted"], match: undefined, values: { text: ["bread"] } },
  ]);
  expect(formOf("?kinds=follow.created&fids=3,4&match=any")).toEqual([
    { kinds: ["follow.created"], match: "any", values: { author_fids: ["3", "4"] } },
  ]);
});
