import { describe } from "bun:test";
import { createAudit } from "../../../src/audit/audit-store.ts";
import { createCustodies } from "../../../src/auth/owners/custody-store.ts";
import { createIncidents } from "../../../src/checks/incident-store.ts";
import { createOwnerFindings } from "../../../src/checks/owners/owner-findings.ts";
import { postgresTaskDb } from "../../../src/db/postgres/state-db.ts";
import { openStateInMemory } from "../../../src/db/state/database.ts";
import { createNoticeStore } from "../../../src/notices/store/notice-store.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { localStores } from "../../support/state-stores.ts";
import { type NoticeFixture, noticesContract } from "../notices-contract.ts";
import { ownersNoticesContract } from "../owners-notices-contract.ts";

async function overSqlite(): Promise<NoticeFixture> {
  const db = openStateInMemory();
  const { incidents, notices: store, audit, ownerFindings: findings, custodies } = localStores(db);
  return {
    incidents,
    store,
    audit,
    findings,
    custodies,
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  };
}

async function overPostgres(): Promise<NoticeFixture> {
  const database = await createDatabase();
  const db = postgresTaskDb(database.pools().main);
  return {
    incidents: createIncidents(db),
    store: createNoticeStore(db),
    audit: createAudit(db),
    findings: createOwnerFindings(db),
    custodies: createCustodies(db),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

describe("notices over SQLite", () => {
  noticesContract(overSqlite);
  ownersNoticesContract(overSqlite);
});

describe.skipIf(!HAS_POSTGRES)("notices over PostgreSQL", () => {
  noticesContract(overPostgres);
  ownersNoticesContract(overPostgres);
});
