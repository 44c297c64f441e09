import { expect, test } from "bun:test";
import { readInvalidations } from "../../../src/db/index/cache-invalidations.ts";
import { Generator } from "../../model/actions.ts";
import { Random } from "../../model/random.ts";
import { startTestNode } from "../../support/node.ts";

/** Every table whose rows a User, a Cast or a Channel consists of, and the column that names the object. */
const PARTS = [
  ["fids", "fids", "fid"],
  ["fids", "follow_counts", "fid"],
  ["fids", "pro_tiers", "fid"],
  ["fids", "signers", "fid"],
  ["fids", "user_data", "fid"],
  ["fids", "username_proofs", "fid"],
  ["fids", "verifications", "fid"],
  ["castIds", "casts", "id"],
  ["castIds", "cast_counts", "id"],
  ["channelIds", "channel_activity", "id"],
] as const;

// A reader's cache is invalidated only by these lists: an object that is missing from them would be shown out of date.
test("each commit lists every object of which it changed a row", () => {
  using node = startTestNode();
  const { sqlite } = node.db;
  // SQLite's own triggers record every change, whichever code made it.
  sqlite.exec("CREATE TEMP TABLE changed (kind, key)");
  for (const [kind, table, column] of PARTS) {
    const note = (row: "OLD" | "NEW") => `INSERT INTO changed VALUES ('${kind}', ${row}.${column});`;
    sqlite.exec(
      `CREATE TEMP TRIGGER ${table}_insert AFTER INSERT ON main.${table} BEGIN ${note("NEW")} END;
       CREATE TEMP TRIGGER ${table}_update AFTER UPDATE ON main.${table} BEGIN ${note("OLD")} ${note("NEW")} END;
       CREATE TEMP TRIGGER ${table}_delete AFTER DELETE ON main.${table} BEGIN ${note("OLD")} END;`,
    );
  }
  // The replies to a cast are cached with the cast: each added or removed one lists it, even while it does not exist.
  for (const [event, row] of [
    ["INSERT", "NEW"],
    ["DELETE", "OLD"],
  ] as const) {
    sqlite.exec(
      `CREATE TEMP TRIGGER replies_${event} AFTER ${event} ON main.casts WHEN ${row}.parent_id IS NOT NULL
       BEGIN INSERT INTO changed VALUES ('parents', ${row}.parent_id); END`,
    );
  }
  const random = new Random(11);
  const generator = new Generator(random);
  const records = [...generator.accounts(), ...generator.actions(900, true)].map(({ record }) => record);
  const seen = { fids: 0, castIds: 0, channelIds: 0, parents: 0 };
  let seq = 0;
  for (let at = 0; at < records.length; ) {
    const commit = records.slice(at, at + 1 + random.below(12));
    const wasThere = new Set(sqlite.query("SELECT id FROM casts").values().flat());
    node.ingestAll(commit);
    at += commit.length;
    const invalidations = readInvalidations(node.db, seq);
    seq = invalidations?.seq ?? seq;
    const changed = sqlite.query("SELECT DISTINCT kind, key FROM changed").all() as {
      kind: keyof typeof seen;
      key: string | number;
    }[];
    sqlite.exec("DELETE FROM changed");
    for (const { kind, key } of changed) {
      // A name without an owner has a row, and no user.
      if (kind === "fids" && key === 0) continue;
      seen[kind] += 1;
      // No cache has a cast that a commit adds: not yet, or no longer since it was removed.
      const isNew = kind === "castIds" && !wasThere.has(key);
      const listed = invalidations?.[kind === "parents" ? "castIds" : kind] as readonly unknown[];
      if (!isNew) expect(listed).toContain(key);
    }
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(50);
});

test("a reader that missed too many commits gets everything, and one that missed none gets nothing", () => {
  using node = startTestNode();
  const generator = new Generator(new Random(12));
  for (const { record } of [...generator.accounts(), ...generator.actions(700, false)]) node.ingest(record);
  const late = readInvalidations(node.db, 0);
  expect(late).toMatchObject({ everything: true, fids: [], castIds: [], channelIds: [] });
  expect(readInvalidations(node.db, late?.seq ?? 0)).toBeUndefined();
  // The index was created again: its numbers start again.
  expect(readInvalidations(node.db, 1_000_000)).toMatchObject({ everything: true });
});
