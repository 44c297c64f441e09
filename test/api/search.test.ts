import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { type CastRef, hashesOfCasts } from "../../src/read/hydrate/casts.ts";
import type { TimedKey } from "../../src/read/queries/ordered-page.ts";
import { castSearch } from "../../src/read/queries/search/cast-search.ts";
import { searchQuery } from "../../src/read/queries/search/search-query.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP, signedCast, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { deleteCast, hashFrom, insertCast } from "../support/read-model.ts";
import { hashOf } from "../support/social.ts";

const AT = 1_700_000_000;

function put(db: IndexDatabase, text: string, at = AT, fid = 1) {
  const cast = { fid, at, hash: hashFrom(`${text} ${at} ${fid}`), body: { text } };
  db.transaction(() => insertCast(db, cast));
  return cast;
}

function take(db: IndexDatabase, cast: ReturnType<typeof put>): void {
  db.transaction(() => deleteCast(db, cast));
}

function search(db: IndexDatabase, query: string): string[] {
  return hashesIn(db, castSearch(db, { text: query, limit: 100, after: undefined }).rows);
}

function hashesIn(db: IndexDatabase, rows: readonly CastRef[]): string[] {
  return hashesOfCasts(
    db,
    rows.map(({ id }) => id),
  );
}

function finds(text: string, query: string): boolean {
  using db = openIndexInMemory();
  put(db, text);
  return search(db, query).length === 1;
}

/** Any text that a URL can contain: operators, quotes, NUL, emoji, marks, scripts without spaces. */
const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        '"',
        "*",
        "(",
        ")",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "^",
        "-",
        ":",
        "+",
        "{",
        "text:",
        "\0",
        "\\",
        "'",
        "日本",
        "😀",
        "é",
        "e\u0301",
        "\u0301",
        "a",
        "don't",
        " ",
        "\u3000",
        "\ud800",
        "x".repeat(300),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(" ")),
  fc.array(fc.constantFrom('"', "*", "a", "b", " ", "\0", "語"), { maxLength: 60 }).map((c) => c.join("")),
);

describe("a search query", () => {
  test("is accepted by SQLite for any text", () => {
    using db = openIndexInMemory();
    put(db, "some text of a cast");
    fc.assert(
      fc.property(anyText, (query) => {
        expect(search(db, query).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2000 },
    );
  });

  test("with the maximum number of words is accepted", () => {
    using db = openIndexInMemory();
    put(db, "w1");
    expect(search(db, Array.from({ length: 512 }, (_, n) => `w${n}`).join(" "))).toEqual([]);
    expect(search(db, "w1 ".repeat(341))).toHaveLength(1);
    expect(search(db, "語".repeat(1024))).toEqual([]);
  });

  test("finds every text by each of its words, by all of them, and by a prefix of each", () => {
    const word = fc.oneof(
      fc.stringMatching(/^[a-zA-Z0-9]{1,12}$/),
      fc.constantFrom(
        "don't",
        "Ünïcode",
        "Привет",
        "日本語",
        "안녕하세요",
        "สวัสดี",
        "ملف",
        "e-mail",
        "$DEGEN",
        "#gm!",
        "42",
      ),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), (words) => {
        using db = openIndexInMemory();
        const { hash } = put(db, words.join(" "));
        const found = [`0x${hash.toHex()}`];
        for (const one of words) {
          expect({ one, found: search(db, one) }).toEqual({ one, found });
          expect(search(db, one.toUpperCase())).toEqual(found);
          expect(search(db, `"${one}"`)).toEqual(found);
        }
        expect(search(db, words.toReversed().join(" "))).toEqual(found);
        expect(search(db, `"${words.join(" ")}"`)).toEqual(found);
        for (const one of words.filter((text) => /^[a-z0-9]+$/i.test(text)))
          for (let end = 1; end < one.length; end++) expect(search(db, one.slice(0, end))).toEqual(found);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ["the quick brown fox", "fox quick", true],
    ["the quick brown fox", "quick bro", true],
    ["the quick brown fox", "bro quick", false],
    ["the quick brown fox", "quick zebra", false],
    ["the quick brown fox", '"quick brown"', true],
    ["the quick brown fox", '"brown quick"', false],
    ["the quick brown fox", '"quick bro"', false],
    ["the quick brown fox", '"quick brown" fo', true],
    ["the quick brown fox", 'fox "quick', true],
    ["the quick brown fox", "quick OR zebra", false],
    ["the quick brown fox", "NOT zebra", false],
    ["not a zebra or and", "NOT zebra OR AND", true],
    ["the quick brown fox", "qu*", true],
    ["the quick brown fox", "fox !!! 😀", true],
    ["the quick brown fox", "!!!", false],
    ["the quick brown fox", '"" *', false],
    ["今日は天気がいい", "天気", true],
    ["今日は天気がいい", "気天", false],
    ["今日は天気がいい", "今日 天気", true],
    ["今日は天気がいい", "今天", false],
    ["gm日本frens", "日本", true],
    ["café olé", "cafe", true],
    ["cafe", "CAFÉ", true],
    ["nul\0byte", "nul\0byte", true],
  ])("%p is found by %p: %p", (text, query, found) => {
    expect(finds(text, query)).toBe(found);
  });

  test("is bounded with any number of repetitions of a word, and finds texts with as many", () => {
    const tokens = (query: string) => (searchQuery(query)?.match ?? "").match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
    for (const asked of [
      "語".repeat(1024),
      `"${"the ".repeat(200)}"`,
      `"${"THE thé the Thé ".repeat(60)}"`,
      "語的".repeat(500),
    ])
      expect(tokens(asked)).toBeLessThanOrEqual(6);
    expect(tokens(Array.from({ length: 300 }, (_, n) => `w${n}`).join(" "))).toBe(32);
    expect(tokens(`"${Array.from({ length: 300 }, (_, n) => `w${n}`).join(" ")}"`)).toBe(32);
    expect(tokens(Array.from({ length: 40 }, (_, n) => `"a${n} b"`).join(" "))).toBeLessThanOrEqual(32);
    const laugh = "哈".repeat(20);
    expect(finds(laugh, laugh)).toBe(true);
    expect(finds("gm gm gm gm gm", "gm gm gm gm gm")).toBe(true);
    expect(finds("gm gm gm gm gm", '"gm gm gm gm gm"')).toBe(true);
    expect(finds("gm gm", '"gm gm gm gm gm"')).toBe(false);
  });

  test("is undefined for a text without a word", () => {
    for (const query of ["", "   ", '"', '""', "!?.,", "😀", "\0", "*", "()"])
      expect(searchQuery(query)).toBeUndefined();
  });
});

describe("a search result", () => {
  test("is live: a removed cast is never returned", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("gm", "gm frens", "frens"), fc.boolean())), (casts) => {
        using db = openIndexInMemory();
        const made = casts.map(([text, stays], n) => ({ stays, cast: put(db, text, AT + n) }));
        for (const { stays, cast } of made) if (!stays) take(db, cast);
        const expected = made
          .filter(({ stays, cast }) => stays && cast.body.text.includes("gm"))
          .map(({ cast }) => `0x${cast.hash.toHex()}`);
        expect(search(db, "gm")).toEqual(expected.toReversed());
      }),
      { numRuns: 50 },
    );
  });

  test("is newest first, and pages of any size concatenate to the whole, with inserts and removes between pages", () => {
    using db = openIndexInMemory();
    const casts = Array.from({ length: 40 }, (_, n) => put(db, `gm ${n}`, AT + (n >> 1), n));
    const whole = search(db, "gm");
    expect(whole).toHaveLength(40);
    for (const limit of [1, 3, 100]) {
      const seen: string[] = [];
      let after: TimedKey | undefined;
      const added: ReturnType<typeof put>[] = [];
      for (;;) {
        const page = castSearch(db, { text: "gm", limit, after });
        seen.push(...hashesIn(db, page.rows));
        if (page.cursor === null) break;
        after = castSearch.cursor.decode(page.cursor);
        added.push(put(db, "gm too late", AT + 1000 + added.length, limit));
      }
      expect(seen).toEqual(whole);
      for (const one of added) take(db, one);
    }
    const [first] = casts;
    if (first) take(db, first);
    expect(search(db, "gm")).toHaveLength(39);
  });
});

