import { expect, test } from "bun:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { createVerify } from "../../src/auth/verify.ts";
import { serviceNames } from "../../src/config/names.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";
import { ownersBy } from "../support/owners.ts";
import { custodyWallet, type SignedCall, signedHeaders } from "../support/signing.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores, SWEEP_MARGIN_SECS } from "../support/state-stores.ts";

const START = 1_790_000_000;
const WINDOW_SECS = 300;
const FID = 3;

/** Verifies requests of `FID` over the nonces of a real state. */
function start() {
  const { db, ...file } = openStateFile();
  const clock = new ManualClock(START);
  const { nonces, sweeps } = localStores(db, { clock });
  let stale: string | undefined;
  const verify = createVerify({
    names: serviceNames("svc"),
    clock,
    stateClock: clock,
    windowSecs: WINDOW_SECS,
    nonces,
    owners: ownersBy((fid) => (fid === FID ? custodyWallet(FID).address : undefined)),
    sessions: undefined,
    isPaused: () => false,
    staleReason: async () => stale,
    log: silentLog,
  });
  return {
    clock,
    setStale(reason: string | undefined) {
      stale = reason;
    },
    sweep: async () => sweeps.find(({ name }) => name === "nonces")?.step(1_000),
    /** Resolves with the fid, or the text of the refusal. */
    async send(call: Partial<SignedCall> = {}, op = "app.read"): Promise<number | string> {
      const signedAt = Math.floor(clock.nowMs() / 1000);
      const signed = await signedHeaders({ method: "GET", path: "/frame/app", fid: FID, signedAt, ...call });
      const bodyHash = async () => keccak_256(new Uint8Array());
      return verify({ headers: new Headers(signed), bodyHash, op, client: "client" }).then(
        ({ fid }) => fid,
        (error: Error) => error.message,
      );
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}

test.each([
  [-WINDOW_SECS - 1, false],
  [-WINDOW_SECS, true],
  [WINDOW_SECS, true],
  [WINDOW_SECS + 1, false],
])("a request that was signed %d s from now: accepted is %p", async (offsetSecs, isAccepted) => {
  using service = start();
  const result = await service.send({ signedAt: START + offsetSecs });
  expect(result).toBe(isAccepted ? FID : "signed at more than 300 seconds from the server's time");
});

test("only custody signs for a fid, and only for the operation of the request", async () => {
  using service = start();
  expect(await service.send({ wallet: custodyWallet(4) })).toBe(
    "signature is not by the custody address of the fid",
  );
  expect(await service.send({ fid: 4 })).toBe("unknown fid");
  expect(await service.send({}, "app.delete")).toBe(
    "signed op does not match the HTTP method/path, which needs app.delete",
  );
  service.setStale("the index lags");
  expect(await service.send()).toBe("signed operations have to wait: the index lags");
  expect(await service.send({ fid: 4 })).toBe("signed operations have to wait: the index lags");
  service.setStale(undefined);
  expect(await service.send()).toBe(FID);
});

test("a nonce is spent for as long as its request is valid, and a sweep refuses no later request", async () => {
  using service = start();
  const future: Partial<SignedCall> = { signedAt: START + WINDOW_SECS, nonce: `0x${"ab".repeat(32)}` };
  expect(await service.send(future)).toBe(FID);
  service.clock.setSecs(START + 2 * WINDOW_SECS);
  await service.sweep();
  expect(await service.send(future)).toBe("nonce was used before");
  service.clock.setSecs(START + 2 * WINDOW_SECS + SWEEP_MARGIN_SECS + 1);
  expect((await service.sweep())?.deleted).toBe(1);
  expect(await service.send({ signedAt: START + 2 * WINDOW_SECS })).toBe(FID);
  expect(await service.send()).toBe(FID);
});
