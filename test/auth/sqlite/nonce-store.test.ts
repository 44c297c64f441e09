import { expect, test } from "bun:test";
import { ManualClock } from "../../support/clock.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { nonceStoreContract } from "../nonce-store-contract.ts";

function open(clock: ManualClock) {
  const { db, rows, ...file } = openStateFile();
  const { nonces: store, sweeps } = localStores(db, { clock });
  return {
    store,
    rows: async () => rows("nonces"),
    async sweep(maxRows: number) {
      const step = sweeps.find(({ name }) => name === "nonces")?.step;
      if (!step) throw new Error("no sweep");
      return step(maxRows);
    },
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
}

nonceStoreContract("nonces in SQLite", async (clock) => open(clock));

test("spent nonces sweep expired ones by themselves", async () => {
  const clock = new ManualClock(100);
  await using fixture = open(clock);
  const spend = (n: number, nowSecs: number) => {
    clock.setSecs(nowSecs);
    const times = { nowSecs, validUntil: nowSecs + 300, expiresAt: nowSecs + 600 };
    return fixture.store.spend({ fid: 3, nonce: new Uint8Array(32).fill(n) }, times);
  };
  for (let n = 0; n < 100; n += 1) await spend(n, 100);
  for (let n = 100; n < 140; n += 1) await spend(n, 1000);
  expect(await fixture.rows()).toBe(40);
});
