import { describe, expect, test } from "bun:test";
import { createApps } from "../../../src/apps/app-store.ts";
import { type AuditEntry, addAuditEntry, createAudit } from "../../../src/audit/audit-store.ts";
import { createNonces } from "../../../src/auth/nonce-store.ts";
import { decidedCallSweep } from "../../../src/db/postgres/state-db.ts";
import { createSteadyClock } from "../../../src/db/state/state-clock.ts";
import type { OwnedStore } from "../../../src/management/owned-store.ts";
import { createSessions } from "../../../src/sessions/session-store.ts";
import { createSigners } from "../../../src/signers/store/signer-table.ts";
import { createWebhooks } from "../../../src/webhooks/store/webhook-store.ts";
import { appItems } from "../../apps/app-items.ts";
import { ManualClock } from "../../support/clock.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { startProxy } from "../../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { webhookItems } from "../../webhooks/store/webhook-items.ts";
import { makeSecret, type OwnedItems } from "../owned-store-contract.ts";

const stores = [
  ["apps", createApps, appItems],
  ["webhooks", createWebhooks, webhookItems],
] as const;

const entryAt = (atMs: number): AuditEntry => ({
  ...{ atMs, ownerFid: 3, action: "test", apiKeyId: null, signerUuid: null, userFid: null, hash: null },
  ...{ outcome: "ok", requestId: "r", address: "::1" },
});

