import { expect, test } from "bun:test";
import { firstCastId, nextCastId, timestampOfCastId } from "../../../src/db/index/cast-id.ts";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { hashFrom, insertCast } from "../../support/read-model.ts";

const AT = 1_700_000_000;
const IDS = 65_536;

test("65,536 tries visit every id of the second", () => {
  const hash = hashFrom("cast");
  const ids = new Set<number>();
  let id = firstCastId(AT, hash);
  for (let tries = 0; tries < IDS; tries++) {
    ids.add(id);
    id = nextCastId(id, hash);
  }
  expect(ids.size).toBe(IDS);
  expect([...ids].every((one) => timestampOfCastId(one) === AT)).toBe(true);
});

test("a second has ids for 65,536 casts, live or missing, and the next one is refused", () => {
  using db = openIndexInMemory();
  const cast = (n: number) => ({ fid: 1, at: AT, hash: hashFrom(`${n}`), body: { text: "" } });
  // Rows of missing casts take ids as well.
  db.sqlite.run(
    `WITH RECURSIVE n (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < ${IDS - 21})
     INSERT INTO missing_casts (id, hash, fid) SELECT ${AT * IDS} + id, randomblob(20), 1 FROM n`,
  );
  db.transaction(() => {
    for (let n = 0; n < 20; n++) insertCast(db, cast(n));
  });
  expect(() => db.transaction(() => insertCast(db, cast(20)))).toThrow("no id is free");
});
