import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { writeScores } from "../../src/db/index/counts/scores.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { writeMeta } from "../../src/db/index/meta.ts";
import { rebuildPeople } from "../../src/db/index/search/people-index.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import {
  MAX_MATCHES,
  MAX_MOST_FOLLOWED,
  searchUsers,
  userSearchCursor,
} from "../../src/read/queries/search/user-search.ts";

/** A person as a test plans it. Words are what a search compares: lower case without accents. */
interface Person {
  readonly fid: number;
  /** Whether the person owns the username that the profile declares. */
  readonly owns: boolean;
  readonly username: readonly Word[];
  readonly display: readonly Word[];
  readonly bio: readonly Word[];
  readonly followers: number;
  /** In hundredths; undefined for one without a score. */
  readonly score?: number | undefined;
  readonly isFollowed?: boolean;
}

/** A word and one of its spellings. */
type Word = readonly [plain: string, spelt: string];

const VIEWER = 900_000_001;

function fill(db: IndexDatabase, people: readonly Person[]): void {
  const json = JSON.stringify(
    people.map((person) => ({
      ...person,
      username: usernameOf(person),
      display: person.display.map(([, spelt]) => spelt).join(" "),
      bio: person.bio.map(([, spelt]) => spelt).join(", "),
    })),
  );
  const property = (type: UserDataType, key: string) =>
    `INSERT INTO user_data (fid, type, value, timestamp, envelope_id)
     SELECT value ->> 'fid', ${type}, value ->> '${key}', 0, 0 FROM json_each(?)`;
  for (const sql of [
    "INSERT INTO fids (fid) SELECT value ->> 'fid' FROM json_each(?)",
    `INSERT OR IGNORE INTO username_proofs (name, type, fid, owner, signature, timestamp)
     SELECT value ->> 'username', 1, value ->> 'fid', x'', x'', 0 FROM json_each(?) WHERE value ->> 'owns'`,
    property(UserDataType.USER_DATA_TYPE_USERNAME, "username"),
    property(UserDataType.USER_DATA_TYPE_DISPLAY, "display"),
    property(UserDataType.USER_DATA_TYPE_BIO, "bio"),
    `INSERT INTO follow_counts (fid, followers, following)
     SELECT value ->> 'fid', value ->> 'followers', 0 FROM json_each(?)`,
    `INSERT INTO links (fid, type, target_fid, timestamp, envelope_id)
     SELECT ${VIEWER}, 1, value ->> 'fid', 0, 0 FROM json_each(?) WHERE value ->> 'isFollowed'`,
  ])
    db.sqlite.prepare(sql).run(json);
  writeMeta(db, "people", "0");
  while (rebuildPeople(db));
}

const usernameOf = ({ username }: Person) => username.map(([plain]) => plain).join("-");

/** The specification of the result, written for clarity. `words` are plain. */
function expected(
  people: readonly Person[],
  words: readonly string[],
  { text = words.join(" "), isViewed = false, hasScores = false, inNames = false } = {},
): number[] {
  const matched = (of: readonly (readonly string[])[]) =>
    words.every((word) => of.some((known) => known.some((one) => one.startsWith(word))));
  const plain = (list: readonly Word[]) => list.map(([word]) => word);
  const tierOf = (person: Person) => {
    const username = person.owns ? plain(person.username) : [];
    const [display, bio] = [plain(person.display), plain(person.bio)];
    if (person.owns && usernameOf(person) === text) return 0;
    if (String(person.fid) === text && !inNames) return 1;
    if (person.owns && usernameOf(person).startsWith(text)) return 2;
    if (matched([username])) return 3;
    if (words.every((word) => display.includes(word))) return 4;
    if (matched([display])) return 5;
    if (matched([username, display])) return 6;
    return matched([username, display, inNames ? [] : bio]) ? 7 : 8;
  };
  const key = (person: Person) => [
    tierOf(person),
    isViewed && person.isFollowed ? 0 : 1,
    hasScores ? -(person.score ?? 25) : 0,
    -person.followers,
    person.fid,
  ];
  return people
    .filter((person) => tierOf(person) < 8)
    .map((person) => ({ fid: person.fid, key: key(person) }))
    .sort((a, b) => a.key.map((part, at) => part - (b.key[at] ?? 0)).find((by) => by !== 0) ?? 0)
    .map(({ fid }) => fid);
}

function readAllPages(
  db: IndexDatabase,
  text: string,
  {
    limit = 100,
    viewerFid = undefined as number | undefined,
    cache = new HydrationCache(),
    inNames = false,
  } = {},
): number[] {
  const found: number[] = [];
  const pageOf = searchUsers(db, cache, { text, inNames, viewerFid });
  let after: Parameters<typeof pageOf>[0]["after"];
  for (;;) {
    const page = pageOf({ limit, after });
    found.push(...page.rows.map(({ fid }) => fid));
    if (page.cursor === null) return found;
    after = userSearchCursor.decode(page.cursor);
  }
}

const person = (fid: number, username: string, display: string, bio = "", followers = 0) => ({
  ...{ fid, followers, owns: true },
  username: [[username, username]] as const,
  display: [[display, display]] as const,
  bio: [[bio, bio]] as const,
});

