import { expect, test } from "bun:test";
import { indexPath, openIndexWriter } from "../../../src/db/index/database.ts";
import { LOG_PROPERTIES } from "../../../src/db/index/identity.ts";
import { readMeta, writeMeta } from "../../../src/db/index/meta.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { nonceFloor } from "../../../src/db/state/state-clock.ts";
import {
  type RestoredKeys,
  restoredKeysText,
  restoredPostgresKeys,
  restoredSqliteKeys,
} from "../../../src/node/snapshot/restored-keys.ts";
import { checkPostgresState, settlePostgresState } from "../../../src/node/state-check/postgres-check.ts";
import { checkSqliteState, settleSqliteState } from "../../../src/node/state-check/sqlite-check.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { tempDir } from "../../support/program.ts";

const NOW_SECS = 1_750_000_000;
const FLOOR = { nonceFloor: NOW_SECS + 300 };
const BOOT = "00000000-0000-4000-8000-000000000001";

/** Rows whose counters are wrong, a leased delivery, a campaign that runs and a session. `flag` is how the database writes true. */
const rowsWith = (flag: string) => `
  INSERT INTO webhooks (webhook_id, owner_fid, title, target_url, active, subscription, created_at, updated_at)
    VALUES ('w', 1, 't', 'https://a.example', ${flag}, '{}', 1, 1);
  INSERT INTO secrets (holder, uid, value, digest, created_at) VALUES ('w', 'u', 'v', 'd', 1), ('key', 'u2', 'v2', 'd2', 1);
  INSERT INTO webhook_changes (webhook_id) VALUES ('w');
  INSERT INTO webhook_health (webhook, queued, consecutive_failures, dropped) VALUES (1, 7, 0, 0);
  INSERT INTO delivery_events (event_id, kind, body, is_test, created_at) VALUES ('e', 'cast.created', '{}', ${flag}, 1);
  INSERT INTO deliveries (message_id, event, webhook, state, attempts, created_at, due_at_ms, lease_ends_at_ms, claimed_by)
    VALUES ('m', 1, 1, 'queued', 0, 1, 2, 2, '${BOOT}');
  INSERT INTO tokens VALUES ('a', 1, 1, 'https://c.example', 'c.example', 't', ${flag}, 'miniapp_added', 1, 1);
  INSERT INTO dedupe_keys (app_id, notification_id, expires_at) VALUES ('a', 'n', 1);
  INSERT INTO campaigns (campaign_id, app_id, dedupe_key, notification_id, title, body, target_url, status, success_count,
      failure_count, not_attempted_count, created_at, runner, epoch, runs, not_before_ms)
    VALUES ('c', 'a', 1, 'n', 't', 'b', 'https://a.example', 'running', 0, 0, 0, 1, '${BOOT}', 1, 1, 0);
  INSERT INTO campaign_audiences VALUES (1, '[]');
  INSERT INTO sessions (session_id, owner_fid, public_key, custody, access, label, origin, created_at, expires_at)
    VALUES ('s', 1, 'k', 'c', 'read', 'l', 'https://a.example', 1, 9999999999);
  INSERT INTO api_keys (api_key_id, owner_fid, name, prefix, scopes, active, custody, created_at, updated_at)
    VALUES ('key', 3, 'back\u001bend', 'p', '[]', ${flag}, 'c', 1, 1);
  INSERT INTO managed_signers (signer_uuid, owner_fid, public_key, sealed, key_id, permissions, created_at, updated_at, fid)
    VALUES ('uuid-2', 2, 'k2', 's', 'i', '[]', 1, 1, NULL), ('uuid-1', 2, 'k1', 's', 'i', '[]', 1, 1, 5);`;
const KEYS: RestoredKeys = {
  count: 3,
  listed: [
    { kind: "API key", id: "key", ownerFid: 3, of: "back\u001bend" },
    { kind: "signer", id: "uuid-1", ownerFid: 2, of: "fid 5" },
    { kind: "signer", id: "uuid-2", ownerFid: 2, of: "" },
  ],
};
const FOUND = [
  { what: "webhooks whose count of queued deliveries is not that of the deliveries", rows: 1 },
  { what: "totals of deliveries that are not those of the deliveries", rows: 1 },
  { what: "totals of notification tokens that are not those of the tokens", rows: 1 },
  { what: "counts of notification tokens by client that are not those of the tokens", rows: 1 },
];

