import { expect, test } from "bun:test";
import { nonceSweep } from "../../../src/auth/nonce-store.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";

/** The plan of small tables, or of those whose statistics are old: it runs the inner side once for each row of the outer one. */
const NESTED_LOOPS = ["hashjoin", "mergejoin", "material", "hashagg", "sort"];

// PostgreSQL locked other rows at each repetition of the subquery, so a step deleted up to all of them.
test.skipIf(!HAS_POSTGRES)("a batch has its limit of rows, whichever plan PostgreSQL chooses", async () => {
  await using database = await createDatabase();
  for (const plan of NESTED_LOOPS)
    await database.query(`ALTER DATABASE ${database.name} SET enable_${plan} = off`);
  await database.query(
    `INSERT INTO nonces (fid, nonce, expires_at, spender) SELECT n, decode(lpad(to_hex(n), 64, '0'), 'hex'), n, gen_random_uuid() FROM generate_series(1, 95) n`,
  );
  const sweep = nonceSweep(stateDbOf(database.pools()));
  expect(await sweep.step(10)).toEqual({ deleted: 10, more: true });
  expect(await database.rows("nonces")).toBe(85);
});
