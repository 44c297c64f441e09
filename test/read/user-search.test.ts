import { describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import {
  MAX_MATCHES,
  MAX_MOST_FOLLOWED,
  searchUsers,
  userSearchCursor,
} from "../../src/read/queries/search/user-search.ts";

interface User {
  readonly fid: number;
  readonly name: string;
  readonly word: string;
  readonly followers: number;
}

/** More users than a search reads. The orders by name and by followers differ, and many users share a follower count. */
const users = Array.from({ length: MAX_MOST_FOLLOWED + 1500 }, (_, n): User => {
  const fid = n + 1;
  const name = `${n % 3 === 0 ? "other" : "user"}${(n * 7919) % 6500}`;
  return { fid, name, word: n % 4 === 0 ? "person" : "people", followers: (n * 31) % 397 };
});

function fill(db: IndexDatabase): void {
  const json = JSON.stringify(users);
  for (const sql of [
    "INSERT INTO fids (fid) SELECT value ->> 'fid' FROM json_each(?)",
    `INSERT INTO username_proofs (name, type, fid, owner, signature, timestamp)
     SELECT value ->> 'name', 1, value ->> 'fid', x'', x'', 0 FROM json_each(?)`,
    `INSERT INTO user_data (fid, type, value, timestamp, envelope_id)
     SELECT value ->> 'fid', ${UserDataType.USER_DATA_TYPE_USERNAME}, value ->> 'name', 0, 0 FROM json_each(?)`,
    "INSERT INTO display_name_words (word, fid) SELECT value ->> 'word', value ->> 'fid' FROM json_each(?)",
    `INSERT INTO follow_counts (fid, followers, following)
     SELECT value ->> 'fid', value ->> 'followers', 0 FROM json_each(?)`,
  ])
    db.sqlite.prepare(sql).run(json);
}

/** The specification of the result, written for clarity. */
function expected(prefix: string): number[] {
  const by = (key: (user: User) => string) => (a: User, b: User) => (key(a) < key(b) ? -1 : 1);
  const fidKey = ({ fid }: User) => String(fid).padStart(9, "0");
  const names = users.filter(({ name }) => name.startsWith(prefix)).sort(by(({ name }) => name));
  const words = users
    .filter(({ word }) => word.startsWith(prefix))
    .sort(by((user) => user.word + fidKey(user)));
  const searched = new Set([...names.slice(0, MAX_MATCHES), ...words.slice(0, MAX_MATCHES)]);
  if (names.length > MAX_MATCHES || words.length > MAX_MATCHES) {
    const followed = users.filter(({ followers }) => followers > 0);
    const most = followed.sort((a, b) => b.followers - a.followers || b.fid - a.fid);
    for (const user of most.slice(0, MAX_MOST_FOLLOWED)) searched.add(user);
  }
  const tier = ({ name, word }: User) =>
    name === prefix ? 0 : name.startsWith(prefix) ? 1 : word.startsWith(prefix) ? 2 : 3;
  return [...searched]
    .filter((user) => tier(user) < 3)
    .sort((a, b) => tier(a) - tier(b) || b.followers - a.followers || a.fid - b.fid)
    .map(({ fid }) => fid);
}

function readAllPages(db: IndexDatabase, text: string, limit: number): number[] {
  const found: number[] = [];
  const cache = new HydrationCache();
  let after: readonly [number, number, number] | undefined;
  for (;;) {
    const page = searchUsers(db, cache, { text, limit, after });
    found.push(...page.rows.map(({ fid }) => fid));
    if (page.cursor === null) return found;
    after = userSearchCursor.decode(page.cursor);
  }
}

describe("searchUsers", () => {
  test.each(["user", "user1", "other7", "user77", "user4051", "person", "people", "p", "o", "zed"])(
    "for %p returns the specified users at any page size, within the bounds of the search",
    (prefix) => {
      using db = openIndexInMemory();
      fill(db);
      const whole = expected(prefix);
      for (const limit of [13, 100]) expect(readAllPages(db, prefix, limit)).toEqual(whole);
    },
  );
});
