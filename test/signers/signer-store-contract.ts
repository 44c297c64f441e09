import { describe, expect, test } from "bun:test";
import type { AuditEntry, AuditStore } from "../../src/audit/audit-store.ts";
import type { SignInNonceStore } from "../../src/sign-in/nonce-store.ts";
import type { ManagedSigner, SignerStore } from "../../src/signers/store/signer-store.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

export interface SignerFixture extends AsyncDisposable {
  readonly signers: SignerStore;
  readonly nonces: SignInNonceStore;
  readonly audit: AuditStore;
  /** Has `SMALL_AUDIT` as its bound. */
  readonly smallAudit: AuditStore;
  rows(table: string): Promise<number>;
  /** Does what maintenance does. */
  sweep(name: string): Promise<number>;
}

const NOW = 1_800_000_000;
const CAP = 5;

const bytes = (length: number, n: number) => new Uint8Array(length).fill(n);

function signer(n: number, changes: Partial<ManagedSigner> = {}): ManagedSigner {
  return {
    signerUuid: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    ownerFid: 3,
    publicKey: bytes(32, n),
    sealed: bytes(60, n),
    keyId: "aa",
    permissions: [1, 2],
    createdAt: NOW,
    updatedAt: NOW,
    approval: null,
    request: null,
    submitted: null,
    ...changes,
  };
}

function entry(action: string, changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    atMs: NOW * 1000,
    ownerFid: 3,
    action,
    apiKeyId: "key",
    signerUuid: null,
    userFid: null,
    hash: null,
    outcome: "ok",
    requestId: "request",
    address: "127.0.0.1",
    ...changes,
  };
}

const request = (n: number) => ({
  appFid: 7,
  signature: bytes(65, n),
  gaslessSignature: null,
  deadline: NOW + 60,
  redirectUrl: null,
  requestId: bytes(16, n),
  tokenDigest: bytes(32, n),
});
const FIRST = { after: 0, limit: 10 };
const CREATED = entry("signer.create");
const approval = (fid: number) => ({ fid, at: NOW + 1, by: "page" as const, blocks: { "1": 9 } });

/** Retains three entries of an owner, always. */
export const SMALL_AUDIT = { entriesPerOwner: 3, trimShare: 1 } as const;

