import { describe } from "bun:test";
import { openStateInMemory } from "../../../../src/db/state/database.ts";
import { createStores } from "../../../../src/node/state/stores.ts";
import { ManualClock } from "../../../support/clock.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { localStores } from "../../../support/state-stores.ts";
import { ownerChecksContract } from "../owner-checks-contract.ts";

/** Rows with bytes, from which a statement of both databases can copy them. */
const bytesRows = (bytes: (n: number) => string) =>
  [11, 12, 13].map(
    (n) =>
      `INSERT INTO vapid_keys (public_key, secret, key_id, created_at) VALUES ('p${n}', ${bytes(n)}, '', 1)`,
  );

describe("checks of owners' records over SQLite", () => {
  ownerChecksContract(async () => {
    const db = openStateInMemory();
    const { incidents, ownerFindings: findings, webhooks, apiKeys } = localStores(db);
    const run = async (sql: string) => db.sqlite.run(sql);
    for (const sql of bytesRows((n) => `x'${n}'`)) await run(sql);
    return {
      ...{ incidents, findings, webhooks, apiKeys, run },
      [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
    };
  });
});

describe.skipIf(!HAS_POSTGRES)("checks of owners' records over PostgreSQL", () => {
  ownerChecksContract(async () => {
    const database = await createDatabase();
    const db = stateDbOf(database.pools(), new ManualClock(1_800_000_000));
    const stores = createStores(db, { bootId: crypto.randomUUID(), limits: { maxQueued: 100 } });
    const { incidents, ownerFindings: findings, webhooks, apiKeys } = stores;
    const run = (sql: string) => database.query(sql);
    for (const sql of bytesRows((n) => `'\\x${n}'`)) await run(sql);
    return {
      ...{ incidents, findings, webhooks, apiKeys, run },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
});
