import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  describeFilters,
  EVENT_KINDS,
  FILTER_FIELDS,
  problemOf,
  readFilters,
  type StreamFilters,
  splitValues,
  writeFilters,
} from "../../../../src/console/web/stream/filters.ts";
import { isChannelEvent } from "../../../../src/protocol/event-kind.ts";

const anyText = fc.string({ unit: "grapheme-composite", minLength: 1, maxLength: 20 });

const anyFilters: fc.Arbitrary<StreamFilters> = fc.record({
  kinds: fc.subarray([...EVENT_KINDS]),
  match: fc.constantFrom("all", "any"),
  values: fc
    .subarray([...FILTER_FIELDS])
    .chain((fields) =>
      fc.tuple(
        ...fields.map(({ name, values }) =>
          fc
            .uniqueArray(anyText, {
              minLength: 1,
              maxLength: values === "expression" || values === "score" ? 1 : 4,
            })
            .map((items) => [name, items] as const),
        ),
      ),
    )
    .map((entries) => Object.fromEntries(entries)),
});

/** `fids` is a filter of its own with channel events only; with other kinds it is a spelling of `author_fids`. */
const filters = anyFilters.map(({ kinds, match, values }): StreamFilters => {
  const { fids, ...others } = values;
  const isOfChannels = kinds.length > 0 && kinds.every(isChannelEvent);
  return { kinds, match, values: fids && isOfChannels ? { ...others, fids } : others };
});

describe("filters of the stream", () => {
  test("are read back from the URL as they were written, commas and spaces included", () => {
    fc.assert(
      fc.property(filters, (all) => {
        expect(readFilters(`?${writeFilters(all)}`)).toEqual(all);
      }),
    );
  });

  test("are read from any query string without a fault; unknown parameters and kinds are left out", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = readFilters(text);
        expect(readFilters(writeFilters(read))).toEqual(read);
      }),
    );
    expect(
      readFilters("?kinds=cast.created,nonsense&fids=1,2&author_fids=2,3&cursor=x&text=%E0%A4%A"),
    ).toEqual({
      kinds: ["cast.created"],
      match: "all",
      values: { fids: ["1", "2"], author_fids: ["2", "3"], text: ["%E0%A4%A"] },
    });
  });

  test("are words for a visitor", () => {
    expect(describeFilters(readFilters(""))).toBe("All events");
    expect(describeFilters(readFilters("kinds=cast.created&text=gm&mentioned_fids=3&match=any"))).toBe(
      "cast.created, filtered by mentions or text (re2)",
    );
  });
});

describe("what is typed into a filter", () => {
  const field = (name: string) => FILTER_FIELDS.find((one) => one.name === name)!;

  test("is split at commas and white space; URLs keep their commas, an expression is one value", () => {
    expect(splitValues(field("author_fids"), " 1, @tove\n3 ")).toEqual(["1", "@tove", "3"]);
    expect(splitValues(field("parent_urls"), "https://a.example/x,y  https://b.example")).toEqual([
      "https://a.example/x,y",
      "https://b.example",
    ]);
    expect(splitValues(field("text"), "fresh, bread")).toEqual(["fresh, bread"]);
    expect(splitValues(field("text"), "  ")).toEqual([]);
  });

  test("is checked where the form can", () => {
    expect(problemOf(field("author_fids"), "tove")).toContain("not an fid");
    expect(problemOf(field("author_fids"), "@tove.eth")).toBeUndefined();
    expect(problemOf(field("parent_hashes"), "0x12")).toContain("40 hex digits");
    expect(problemOf(field("text"), "(((")).toBeUndefined();
  });
});