/** A lost response means that the outcome is unknown. The caller must get the result of the one decision that was made. */
describe.skipIf(!HAS_POSTGRES)("after a response that was lost after the commit", () => {
  async function start() {
    const database = await createDatabase();
    const proxy = startProxy(database.settings.connect.port);
    const { main, stats } = database.pools({ port: proxy.port });
    /** Runs a write whose first response is lost. */
    const losing = async <T>(tag: RegExp, write: () => Promise<T>): Promise<T> => {
      const lost = proxy.loseAnswer(tag);
      const result = await write();
      await lost;
      return result;
    };
    return {
      database,
      main,
      stats,
      losing,
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  }

  test("a nonce is spent for the request that asked, and for no other", async () => {
    await using fixture = await start();
    const nonces = createNonces(stateDbOf(fixture));
    const nonce = { fid: 3, nonce: new Uint8Array(32).fill(1) };
    const times = { nowSecs: 100, validUntil: 400, expiresAt: 700 };
    expect(await fixture.losing(/^INSERT/, () => nonces.spend(nonce, times))).toBe(true);
    expect(fixture.stats.snapshot().retries.unknown).toBe(1);
    expect(await nonces.spend(nonce, times)).toBe(false);
  });

  test.each(stores)("%s: a record is created, rotated and deleted once", async (_name, create, items) => {
    const { idOf, makeItem } = items as unknown as OwnedItems<
      { readonly secrets: readonly unknown[] },
      unknown
    >;
    await using fixture = await start();
    const store = create(stateDbOf(fixture, new ManualClock(100))) as OwnedStore<never, never>;
    const item = (n: number) =>
      makeItem(n, { ownerFid: 3, secrets: [makeSecret(n)], createdAt: 100, updatedAt: 100 }) as never;
    const claim = { id: idOf(item(2)), ownerFid: 3, nowSecs: 100 };
    await store.create(item(1), 2);
    // The record itself reaches the cap.
    expect(await fixture.losing(/^COMMIT/, () => store.create(item(2), 2))).toEqual(item(2));
    expect(await store.create(item(3), 2)).toBe("cap-reached");
    const rotation = { secret: makeSecret(20), graceEndsAt: 160, maxSecrets: 3 };
    const rotated = await fixture.losing(/^COMMIT/, () => store.rotateSecret(claim, rotation));
    expect(rotated).toMatchObject({
      secrets: [
        { uid: "uid-2", expiresAt: 160 },
        { uid: "uid-20", expiresAt: null },
      ],
    });
    expect(await fixture.losing(/^COMMIT/, () => store.delete(claim))).toBeUndefined();
    expect(await store.delete(claim)).toBe("not-found");
    expect(fixture.stats.snapshot().retries.unknown).toBe(3);
    expect(await fixture.database.rows("secrets")).toBe(1);
  });

  test("a decision runs once, and its caller gets its result although another has undone it", async () => {
    await using fixture = await start();
    const db = stateDbOf(fixture);
    const audit = createAudit(db);
    let runs = 0;
    const decide = db.decision("test.decide", async (tx, n: number) => {
      runs += 1;
      await addAuditEntry(tx, entryAt(n));
      return `run ${runs}`;
    });
    expect(await fixture.losing(/^COMMIT/, () => decide(1))).toBe("run 1");
    expect(runs).toBe(1);
    expect(await audit.list(3, { limit: 10, before: undefined })).toHaveLength(1);
    // What was not committed is done again.
    expect(await fixture.losing(/^INSERT/, () => decide(2))).toBe("run 2");
    expect((await audit.list(3, { limit: 10, before: undefined })).map(({ atMs }) => atMs)).toEqual([2, 1]);
    expect(await fixture.database.rows("decided_calls")).toBe(2);
  });

  test("changes of records and signers have one entry in the audit log, and their result", async () => {
    await using fixture = await start();
    const db = stateDbOf(fixture, new ManualClock(100));
    const apps = createApps(db);
    const signers = createSigners(db);
    const app = appItems.makeItem(1, {
      ownerFid: 3,
      secrets: [makeSecret(1)],
      createdAt: 100,
      updatedAt: 100,
    });
    const claim = { id: app.appId, ownerFid: 3, nowSecs: 100 };
    const rotation = { secret: makeSecret(20), graceEndsAt: 160, maxSecrets: 3 };
    const signer = { signerUuid: crypto.randomUUID(), ownerFid: 3 };
    const sealed = { sealed: new Uint8Array(8), keyId: "k", publicKey: new Uint8Array(32), permissions: [1] };
    const created = {
      ...signer,
      ...sealed,
      createdAt: 1,
      updatedAt: 1,
      approval: null,
      request: null,
      submitted: null,
    };
    const approval = { fid: 7, at: 200, by: "page", blocks: null } as const;
    const tokenDigest = new Uint8Array(32).fill(1);
    const request = {
      appFid: 3,
      signature: new Uint8Array(65),
      gaslessSignature: null,
      deadline: 900,
      redirectUrl: null,
    };
    const steps: (() => Promise<unknown>)[] = [
      () => apps.create(app, 5, entryAt(1)),
      () => apps.update(claim, { name: "New" }, entryAt(2)),
      () => apps.rotateSecret(claim, rotation, entryAt(3)),
      () => apps.delete(claim, entryAt(4)),
      () => signers.create(created, 5, entryAt(5)),
      () =>
        signers.request(signer, { ...request, requestId: new Uint8Array(16), tokenDigest }, 150, entryAt(6)),
      () => signers.approve({ signerUuid: signer.signerUuid, tokenDigest }, approval, entryAt(7)),
      () => signers.delete(signer.signerUuid, [entryAt(8)]),
      () => createAudit(db).append([entryAt(9)]),
    ];
    const results: unknown[] = [];
    for (const step of steps) results.push(await fixture.losing(/^COMMIT/, step));
    expect(fixture.stats.snapshot().retries.unknown).toBe(steps.length);
    expect([results[3], ...results.slice(4)]).toEqual([undefined, "created", true, true, true, undefined]);
    const entries = await createAudit(db).list(3, { limit: 20, before: undefined });
    expect(entries.map(({ atMs }) => atMs)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("the calls that were decided are swept an hour later", async () => {
    await using fixture = await start();
    const clock = createSteadyClock({ clock: new ManualClock(5_000) });
    await stateDbOf(fixture, new ManualClock(1_000)).decision("test.note", async () => undefined)();
    await stateDbOf(fixture, new ManualClock(4_000)).decision("test.note", async () => undefined)();
    const sweep = decidedCallSweep(fixture.main, clock);
    expect(await sweep.step(10)).toEqual({ deleted: 1, more: false });
    expect(await fixture.database.rows("decided_calls")).toBe(1);
  });

  test("a session that is created ends one other at the cap", async () => {
    await using fixture = await start();
    const sessions = createSessions(stateDbOf(fixture));
    // Later than PostgreSQL's own clock, which counts as well.
    const now = 4_000_000_000;
    const keys = { publicKey: new Uint8Array(32), custody: new Uint8Array(20) };
    const made = { access: "operate", label: "", origin: "", createdAt: now, lastUsedAt: null } as const;
    const acted = { apiKeyId: null, signerUuid: null, userFid: null, hash: null, address: "::1" };
    const entry = { ...acted, atMs: now * 1000, ownerFid: 3, action: "session.create", outcome: "ok" };
    const create = (n: number) => {
      const session = { sessionId: `${n}`, ownerFid: 3, ...keys, ...made, expiresAt: now + 100 };
      return sessions.create(session, 3, { ...entry, requestId: `${n}` });
    };
    for (const n of [1, 2, 3]) await create(n);
    await fixture.losing(/^COMMIT/, () => create(4));
    expect(fixture.stats.snapshot().retries.unknown).toBe(1);
    const listed = await sessions.listByOwner(3, now);
    expect(listed.map(({ sessionId }) => sessionId)).toEqual(["4", "3", "2"]);
    expect(await fixture.database.rows("audit_entries")).toBe(4);
  });
});
