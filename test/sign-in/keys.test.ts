import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { err } from "../../src/lib/result.ts";
import { createSignInNonces, NONCE_SECS } from "../../src/sign-in/nonces.ts";
import { createQuickAuth } from "../../src/sign-in/quick-auth.ts";
import { isRotationDue, keyRingAt, LISTED_AHEAD_SECS } from "../../src/sign-in/tokens/key-ring.ts";
import type { SignInKey, TokenAlgorithm } from "../../src/sign-in/tokens/key-store.ts";
import { createTokenVerifier } from "../../src/sign-in/tokens/token.ts";
import { createTokenSigner, resealTokenKeys } from "../../src/sign-in/tokens/token-signer.ts";
import { createMasterKeyText, readMasterKey } from "../../src/vault/master-key.ts";
import { createSealer } from "../../src/vault/sealer.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

const NOW = 1_800_000_000;
const TTL = 3600;
const DAY = 86_400;
const clock = new ManualClock(NOW);
const former = readMasterKey(createMasterKeyText());
const master = readMasterKey(createMasterKeyText());
const file = openStateFile();
const stores = localStores(file.db, { clock });
const request = {
  iss: "https://node.example/quick-auth",
  sub: 3,
  aud: "app.example",
  auth_method: "custody",
} as const;
const log = silentLog;
const OPERATOR = { requestId: "req-1", address: "192.0.2.7" };
const { audit } = stores;

afterAll(() => file[Symbol.dispose]());

const signerWith = (keys: Parameters<typeof createSealer>[0], algorithm: TokenAlgorithm = "ES256") =>
  createTokenSigner({
    store: stores.signInKeys,
    sealer: createSealer(keys, "svc quick auth key 1"),
    clock,
    log,
    settings: { algorithm, tokenTtlSecs: TTL, rotationDays: 30 },
  });

async function signed(signer: ReturnType<typeof signerWith>): Promise<string> {
  const token = await signer.signToken(request);
  if (!token.ok) throw new Error(token.error);
  return token.value;
}

const ring = async () => keyRingAt(await stores.signInKeys.list(), clock.nowMs() / 1000, TTL);
const check = async (token: string) =>
  (
    await createTokenVerifier().verify(
      token,
      { issuer: request.iss, domain: request.aud, nowSecs: clock.nowMs() / 1000 },
      ring,
    )
  ).ok;

