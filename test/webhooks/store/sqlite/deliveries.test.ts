import { expect } from "bun:test";
import { openState, openStateReader, statePath } from "../../../../src/db/state/database.ts";
import { openWriterOf } from "../../../../src/node/state/open-writer.ts";
import { createStateStores, createStateSweeps } from "../../../../src/node/state/sqlite-stores.ts";
import { verifyState } from "../../../../src/node/state/verify.ts";
import type { Clock } from "../../../../src/runtime/clock.ts";
import { tempDir } from "../../../support/program.ts";
import { type DeliveryFixture, MAX_QUEUED } from "../delivery-fixture.ts";
import { deliveryStoresContract } from "../delivery-stores-contract.ts";

const limits = { maxQueued: MAX_QUEUED };

/** Reads use a separate connection beside the writer's, as in the node. */
async function openFiles(clock: Clock): Promise<DeliveryFixture> {
  const dir = tempDir();
  const written = openState(statePath(dir.path));
  // These tests are not about the disk, and each of some hundred commits would wait for it.
  written.syncCommits = () => undefined;
  written.sqlite.exec("PRAGMA synchronous = OFF");
  const read = openStateReader(statePath(dir.path));
  const openProcess = () => {
    const writer = openWriterOf(written, { limits, clock, monotonicMs: () => clock.nowMs() });
    return writer.call.bind(writer);
  };
  const call = openProcess();
  const { deliveryLog: log, ...stores } = createStateStores(read, call, { limits });
  return {
    ...stores,
    log,
    sweeps: createStateSweeps(read, call),
    nextProcess: async () => createStateStores(read, openProcess(), { limits }),
    rows: async (table) =>
      read.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1,
    async [Symbol.asyncDispose]() {
      expect(verifyState(written)).toEqual([]);
      for (const db of [read, written]) db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

deliveryStoresContract("deliveries in SQLite", openFiles);