/** The guarantees of the managed signers, their nonces and the audit log, over any database. */
export function signerStoreContract(
  name: string,
  open: (clock: ManualClock) => Promise<SignerFixture>,
): void {
  describe(name, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async () => {
      clock.setSecs(NOW);
      return keep(await open(clock));
    };
    const uuid = (n: number) => signer(n).signerUuid;

    test("a signer is found by its id and its public key, with what was stored", async () => {
      const { signers } = await start();
      expect(await signers.create(signer(1), CAP, CREATED)).toBe("created");
      const found = await signers.find(uuid(1));
      expect(found).toMatchObject(signer(1));
      expect(await signers.findByKey(bytes(32, 1))).toEqual(found);
      expect(await signers.find(uuid(2))).toBeUndefined();
      expect(await signers.findByKey(bytes(32, 2))).toBeUndefined();
    });

    test("an owner has at most the cap of signers, also when many are created at once", async () => {
      const { signers, rows } = await start();
      const outcomes = await Promise.all(
        [...Array(CAP * 2).keys()].map((n) => signers.create(signer(n + 1), CAP, CREATED)),
      );
      expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(CAP);
      expect(outcomes.filter((outcome) => outcome === "cap-reached")).toHaveLength(CAP);
      expect(await rows("audit_entries")).toBe(CAP);
      expect(await signers.create(signer(50, { ownerFid: 4 }), CAP, CREATED)).toBe("created");
    });

    test("a public key belongs to one signer", async () => {
      const { signers, rows } = await start();
      await signers.create(signer(1), CAP, CREATED);
      expect(await signers.create(signer(2, { publicKey: bytes(32, 1) }), CAP, CREATED)).toBe("key-exists");
      expect(await rows("managed_signers")).toBe(1);
    });

    test("a request is found by its token until the next one, and only the owner can make it", async () => {
      const { signers } = await start();
      await signers.create(signer(1), CAP, CREATED);
      const made = { signerUuid: uuid(1), ownerFid: 3 };
      expect(await signers.request({ ...made, ownerFid: 4 }, request(1), NOW, CREATED)).toBe(false);
      expect(await signers.request(made, request(1), NOW, CREATED)).toBe(true);
      const submitted = { fid: 9, requestFid: 9 };
      expect(await signers.submitting(uuid(1), bytes(32, 1), submitted)).toBe(true);
      expect(await signers.findByToken(bytes(32, 1))).toMatchObject({
        request: { ...request(1), usedAt: null },
        submitted,
      });
      const second = { ...request(2), gaslessSignature: bytes(65, 3), redirectUrl: "app://x" };
      expect(await signers.request(made, second, NOW, CREATED)).toBe(true);
      expect(await signers.findByToken(bytes(32, 1))).toBeUndefined();
      expect(await signers.findByToken(bytes(32, 2))).toMatchObject({ request: second, submitted: null });
      expect(await signers.submitting(uuid(1), bytes(32, 1), submitted)).toBe(false);
    });

    test("of users who submit one request at once, the first is noted and not replaced", async () => {
      const { signers } = await start();
      await signers.create(signer(1), CAP, CREATED);
      const made = { signerUuid: uuid(1), ownerFid: 3 };
      await signers.request(made, request(1), NOW, CREATED);
      const submit = (fid: number) => signers.submitting(uuid(1), bytes(32, 1), { fid, requestFid: fid });
      const users = [4, 5, 6];
      const outcomes = await Promise.all(users.map(submit));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const first = users[outcomes.indexOf(true)] ?? 0;
      expect(await signers.find(uuid(1))).toMatchObject({ submitted: { fid: first, requestFid: first } });
      // The first may try again; a new request is for everybody.
      expect(await submit(first)).toBe(true);
      await signers.request(made, request(2), NOW, CREATED);
      expect(await signers.submitting(uuid(1), bytes(32, 2), { fid: 7, requestFid: 7 })).toBe(true);
    });

    test("the user of a signer is set once", async () => {
      const { signers, rows } = await start();
      await signers.create(signer(1), CAP, CREATED);
      const approved = entry("signer.approve");
      const outcomes = await Promise.all(
        [4, 5, 6].map((fid) =>
          signers.approve({ signerUuid: uuid(1), tokenDigest: null }, approval(fid), approved),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect((await signers.find(uuid(1)))?.approval).toEqual(approval(4 + outcomes.indexOf(true)));
      expect(await rows("audit_entries")).toBe(2);
    });

    test("an approval ends the request that it belongs to, and no later one", async () => {
      const { signers } = await start();
      await signers.create(signer(1), CAP, CREATED);
      const made = { signerUuid: uuid(1), ownerFid: 3 };
      const usedAt = async () => (await signers.find(uuid(1)))?.request?.usedAt;
      await signers.request(made, request(1), NOW, CREATED);
      const ended = { signerUuid: uuid(1), tokenDigest: bytes(32, 1) };
      await signers.approve(ended, approval(4), CREATED);
      expect(await usedAt()).toBe(NOW + 1);
      await signers.request(made, request(2), NOW, CREATED);
      await signers.approve(ended, approval(4), CREATED);
      expect(await usedAt()).toBeNull();
    });

    test("signers are listed in pages by owner, by user and by both", async () => {
      const { signers } = await start();
      for (const n of [1, 2, 3]) await signers.create(signer(n), CAP, CREATED);
      await signers.create(signer(4, { ownerFid: 4, approval: approval(9) }), CAP, CREATED);
      await signers.approve({ signerUuid: uuid(2), tokenDigest: null }, approval(9), CREATED);
      const uuids = (list: readonly ManagedSigner[]) => list.map(({ signerUuid }) => signerUuid);
      const page = await signers.listByOwner(3, { after: 0, limit: 2 });
      expect(uuids(page)).toEqual([uuid(1), uuid(2)]);
      const rest = await signers.listByOwner(3, { after: page.at(-1)?.seq ?? 0, limit: 2 });
      expect(uuids(rest)).toEqual([uuid(3)]);
      expect(uuids(await signers.listByFid(9, FIRST))).toEqual([uuid(2), uuid(4)]);
      expect(uuids(await signers.listByOwnerAndFid(4, 9, FIRST))).toEqual([uuid(4)]);
    });

    test("a signer is deleted once", async () => {
      const { signers, rows } = await start();
      await signers.create(signer(1), CAP, CREATED);
      const outcomes = await Promise.all(
        [1, 2, 3].map(() => signers.delete(uuid(1), [entry("signer.delete")])),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await signers.find(uuid(1))).toBeUndefined();
      expect(await rows("audit_entries")).toBe(2);
    });

    test("seeds are sealed again by master key, unless they changed meanwhile", async () => {
      const { signers } = await start();
      for (const n of [1, 2]) await signers.create(signer(n), CAP, CREATED);
      await signers.create(signer(3, { keyId: "bb" }), CAP, CREATED);
      expect(await signers.keyUses()).toEqual([
        { keyId: "aa", count: 2 },
        { keyId: "bb", count: 1 },
      ]);
      const old = await signers.listByKeyId("aa", FIRST);
      const after = { sealed: bytes(60, 99), keyId: "bb" };
      const reseals = old.map(({ signerUuid, sealed }) => ({ signerUuid, before: sealed, after }));
      const [first] = reseals;
      if (!first) throw new Error("no signer");
      expect(await signers.reseal([first])).toBe(1);
      expect(await signers.reseal(reseals)).toBe(1);
      expect(await signers.keyUses()).toEqual([{ keyId: "bb", count: 3 }]);
      expect(await signers.find(uuid(1))).toMatchObject(after);
    });

    test("a nonce is spent once, for its purpose, by the current key", async () => {
      const { nonces, rows, sweep } = await start();
      const key = await nonces.key(new Uint8Array(32).fill(1));
      expect(await nonces.key(new Uint8Array(32).fill(2))).toEqual(key);
      const nonce = { nonce: "n".repeat(32), purpose: "login" as const, expiresAt: NOW + 600 };
      const spent = await Promise.all([...Array(20)].map(() => nonces.spend(nonce, key)));
      expect(spent.filter(Boolean)).toHaveLength(1);
      const other = { ...nonce, nonce: "o".repeat(32), expiresAt: NOW };
      expect(await nonces.spend(other, new Uint8Array(32).fill(2))).toBe(false);
      expect(await nonces.spend(other, key)).toBe(true);
      clock.setSecs(NOW + 3600);
      expect(await sweep("one_time_nonces")).toBe(2);
      expect(await rows("one_time_nonces")).toBe(0);
    });

    test("beyond the bound of an owner its oldest audit entries are deleted, and no other owner's", async () => {
      const { smallAudit: audit } = await start();
      const at = (secs: number, ownerFid = 3) => entry("write.cast", { atMs: secs * 1000, ownerFid });
      await audit.append([at(NOW, 4), at(NOW + 5), at(NOW + 1), at(NOW + 2), at(NOW + 2), at(NOW + 3)]);
      const kept = await audit.list(3, { limit: 10, before: undefined });
      expect(kept.map(({ atMs }) => atMs / 1000 - NOW)).toEqual([5, 3, 2]);
      expect(await audit.list(4, { limit: 10, before: undefined })).toHaveLength(1);
    });

    test("the audit log is listed by owner, the newest first, and kept 400 days", async () => {
      const { audit, rows, sweep } = await start();
      const hash = bytes(20, 7);
      const at = (secs: number, ownerFid = 3) => entry("write.cast", { atMs: secs * 1000, hash, ownerFid });
      await audit.append([at(NOW), at(NOW + 1), at(NOW + 1), at(NOW, 4)]);
      const page = await audit.list(3, { limit: 2, before: undefined });
      expect(page.map(({ atMs }) => atMs)).toEqual([(NOW + 1) * 1000, (NOW + 1) * 1000]);
      expect(page[0]).toMatchObject({ ...at(NOW + 1) });
      const rest = await audit.list(3, { limit: 2, before: page.at(-1) });
      expect(rest.map(({ atMs }) => atMs)).toEqual([NOW * 1000]);
      clock.setSecs(NOW + 399 * 86_400);
      await sweep("audit");
      expect(await rows("audit_entries")).toBe(4);
      clock.setSecs(NOW + 402 * 86_400);
      await sweep("audit");
      expect(await rows("audit_entries")).toBe(0);
    });
  });
}
