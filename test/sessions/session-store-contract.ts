import { describe, expect, test } from "bun:test";
import type { AuditEntry, AuditStore } from "../../src/audit/audit-store.ts";
import type { CustodyStore } from "../../src/auth/owners/custody-store.ts";
import type { Session } from "../../src/auth/session.ts";
import type { SessionStore } from "../../src/sessions/session-store.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

export interface SessionFixture extends AsyncDisposable {
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  readonly custodies: CustodyStore;
  rows(table: string): Promise<number>;
  /** Does what maintenance does. */
  sweep(): Promise<number>;
}

/** Later than PostgreSQL's own clock, which counts as well. */
const NOW = 4_000_000_000;
const CAP = 3;

const bytes = (length: number, n: number) => new Uint8Array(length).fill(n);
const idOf = (n: number) => String(n).padStart(16, "1");

function session(n: number, changes: Partial<Session> = {}): Session {
  return {
    sessionId: idOf(n),
    ownerFid: 3,
    publicKey: bytes(32, n),
    custody: bytes(20, 3),
    access: "operate",
    label: `Laptop ${n}`,
    origin: "http://localhost:8080",
    createdAt: NOW,
    expiresAt: NOW + 100,
    lastUsedAt: null,
    ...changes,
  };
}

function entry(action: string, ownerFid = 3): AuditEntry {
  return {
    atMs: NOW * 1000,
    ownerFid,
    action,
    apiKeyId: null,
    signerUuid: null,
    userFid: null,
    hash: null,
    outcome: "ok",
    requestId: "request",
    address: "127.0.0.1",
  };
}

const CREATED = entry("session.create");
const ENDED = entry("session.delete");

/** The guarantees of the sessions, over any database. */
export function sessionStoreContract(
  name: string,
  open: (clock: ManualClock) => Promise<SessionFixture>,
): void {
  describe(name, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async () => {
      clock.setSecs(NOW);
      const fixture = keep(await open(clock));
      const { sessions } = fixture;
      const ids = async (fid = 3) => (await sessions.listByOwner(fid, NOW)).map(({ sessionId }) => sessionId);
      const actions = async (ownerFid = 3) =>
        (await fixture.audit.list(ownerFid, { limit: 100, before: undefined })).map(({ action }) => action);
      return { ...fixture, ids, actions };
    };

    test("a session is found as it was created, until the second at which it expires", async () => {
      const { sessions } = await start();
      await sessions.create(session(1), CAP, CREATED);
      expect(await sessions.find(idOf(1), NOW + 99)).toEqual(session(1));
      expect(await sessions.find(idOf(1), NOW + 100)).toBeUndefined();
      expect(await sessions.find(idOf(2), NOW)).toBeUndefined();
      expect(await sessions.listByOwner(3, NOW + 99)).toEqual([session(1)]);
      expect(await sessions.listByOwner(3, NOW + 100)).toEqual([]);
    });

    test("a session above the cap ends the oldest; expired ones do not count", async () => {
      const { sessions, ids, rows } = await start();
      for (const n of [1, 2, 3]) await sessions.create(session(n), CAP, CREATED);
      await sessions.create(session(9, { ownerFid: 4 }), CAP, entry("session.create", 4));
      await sessions.create(session(4), CAP, CREATED);
      expect(await ids()).toEqual([4, 3, 2].map(idOf));
      expect(await ids(4)).toEqual([idOf(9)]);
      await sessions.create(session(5, { createdAt: NOW + 100, expiresAt: NOW + 200 }), CAP, CREATED);
      expect(await ids()).toEqual([idOf(5)]);
      expect(await rows("sessions")).toBe(2);
    });

    test("concurrent creations never leave more than the cap", async () => {
      const { sessions, ids, actions } = await start();
      await Promise.all([1, 2, 3, 4, 5, 6].map((n) => sessions.create(session(n), CAP, CREATED)));
      expect(await ids()).toHaveLength(CAP);
      expect(await actions()).toHaveLength(6);
    });

    test("a session of another custody address ends those of the previous one", async () => {
      const { sessions, ids } = await start();
      await sessions.create(session(1), CAP, CREATED);
      await sessions.create(session(2, { custody: bytes(20, 7) }), CAP, CREATED);
      expect(await ids()).toEqual([idOf(2)]);
    });

    test("a session of a custody address that another one has followed is not created, and ends none", async () => {
      const { sessions, custodies, ids, actions } = await start();
      const buyer = bytes(20, 7);
      const acts = (custody: Uint8Array, blockNumber: number) =>
        custodies.record({ fid: 3, custody, blockNumber, logIndex: 0 });
      await acts(session(1).custody, 1);
      expect(await sessions.create(session(1), CAP, CREATED)).toBe(true);
      await acts(buyer, 2);
      expect(await sessions.create(session(2, { custody: buyer }), CAP, CREATED)).toBe(true);
      expect(await sessions.create(session(3), CAP, CREATED)).toBe(false);
      expect(await ids()).toEqual([idOf(2)]);
      expect(await actions()).toHaveLength(2);
    });

    test("an owner ends one session or all, and none of another owner; each end is in the audit log", async () => {
      const { sessions, ids, actions } = await start();
      for (const n of [1, 2, 3]) await sessions.create(session(n), CAP, CREATED);
      expect(await sessions.end(4, { sessionId: idOf(1) }, entry("session.delete", 4))).toBe(false);
      expect(await sessions.end(4, "all", entry("session.delete", 4))).toBe(false);
      expect(await actions(4)).toEqual([]);
      expect(await sessions.end(3, { sessionId: idOf(1) }, ENDED)).toBe(true);
      expect(await sessions.end(3, { sessionId: idOf(1) }, ENDED)).toBe(false);
      expect(await ids()).toEqual([3, 2].map(idOf));
      expect(await sessions.end(3, "all", ENDED)).toBe(true);
      expect(await ids()).toEqual([]);
      expect(await actions()).toEqual([
        "session.delete",
        "session.delete",
        ...Array(3).fill("session.create"),
      ]);
    });

    test("the last use never goes back", async () => {
      const { sessions } = await start();
      await sessions.create(session(1), CAP, CREATED);
      await sessions.markUsed(idOf(1), NOW + 5);
      await sessions.markUsed(idOf(1), NOW + 3);
      await sessions.markUsed(idOf(2), NOW);
      expect((await sessions.find(idOf(1), NOW))?.lastUsedAt).toBe(NOW + 5);
    });

    test("a sweep deletes what has expired, and nothing else", async () => {
      const { sessions, sweep, rows } = await start();
      await sessions.create(session(1), CAP, CREATED);
      await sessions.create(session(2, { expiresAt: NOW + 10_000 }), CAP, CREATED);
      expect(await sweep()).toBe(0);
      clock.advanceSecs(1_000);
      expect(await sweep()).toBe(1);
      expect(await rows("sessions")).toBe(1);
    });
  });
}