describe("keys of tokens", () => {
  const signer = signerWith([former]);

  test("one is made at the first need, by whichever of many calls", async () => {
    await Promise.all([...Array(10)].map(() => signed(signer)));
    expect(await stores.signInKeys.list()).toHaveLength(1);
  });

  test("a thread that has read an empty list verifies a token of the first key at once", async () => {
    using empty = openStateFile();
    const { signInKeys: store, signInNonces } = localStores(empty.db, { clock });
    const sealer = createSealer([former], "svc quick auth key 1");
    const settings = { algorithm: "ES256", tokenTtlSecs: TTL, rotationDays: 30, domains: [] } as const;
    const refused = async () => err({ reason: "malformed", message: "not asked" } as const);
    const quickAuth = createQuickAuth({
      nonces: createSignInNonces({ store: signInNonces, clock }),
      verifier: { verify: refused, verifyAddress: refused },
      keys: store,
      signer: createTokenSigner({ store, sealer, clock, log, settings }),
      linkBase: () => "https://node.example",
      keyEpoch: () => 0,
      clock,
      settings,
      count: () => undefined,
      monotonicMs: () => 0,
    });
    const isValid = async (token: string) =>
      (await quickAuth.verifyToken(request.iss, { token, domain: request.aud })).ok;
    expect(await isValid(await signed(signer))).toBe(false);
    const token = await quickAuth.tokenFor({ fid: 3, authMethod: "custody", domain: request.aud });
    expect(await isValid(token ?? "")).toBe(true);
  });

  test("the next one is listed for 20 minutes before it signs, and tokens of the previous one live on", async () => {
    const before = await signed(signer);
    clock.setSecs(NOW + 30 * DAY - LISTED_AHEAD_SECS);
    const rotated = await signer.rotateTokenKey(false, OPERATOR);
    expect(rotated).toMatchObject({ ok: true, value: { signsAt: NOW + 30 * DAY } });
    expect(await signer.rotateTokenKey(false, OPERATOR)).toEqual(rotated);
    const [first, next] = (await ring()).listed;
    expect((await ring()).current).toEqual(first as SignInKey);
    clock.setSecs(NOW + 30 * DAY - 1);
    const last = await signed(signer);
    clock.setSecs(NOW + 30 * DAY);
    expect((await ring()).current).toEqual(next as SignInKey);
    const first2 = await signed(signer);
    expect([await check(last), await check(first2)]).toEqual([true, true]);
    expect(await check(before)).toBe(false);
    clock.setSecs(NOW + 30 * DAY + 2 * TTL + LISTED_AHEAD_SECS);
    expect((await ring()).listed).toHaveLength(1);
  });

  test("a key that is due is made while tokens are signed", async () => {
    const { current } = await ring();
    clock.setSecs((current?.currentAt ?? 0) + 30 * DAY);
    const token = await signed(signer);
    expect(await check(token)).toBe(true);
    // Another call waits for the key that the first one makes.
    await signer.rotateTokenKey(false, OPERATOR);
    const after = await ring();
    expect(after.hasNext).toBe(true);
    expect(after.listed).toHaveLength(2);
  });

  test("are sealed: no private key is in the files of the state, and they are sealed again under another master key", async () => {
    for (const name of readdirSync(file.dir.path)) {
      const bytes = readFileSync(join(file.dir.path, name));
      // The start of an ES256 key in PKCS #8.
      expect(bytes.includes(Buffer.from("301306072a8648ce3d020106082a8648ce3d030107", "hex"))).toBe(false);
    }
    const sealer = createSealer([master, former], "svc quick auth key 1");
    expect(await resealTokenKeys(stores.signInKeys, sealer)).toBe((await stores.signInKeys.list()).length);
    expect(await signerWith([former]).signToken(request)).toEqual({ ok: false, error: "locked" });
    expect(await check(await signed(signerWith([master])))).toBe(true);
  });

  test("--now replaces them all: earlier tokens are refused", async () => {
    const other = signerWith([master]);
    const before = await signed(other);
    expect(await check(before)).toBe(true);
    await other.rotateTokenKey(true, OPERATOR);
    expect(await check(before)).toBe(false);
    expect(await check(await signed(other))).toBe(true);
    expect(await stores.signInKeys.list()).toHaveLength(1);
  });

  test("are in the operator's audit log: who made or replaced which, and nothing of its secret", async () => {
    const entries = await audit.list(0, { limit: 10, before: undefined });
    const kids = (await stores.signInKeys.list()).map(({ kid }) => kid);
    expect(entries.map(({ action, address, requestId }) => [action, address, requestId]).reverse()).toEqual([
      ["signin_key.create", "node", ""],
      ["signin_key.create", OPERATOR.address, OPERATOR.requestId],
      ["signin_key.create", "node", ""],
      ["signin_key.replace", OPERATOR.address, OPERATOR.requestId],
    ]);
    expect(kids).toEqual([entries[0]?.recordId as string]);
    expect(entries.every(({ outcome, hash, atMs }) => outcome === "ok" && hash === null && atMs > 0)).toBe(
      true,
    );
    expect(new Set(entries.map(({ recordId }) => recordId)).size).toBe(4);
  });

  test("without a master key nothing is signed", async () => {
    const locked = createTokenSigner({
      store: stores.signInKeys,
      sealer: undefined,
      clock,
      log,
      settings: { algorithm: "ES256", tokenTtlSecs: TTL, rotationDays: 30 },
    });
    expect(await locked.signToken(request)).toEqual({ ok: false, error: "locked" });
    expect(await locked.rotateTokenKey(true, OPERATOR)).toEqual({ ok: false, error: "locked" });
  });

  test("whatever the history of rotations, every live token names a listed key", () => {
    const key = (currentAt: number, at: number) =>
      ({ kid: `k${at}`, algorithm: "ES256", currentAt }) as SignInKey;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: LISTED_AHEAD_SECS, max: 100_000 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 600_000 }),
        fc.integer({ min: 0, max: TTL - 1 }),
        (gaps, signedAt, age) => {
          const times = [0];
          for (const gap of gaps) times.push((times.at(-1) ?? 0) + gap);
          const keys = times.map(key);
          const by = keyRingAt(keys, signedAt, TTL).current;
          const { listed } = keyRingAt(keys, signedAt + age, TTL);
          expect(listed.map(({ kid }) => kid)).toContain(by?.kid ?? "");
        },
      ),
    );
    expect(isRotationDue(keyRingAt([], NOW, TTL), NOW, { rotationDays: 30, algorithm: "RS256" })).toBe(false);
  });
});

describe("nonces", () => {
  let nonces: ReturnType<typeof createSignInNonces>;
  beforeAll(() => {
    nonces = createSignInNonces({ store: stores.signInNonces, clock });
  });
  const spend = async (nonce: string) => nonces.spend("sign-in", nonce);

  test("count once, for their purpose, until their time", async () => {
    const nonce = await nonces.issue("sign-in");
    expect(nonce).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(await nonces.spend("login", nonce)).toBe(false);
    expect([await spend(nonce), await spend(nonce)]).toEqual([true, false]);
    const late = await nonces.issue("sign-in");
    const nowMs = clock.nowMs();
    clock.setMs(nowMs + (NONCE_SECS + 1) * 1000);
    expect(await spend(late)).toBe(false);
    clock.setMs(nowMs);
  });

  test("that were changed in one place, or made by no one, are refused", async () => {
    const nonce = await nonces.issue("sign-in");
    for (let at = 0; at < nonce.length; at += 1) {
      const other = nonce[at] === "A" ? "B" : "A";
      expect(await spend(nonce.slice(0, at) + other + nonce.slice(at + 1))).toBe(false);
    }
    for (const other of ["", "z".repeat(32), nonce.slice(1), `${nonce}A`])
      expect(await spend(other)).toBe(false);
    expect(await spend(nonce)).toBe(true);
  });

  test("of a state that has lost its key are refused, also by a thread that still has it", async () => {
    const before = await nonces.issue("sign-in");
    file.db.sqlite.exec("DELETE FROM sign_in_nonce_key");
    expect(await spend(before)).toBe(false);
    expect(await spend(await nonces.issue("sign-in"))).toBe(true);
  });
});