describe("searchUsers", () => {
  test("finds people by several words in any order, without their accents, by words of the bio and by fid", () => {
    using db = openIndexInMemory();
    fill(db, [
      person(11, "mira", "Mira Wren", "Birds of Lisbon"),
      person(12, "jose", "JOSÉ Müller", "ﬁsh & chips, ½ price"),
      person(13, "aiko.eth", "田中 太郎", "Tokyo birds"),
      person(14, "12", "Twelve", "Mira is a friend"),
      person(15, "nina", "Ｎｉｎａ İlker-Ångström", ""),
    ]);
    for (const [text, fids] of [
      ["Mira Wren", [11]],
      ["wren mi", [11]],
      ["muller jose", [12]],
      ["MÜLLER", [12]],
      ["mu\u0308ll", [12]],
      ["fish", [12]],
      ["birds", [11, 13]],
      ["mira birds", [11]],
      ["mira", [11, 14]],
      ["12", [14, 12]],
      ["aiko.eth", [13]],
      ["aiko", [13]],
      ["太郎", [13]],
      ["郎", [13]],
      ["angstrom ilk nin", [15]],
      ["@Mira", [11, 14]],
      ["mira nobody", []],
      ["ira", []],
      ["& !", []],
    ] as const)
      expect([text, readAllPages(db, text)]).toEqual([text, [...fids]]);
  });

  test("accepts any text: it reads 64 characters and six words, and operators of the full-text engine are text", () => {
    using db = openIndexInMemory();
    fill(db, [person(21, "near", "OR AND NOT a b c d e f")]);
    expect(readAllPages(db, "or and not NEAR")).toEqual([21]);
    expect(readAllPages(db, "a b c d e f zzz")).toEqual([21]);
    expect(readAllPages(db, `near${" ".repeat(70)}zzz`)).toEqual([21]);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        expect(readAllPages(db, text).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  });

  test("returns the specified people in the specified order, at any page size, with and without viewer and scores", () => {
    const WORDS: readonly Word[] = [
      ["mira", "Mira"],
      ["mirabel", "Mírabel"],
      ["muller", "MÜLLER"],
      ["mu", "Mū"],
      ["wren", "wreñ"],
      ["w", "W"],
      ["18", "18"],
      ["wien", "ｗien"],
    ];
    const word = fc.constantFrom(...WORDS);
    const somebody = fc.record({
      owns: fc.boolean(),
      username: fc.array(word, { minLength: 1, maxLength: 2 }),
      display: fc.array(word, { maxLength: 3 }),
      bio: fc.array(word, { maxLength: 3 }),
      followers: fc.nat(2),
      score: fc.option(fc.constantFrom(0, 25, 60), { nil: undefined }),
      isFollowed: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(somebody, { maxLength: 25 }),
        fc.array(fc.constantFrom("m", "mi", "mira", "mu", "muller", "w", "wre", "1", "18"), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.integer({ min: 1, max: 7 }),
        (plans, asked, limit) => {
          using db = openIndexInMemory();
          const named = new Set<string>();
          // A name has one owner.
          const people = plans.map((plan, at): Person => {
            const one = { ...plan, fid: 10 + at };
            const owns = plan.owns && !named.has(usernameOf(one));
            if (owns) named.add(usernameOf(one));
            return { ...one, owns };
          });
          fill(db, people);
          const runId = writeScores(db, {
            step: "begin",
            run: { kind: "computed", at: 0, method: "test", params: {}, seeds: [] },
          });
          writeScores(db, {
            step: "rows",
            runId,
            rows: people.flatMap(({ fid, score }) =>
              score === undefined
                ? []
                : [{ fid, score, state: 0, rank: 0, viaFid: 0, sources: null, note: null }],
            ),
          });
          writeScores(db, { step: "finish", runId, stats: {} });
          const words = [...new Set(asked)];
          const text = asked.join(" ");
          const scored = () =>
            new HydrationCache(undefined, {
              mode: "computed",
              unknown: 0.25,
              enforced: new Set(["search"]),
              foldBelow: 0.2,
            });
          expect(readAllPages(db, text, { limit })).toEqual(expected(people, words, { text }));
          expect(readAllPages(db, text, { limit, inNames: true })).toEqual(
            expected(people, words, { text, inNames: true }),
          );
          expect(readAllPages(db, text, { limit, viewerFid: VIEWER })).toEqual(
            expected(people, words, { text, isViewed: true }),
          );
          expect(readAllPages(db, text, { limit, viewerFid: VIEWER, cache: scored() })).toEqual(
            expected(people, words, { text, isViewed: true, hasScores: true }),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test("of more people than it reads, it searches the first by fid, the most followed, and the exact name and fid", () => {
    using db = openIndexInMemory();
    const people = Array.from({ length: MAX_MOST_FOLLOWED + 3000 }, (_, n) =>
      person(n + 1, `user${n + 1}`, n % 2 === 0 ? "Even One" : "Odd One", "", (n * 7919) % 8000),
    );
    fill(db, people);
    const most = new Set(
      [...people]
        .sort((a, b) => b.followers - a.followers)
        .slice(0, MAX_MOST_FOLLOWED)
        .map(({ fid }) => fid),
    );
    const unread = people.find(({ fid }) => fid > 2 * MAX_MATCHES && !most.has(fid))?.fid ?? 0;
    const searched = (isMatch: (fid: number) => boolean) =>
      people
        .filter(({ fid }) => isMatch(fid))
        .filter(({ fid }, at) => at < MAX_MATCHES || most.has(fid))
        .sort((a, b) => b.followers - a.followers || a.fid - b.fid)
        .map(({ fid }) => fid);
    const limit = 4000;
    expect(readAllPages(db, "user", { limit })).toEqual(searched(() => true));
    expect(readAllPages(db, "one even", { limit })).toEqual(searched((fid) => fid % 2 === 1));
    expect(readAllPages(db, "us", { limit }).includes(unread)).toBe(false);
    expect(readAllPages(db, `user${unread}`)).toEqual([unread]);
    expect(readAllPages(db, `${unread}`)).toEqual([unread]);
  });
});
