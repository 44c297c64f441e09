import { describe, expect, test } from "bun:test";
import { createIncidents, incidentSweep } from "../../../src/checks/incident-store.ts";
import { postgresTaskDb } from "../../../src/db/postgres/state-db.ts";
import { openStateInMemory } from "../../../src/db/state/database.ts";
import { taskStateDb } from "../../../src/db/state/sqlite-state-db.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { incidentStoreContract } from "../incident-store-contract.ts";

describe("incidents in SQLite", () => {
  incidentStoreContract(async () => {
    const db = openStateInMemory();
    return {
      incidents: createIncidents(taskStateDb(db)),
      isConcurrent: false,
      [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
    };
  });

  test("the sweep resolves what no node reports any more, and deletes what ended 400 days ago", async () => {
    using db = openStateInMemory();
    const state = taskStateDb(db);
    const incidents = createIncidents(state);
    const nowSecs = Math.floor(Date.now() / 1000);
    const open = (incidentId: string, atSecs: number) =>
      incidents.open(
        { incidentId, checkId: incidentId, nodeId: "a", severity: "notice", sentence: "it is so" },
        atSecs,
      );
    await open("ancient", nowSecs - 402 * 86_400);
    await incidents.resolve("ancient", "a", nowSecs - 401 * 86_400);
    await open("unseen", nowSecs - 5 * 3600);
    await open("seen", nowSecs - 5 * 3600);
    await incidents.see("seen", "a", nowSecs);
    expect(await incidentSweep(state).step(100)).toEqual({ deleted: 1, more: false });
    const listed = await incidents.list(0, 10);
    expect(listed.map(({ incidentId, resolvedAt }) => [incidentId, resolvedAt === null])).toEqual([
      ["seen", true],
      ["unseen", false],
    ]);
  });
});

describe.skipIf(!HAS_POSTGRES)("incidents in PostgreSQL", () => {
  incidentStoreContract(async () => {
    const database = await createDatabase();
    return {
      incidents: createIncidents(postgresTaskDb(database.pools().main)),
      isConcurrent: true,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
});
