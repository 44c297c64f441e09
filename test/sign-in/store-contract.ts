import { describe, expect, test } from "bun:test";
import type { AuditEntry, AuditStore } from "../../src/audit/audit-store.ts";
import type { SignInNonceStore } from "../../src/sign-in/nonce-store.ts";
import { type OneTimeKind, type OneTimeStore, oneTimeDigest } from "../../src/sign-in/one-time-store.ts";
import type { SignInKey, SignInKeyStore } from "../../src/sign-in/tokens/key-store.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

export interface SignInFixture extends AsyncDisposable {
  readonly nonces: SignInNonceStore;
  readonly oneTime: OneTimeStore;
  readonly keys: SignInKeyStore;
  readonly audit: AuditStore;
  rows(table: string): Promise<number>;
  /** Does what maintenance does with nonces and one-time secrets. */
  sweep(): Promise<number>;
}

/** Later than PostgreSQL's own clock, which counts as well. */
const NOW = 4_000_000_000;
const bytes = (n: number, length = 32) => new Uint8Array(length).fill(n);
const BY = { requestId: "req-1", address: "192.0.2.7" };
const AT_ONCE = 8;

const entryOf = (secret: string, kind: OneTimeKind = "channel", expiresAt = NOW + 60) => ({
  digest: oneTimeDigest(kind, secret),
  kind,
  payload: { a: [1, null, "ü"] },
  expiresAt,
});

const keyOf = (n: number, currentAt = NOW + n): SignInKey => ({
  kid: `kid-${n}`,
  algorithm: "RS256",
  publicJwk: { kty: "RSA", n: "AQAB", kid: `kid-${n}` },
  sealed: bytes(n, 40),
  keyId: "aa",
  createdAt: NOW,
  currentAt,
});