describe("/cast/search", () => {
  let api: TestApi;
  const casts = Array.from({ length: 7 }, (_, n) =>
    signedCast(1, `gm number ${n}`, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP + n }),
  );

  beforeAll(async () => {
    api = await startTestApi();
    api.node.ingestAll(accountRecords(1));
    for (const message of casts) expect(api.node.ingestMessage(message)).toBe("ok");
  });

  afterAll(() => api[Symbol.asyncDispose]());

  test("pages concatenate to the whole, without removed casts", async () => {
    const newestFirst = casts.map(hashOf).toReversed();
    for (const limit of [1, 3, 100]) {
      const found = await readAllPages<{ hash: string }>(api, "/cast/search?q=gm", "casts", limit);
      expect(found.map(({ hash }) => hash)).toEqual(newestFirst);
    }
    const [gone] = newestFirst;
    const remove = signMessage(
      {
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        fid: 1,
        timestamp: DEFAULT_TIMESTAMP + 10,
        body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(gone?.slice(2) ?? "", "hex") } },
      },
      accountSigner(1),
    );
    expect(api.node.ingestMessage(remove)).toBe("ok");
    expect((await api.get("/cast/search?q=gm")).body.casts).toHaveLength(6);
    expect((await api.get("/cast/search?q=number%206")).body.casts).toEqual([]);
  });

  test("accepts any text; a missing or too long text, an invalid limit or cursor is 400 naming the parameter", async () => {
    for (const q of ['"', "*", "NEAR(", "%00", "%F0%9F%98%80", "a%20OR", "'; DROP TABLE casts; --"])
      expect((await api.get(`/cast/search?q=${q}`)).status).toBe(200);
    for (const [path, name] of [
      ["/cast/search", "q"],
      ["/cast/search?q=", "q"],
      [`/cast/search?q=${"x".repeat(1025)}`, "q"],
      ["/cast/search?q=gm&limit=0", "limit"],
      ["/cast/search?q=gm&limit=-1", "limit"],
      ["/cast/search?q=gm&cursor=garbage", "cursor"],
    ] as const) {
      const { status, body } = await api.get(path);
      expect({ path, status }).toEqual({ path, status: 400 });
      expect(body.message).toContain(name);
    }
  });
});
