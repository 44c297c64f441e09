import { expect, test } from "bun:test";
import { filterParams } from "../../src/api/operations/stream/parameters.ts";
import { EVENT_KINDS, FILTER_FIELDS } from "../../src/console/web/stream/filters.ts";
import { eventKinds } from "../../src/webhooks/subscription-schema.ts";

/** Parameters of the API without a field of their own: the kinds have boxes, the match a choice. */
const WITHOUT_FIELD = ["kinds", "match"];

test("the page of the stream has a field for each filter of the API, and each kind of event", () => {
  const params = Object.keys(filterParams(1)).filter((name) => !WITHOUT_FIELD.includes(name));
  expect(FILTER_FIELDS.map(({ name }) => name).sort()).toEqual(params.sort());
  expect([...EVENT_KINDS].sort()).toEqual(eventKinds.map(({ kind }) => kind).sort());
});