test("a restored state.db is corrected, ends leases, refuses earlier requests, and its index begins a new log", () => {
  using dir = tempDir();
  {
    using state = openState(statePath(dir.path));
    state.sqlite.exec(rowsWith("1"));
    using index = openIndexWriter(indexPath(dir.path));
    for (const key of LOG_PROPERTIES) writeMeta(index, key, "1");
  }
  expect(checkSqliteState(dir.path)).toEqual(FOUND);
  expect(settleSqliteState(dir.path, FLOOR)).toEqual([]);
  expect(checkSqliteState(dir.path)).toEqual([]);
  expect(restoredSqliteKeys(dir.path)).toEqual(KEYS);
  using state = openState(statePath(dir.path));
  expect(nonceFloor(state)).toBe(FLOOR.nonceFloor);
  expect(
    state.sqlite
      .query(
        "SELECT claimed_by, (SELECT runner FROM campaigns) AS runner, (SELECT count(*) FROM sessions) AS sessions FROM deliveries",
      )
      .get(),
  ).toEqual({ claimed_by: null, runner: null, sessions: 0 });
  using index = openIndexWriter(indexPath(dir.path));
  expect(LOG_PROPERTIES.map((key) => readMeta(index, key))).toEqual(LOG_PROPERTIES.map(() => undefined));
});

test.skipIf(!HAS_POSTGRES)(
  "a state that PostgreSQL restored is corrected, ends leases and refuses earlier requests, unless nodes use it",
  async () => {
    await using database = await createDatabase();
    const { settings, query } = database;
    await query(rowsWith("true"));
    await query(`INSERT INTO leases VALUES ('maintenance', '${BOOT}', 1)`);
    const sorted = (findings: readonly { what: string }[]) =>
      findings.toSorted((a, b) => (a.what < b.what ? -1 : 1));
    expect(sorted(await checkPostgresState(settings))).toEqual(sorted(FOUND));
    await query(
      `INSERT INTO nodes (node_id, boot, slot, started_at, ends_at_ms, beat, version, schema_version, solo, settings)
       VALUES ('node-a', '${BOOT}', 0, 1, ${Number.MAX_SAFE_INTEGER}, 1, '1', 1, false, '{}')`,
    );
    await expect(settlePostgresState(settings, FLOOR)).rejects.toThrow("these nodes use the state: node-a");
    await query("UPDATE nodes SET ends_at_ms = 0");
    await settlePostgresState(settings, FLOOR);
    expect(await checkPostgresState(settings)).toEqual([]);
    expect(await restoredPostgresKeys(settings)).toEqual(KEYS);
    const [left] = await query(
      `SELECT (SELECT count(*) FROM deliveries WHERE claimed_by IS NOT NULL) AS claimed,
         (SELECT count(*) FROM campaigns WHERE runner IS NOT NULL) AS running,
         (SELECT count(*) FROM sessions) AS sessions,
         (SELECT count(*) FROM leases) AS leases, (SELECT nonce_floor FROM state_clock) AS floor`,
    );
    expect(Object.values(left ?? {}).map(Number)).toEqual([0, 0, 0, 0, FLOOR.nonceFloor]);
  },
);

test("a restore lists the API keys and signers that are back, as text that moves no cursor, and says how many more there are", () => {
  const text = restoredKeysText({ ...KEYS, count: 1003 });
  expect(text.split("\n").slice(1)).toEqual([
    "These API keys and signers work:",
    "  API key key of fid 3: back\\u001bend",
    "  signer uuid-1 of fid 2: fid 5",
    "  signer uuid-2 of fid 2",
    "  and 1000 more",
    "",
  ]);
  expect(restoredKeysText({ count: 0, listed: [] })).not.toContain("work");
});
