import { describe, expect, test } from "bun:test";
import { pgStatement } from "../../../src/db/postgres/statement.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";

const echo = pgStatement<
  Record<string, unknown>,
  [
    whole: number,
    text: string,
    flag: boolean,
    bytes: Uint8Array,
    wholes: number[],
    blobs: Uint8Array[],
    texts: string[],
  ]
>(
  "test.echo",
  `SELECT $1::bigint AS whole, $2::text AS text, $3::boolean AS flag, $4::bytea AS bytes, $5::bigint[] AS wholes,
   $6::bytea[] AS blobs, $7::text[] AS texts, NULL::bigint AS none`,
);
const insertNonce = pgStatement<
  unknown,
  [fid: number, nonce: Uint8Array, expiresAt: number, spender: string]
>("test.insert", "INSERT INTO nonces (fid, nonce, expires_at, spender) VALUES ($1, $2, $3, $4)");
const countNonces = pgStatement<{ count: number }>("test.count", "SELECT count(*) AS count FROM nonces");

describe.skipIf(!HAS_POSTGRES)("a pool", () => {
  test("returns each type of parameter as it was sent, bigint as numbers", async () => {
    await using database = await createDatabase();
    const { main } = database.pools();
    const texts = ['a"b', "c\\d", "{,}", "NULL", "", "é\n"];
    const blobs = [new Uint8Array([0, 255]), new Uint8Array()];
    const row = await main.get(
      echo,
      2 ** 53 - 1,
      "it's $1",
      true,
      new Uint8Array([0, 1, 255]),
      [1, -5],
      blobs,
      texts,
    );
    expect(row).toEqual({
      whole: 2 ** 53 - 1,
      text: "it's $1",
      flag: true,
      bytes: Buffer.from([0, 1, 255]),
      wholes: [1, -5],
      blobs: blobs.map((blob) => Buffer.from(blob)),
      texts,
      none: null,
    });
  });

  test("sends U+FFFD for the NUL that PostgreSQL refuses", async () => {
    await using database = await createDatabase();
    const row = await database
      .pools()
      .main.get(echo, 1, "a\0b\0", true, new Uint8Array([0]), [], [], ["\0", "c"]);
    expect(row).toMatchObject({ text: "a\uFFFDb\uFFFD", texts: ["\uFFFD", "c"], bytes: Buffer.from([0]) });
  });

  test("commits a transaction as a whole, and nothing of one whose body throws", async () => {
    await using database = await createDatabase();
    const { main } = database.pools();
    const insert = (nonce: number, fails: boolean) =>
      main.transaction(async (tx) => {
        await tx.lock("owner", "app:1");
        const count = await tx.run(insertNonce, 1, new Uint8Array([nonce]), 5, crypto.randomUUID());
        if (fails) throw new Error("refused");
        return count;
      });
    expect(await insert(1, false)).toBe(1);
    expect(insert(2, true)).rejects.toThrow("refused");
    expect((await main.get(countNonces))?.count).toBe(1);
  });
});