/** The guarantees of what sign-in stores, over any database. */
export function signInStoreContract(
  name: string,
  open: (clock: ManualClock) => Promise<SignInFixture>,
): void {
  describe(name, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async () => {
      clock.setSecs(NOW);
      return keep(await open(clock));
    };
    const atOnce = <T>(work: (n: number) => Promise<T>) =>
      Promise.all(Array.from({ length: AT_ONCE }, (_, n) => work(n)));

    test("the key of nonces is the first that any caller proposed", async () => {
      const { nonces } = await start();
      const keys = await atOnce((n) => nonces.key(bytes(n + 1)));
      expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
      expect(await nonces.key(bytes(99))).toEqual(keys[0] as Uint8Array);
    });

    test("a nonce is spent by one of concurrent calls, and by none with another key", async () => {
      const { nonces, rows, sweep } = await start();
      const key = await nonces.key(bytes(1));
      const nonce = { nonce: "n1", purpose: "sign-in", expiresAt: NOW + 10 } as const;
      expect(await nonces.spend(nonce, bytes(2))).toBe(false);
      expect((await atOnce(() => nonces.spend(nonce, key))).filter((isSpent) => isSpent)).toHaveLength(1);
      // The nonce itself is the key of the row: for another purpose it is spent, too.
      expect(await nonces.spend({ ...nonce, purpose: "login" }, key)).toBe(false);
      expect(await sweep()).toBe(0);
      clock.setSecs(NOW + 1000);
      expect(await sweep()).toBe(1);
      expect(await rows("one_time_nonces")).toBe(0);
    });

    test("a one-time secret is found as it was added until its second, completed once and taken once", async () => {
      const { oneTime } = await start();
      const entry = entryOf("s");
      expect(await oneTime.add(entry, 10)).toBe(true);
      expect(await oneTime.find(entry.digest, NOW + 59)).toEqual({ ...entry, result: null });
      expect(await oneTime.find(entry.digest, NOW + 60)).toBeUndefined();
      expect(await oneTime.find(oneTimeDigest("login-code", "s"), NOW)).toBeUndefined();
      const completed = await atOnce((n) => oneTime.complete(entry.digest, { n }, NOW));
      expect(completed.filter((isDone) => isDone)).toHaveLength(1);
      const result = { n: completed.indexOf(true) };
      expect((await oneTime.find(entry.digest, NOW))?.result).toEqual(result);
      const taken = await atOnce(() => oneTime.take(entry.digest, NOW));
      expect(taken.filter((one) => one !== undefined)).toEqual([{ ...entry, result }]);
      expect(await oneTime.complete(entry.digest, { n: 9 }, NOW)).toBe(false);
    });

    test("after its second a secret is neither completed nor taken, and then deleted", async () => {
      const { oneTime, rows, sweep } = await start();
      const entry = entryOf("s");
      await oneTime.add(entry, 10);
      expect(await oneTime.complete(entry.digest, 1, NOW + 60)).toBe(false);
      expect(await oneTime.take(entry.digest, NOW + 60)).toBeUndefined();
      expect(await sweep()).toBe(0);
      clock.setSecs(NOW + 1000);
      expect(await sweep()).toBe(1);
      expect(await rows("one_time")).toBe(0);
    });

    test("each kind has a limit; expired ones and those of other kinds do not count", async () => {
      const { oneTime } = await start();
      for (const n of [1, 2, 3]) expect(await oneTime.add(entryOf(`s${n}`), 3)).toBe(true);
      expect(await oneTime.add(entryOf("s4"), 3)).toBe(false);
      expect(await oneTime.add(entryOf("s4", "login-code"), 3)).toBe(true);
      clock.setSecs(NOW + 1000);
      expect(await oneTime.add(entryOf("s5", "channel", NOW + 2000), 3)).toBe(true);
    });

    test("an addition has its entry in the audit log if it happens, and does not happen without it", async () => {
      const { oneTime, audit } = await start();
      const entry: AuditEntry = {
        ...{ atMs: 1, ownerFid: 3, action: "signer.request", apiKeyId: "k", signerUuid: null, userFid: null },
        ...{ hash: null, outcome: "ok", requestId: "r", address: "127.0.0.1" },
      };
      const actions = async () =>
        (await audit.list(3, { limit: 9, before: undefined })).map(({ action }) => action);
      const { digest } = entryOf("s1");
      const unstorable = { ...entry, outcome: null } as unknown as AuditEntry;
      await expect(oneTime.add(entryOf("s1"), 1, unstorable)).rejects.toThrow();
      expect(await oneTime.find(digest, NOW)).toBeUndefined();
      expect(await oneTime.add(entryOf("s1"), 1, entry)).toBe(true);
      expect(await oneTime.add(entryOf("s2"), 1, entry)).toBe(false);
      expect(await actions()).toEqual(["signer.request"]);
    });

    test("a limit holds for additions at once", async () => {
      const { oneTime, rows } = await start();
      for (let round = 1; round <= 10; round++) {
        const kind = `key-request:${round}` as const;
        const added = await atOnce((n) => oneTime.add(entryOf(`s${n}`, kind), 3));
        expect(added.filter((isAdded) => isAdded)).toHaveLength(3);
        expect(await rows("one_time")).toBe(3 * round);
      }
    });

    test("at the limit of a kind the one that ends first makes room for one that is pushed", async () => {
      const { oneTime, rows } = await start();
      const isThere = async (secret: string) =>
        (await oneTime.find(oneTimeDigest("channel", secret), NOW)) !== undefined;
      await oneTime.push(entryOf("s1", "login-code", NOW + 1), 3);
      for (const n of [2, 3, 4]) await oneTime.push(entryOf(`s${n}`, "channel", NOW + n), 3);
      await oneTime.push(entryOf("s5", "channel", NOW + 5), 3);
      expect(await Promise.all(["s2", "s3", "s4", "s5"].map(isThere))).toEqual([false, true, true, true]);
      await atOnce((n) => oneTime.push(entryOf(`t${n}`, "channel", NOW + 20 + n), 3));
      await oneTime.push(entryOf("last", "channel", NOW + 60), 3);
      expect(await Promise.all(["s3", "s4", "s5", "last"].map(isThere))).toEqual([false, false, false, true]);
      clock.setSecs(NOW + 1000);
      const before = await rows("one_time");
      await oneTime.push(entryOf("s6", "channel", NOW + 2000), 3);
      expect(await rows("one_time")).toBe(before + 1);
    });

    test("keys are listed in the order in which they sign; one of several that are added after the same stays", async () => {
      const { keys, audit } = await start();
      const added = await atOnce((n) => keys.add(keyOf(n + 1), { after: null, obsolete: [] }, BY));
      expect(added.filter((isAdded) => isAdded)).toHaveLength(1);
      const [first] = await keys.list();
      if (!first) throw new Error("no key");
      expect(first).toEqual(keyOf(added.indexOf(true) + 1));
      expect(await keys.add(keyOf(50), { after: first.kid, obsolete: [] }, BY)).toBe(true);
      expect(await keys.add(keyOf(60), { after: first.kid, obsolete: [] }, BY)).toBe(false);
      expect(await keys.add(keyOf(60), { after: "kid-50", obsolete: [first.kid] }, BY)).toBe(true);
      expect((await keys.list()).map(({ kid }) => kid)).toEqual(["kid-50", "kid-60"]);
      await keys.replace(keyOf(70), BY);
      expect((await keys.list()).map(({ kid }) => kid)).toEqual(["kid-70"]);
      const entries = await audit.list(0, { limit: 10, before: undefined });
      expect(entries.map(({ action }) => action).sort()).toEqual([
        "signin_key.create",
        "signin_key.create",
        "signin_key.create",
        "signin_key.replace",
      ]);
    });

    test("a key is sealed again unless its sealed bytes have changed", async () => {
      const { keys } = await start();
      await keys.add(keyOf(1), { after: null, obsolete: [] }, BY);
      const next = { sealed: bytes(9, 40), keyId: "bb" };
      expect(await keys.reseal("kid-1", bytes(7, 40), next)).toBe(false);
      expect(await keys.reseal("kid-1", bytes(1, 40), next)).toBe(true);
      expect(await keys.list()).toEqual([{ ...keyOf(1), ...next }]);
    });
  });
}
