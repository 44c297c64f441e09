import { expect, test } from "bun:test";
import { saveClock } from "../../../src/db/state/state-clock.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { sessionStoreContract } from "../session-store-contract.ts";

sessionStoreContract("sessions in SQLite", async (clock) => {
  const { db, rows, ...file } = openStateFile();
  const { sessions, audit, custodies, sweeps } = localStores(db, { clock });
  return {
    sessions,
    audit,
    custodies,
    rows: async (table) => rows(table),
    sweep: async () => (await sweeps.find(({ name }) => name === "sessions")?.step(1_000))?.deleted ?? -1,
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});

const SESSION = {
  sessionId: "1111111111111111",
  ownerFid: 3,
  publicKey: new Uint8Array(32),
  custody: new Uint8Array(20),
  access: "read",
  label: "Laptop",
  origin: "http://localhost:8080",
  createdAt: 1_800_000_000,
  expiresAt: 1_800_000_100,
  lastUsedAt: null,
} as const;
const AUDIT = {
  atMs: 0,
  ownerFid: 3,
  action: "session.create",
  apiKeyId: null,
  signerUuid: null,
  userFid: null,
  hash: null,
  outcome: "ok",
  requestId: "request",
  address: "127.0.0.1",
};

test("a machine's clock that goes back brings no expired session back", async () => {
  using file = openStateFile();
  const { sessions } = localStores(file.db);
  await sessions.create(SESSION, 20, AUDIT);
  saveClock(file.db, SESSION.expiresAt);
  expect(await sessions.find(SESSION.sessionId, SESSION.createdAt)).toBeUndefined();
  expect(await sessions.listByOwner(3, SESSION.createdAt)).toEqual([]);
});
