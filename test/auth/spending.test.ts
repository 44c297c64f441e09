import { expect, test } from "bun:test";
import pino from "pino";
import { neverStale } from "../../src/auth/staleness.ts";
import { spendingNonce } from "../../src/auth/verify.ts";
import { serviceNames } from "../../src/config/names.ts";
import { ApiError } from "../../src/http/errors.ts";
import { openStateInMemory } from "../../src/state/database.ts";
import { createNonceStore } from "../../src/state/sqlite/nonce-store.ts";
import { ManualClock } from "../support/clock.ts";
import { startSignedApi } from "../support/signed-api.ts";

const nonce = { fid: 3, nonce: new Uint8Array(32) };

/** Spends the nonce on `work`; whether the nonce is spent afterwards. */
async function isSpentAfter(work: () => unknown): Promise<boolean> {
  using db = openStateInMemory();
  const nonces = createNonceStore(db);
  const clock = new ManualClock(1000);
  const auth = {
    names: serviceNames("svc"),
    clock,
    windowSecs: 300,
    nonces,
    custodyOf: () => undefined,
    staleReason: neverStale,
    log: pino({ level: "silent" }),
  };
  await spendingNonce(auth, nonce, work).catch(() => undefined);
  return nonces.isSpent(nonce, 1000);
}

const thrower = (error: unknown) => () => {
  throw error;
};

test("a nonce is spent by work that is done, and given back by work that is refused", async () => {
  expect(await isSpentAfter(() => "done")).toBe(true);
  for (const kind of ["badRequest", "forbidden", "notFound", "tooManyRequests"] as const) {
    expect(await isSpentAfter(thrower(new ApiError(kind)))).toBe(false);
  }
});

test("a nonce stays spent after a fault, because something may have been done", async () => {
  for (const error of [new Error("disk"), new ApiError("internal"), new ApiError("unavailable"), undefined]) {
    expect(await isSpentAfter(thrower(error))).toBe(true);
  }
});

test("while the state database cannot be written, requests are 500 and nothing passes unnoticed", async () => {
  await using signed = await startSignedApi();
  signed.api.state.sqlite.exec("PRAGMA query_only = ON");
  const call = { method: "GET", path: "/frame/app/list" } as const;
  expect(await signed.call(call)).toEqual({ status: 500, body: { message: "internal error" } });
  signed.api.state.sqlite.exec("PRAGMA query_only = OFF");
  expect((await signed.call(call)).status).toBe(200);
});
