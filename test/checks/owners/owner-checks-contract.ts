import { expect, test } from "bun:test";
import type { ApiKeyStore } from "../../../src/api-keys/api-key-store.ts";
import type { IncidentStore } from "../../../src/checks/incident-store.ts";
import { createOwnerChecks } from "../../../src/checks/owners/owner-checks.ts";
import {
  MAX_FOUND,
  MAX_OPEN_OF_CHECK,
  type OwnerFindings,
} from "../../../src/checks/owners/owner-findings.ts";
import type { KeyFact } from "../../../src/signers/key-facts.ts";
import { UNTRIED, type WebhookStore } from "../../../src/webhooks/store/webhook-store.ts";
import { apiKeyItems } from "../../api-keys/api-key-items.ts";
import { ManualClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";

export interface OwnerCheckFixture extends AsyncDisposable {
  readonly incidents: IncidentStore;
  readonly findings: OwnerFindings;
  readonly webhooks: WebhookStore;
  readonly apiKeys: ApiKeyStore;
  /** Runs a statement that both databases know. */
  run(sql: string): Promise<unknown>;
}

const T0 = 1_800_000_000;
const DAY = 86_400;
const OWNER = 3;

async function fixtureOf(open: () => Promise<OwnerCheckFixture>) {
  const state = await open();
  const clock = new ManualClock(T0);
  const { incidents, findings, webhooks, apiKeys, run } = state;
  const facts = new Map<number, KeyFact>();
  const settings = { off: [] as string[] };
  const index = { isBehind: false };
  const start = (lease?: { hold(): Promise<boolean> }) =>
    createOwnerChecks({
      findings,
      keyFacts: { of: (fid) => facts.get(fid) },
      isBehind: () => index.isBehind,
      keyTtlSecs: 90 * DAY,
      settings,
      incidents,
      lease,
      clock,
      log: silentLog,
    });
  const checks = start();
  return {
    ...{ state, clock, incidents, webhooks, apiKeys, run, facts, index, settings, start },
    /** Looks once more, `secs` later. */
    async later(secs = 60) {
      clock.advanceSecs(secs);
      await checks.evaluate();
    },
    open: async () =>
      (await incidents.openOfOwners()).map(({ checkId, nodeId, ownerFid }) => [checkId, nodeId, ownerFid]),
    sentences: async () => (await incidents.listOf(OWNER, 0)).map(({ sentence }) => sentence),
    async addWebhook(id: string, ownerFid = OWNER) {
      await webhooks.create(
        {
          webhookId: id,
          ownerFid,
          title: "<!channel>",
          targetUrl: `https://${id}.example/secret-path`,
          description: null,
          active: true,
          subscription: { "cast.created": {} },
          compatPrefix: null,
          health: UNTRIED,
          secrets: [],
          createdAt: T0,
          updatedAt: T0,
        },
        1000,
      );
    },
    health: (id: string, set: string) =>
      run(
        `UPDATE webhook_health SET ${set} WHERE webhook = (SELECT seq FROM webhooks WHERE webhook_id = '${id}')`,
      ),
    attempts: (id: string, startsAt: number, delivered: number, failed: number) =>
      run(
        `INSERT INTO attempt_stats (webhook, starts_at, duration_class, attempts, delivered, failed)
         SELECT seq, ${startsAt}, 0, ${delivered + failed}, ${delivered}, ${failed} FROM webhooks WHERE webhook_id = '${id}'`,
      ),
    [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
  };
}

const signerOf = (fid: number) =>
  `INSERT INTO managed_signers (signer_uuid, owner_fid, public_key, sealed, key_id, permissions, created_at, updated_at, fid)
   SELECT 'signer-${fid}', ${OWNER}, secret, secret, 'k', '[]', 1, 1, ${fid} FROM vapid_keys WHERE public_key = 'p${fid}'`;
const fact = (fid: number, expiresAt: number | null) => ({ fid, requestFid: 1, addedAt: 1, expiresAt });

/** The guarantees of the checks of owners' records, over any implementation of the state. */
export function ownerChecksContract(open: () => Promise<OwnerCheckFixture>): void {
  test("a webhook opens one incident of its owner after five consecutive failures over ten minutes, and resolves after ten successes", async () => {
    await using fixture = await fixtureOf(open);
    const { later, health, attempts, addWebhook, open: openNow, sentences, clock } = fixture;
    await addWebhook("hook");
    await addWebhook("other", 4);
    const failing = (failures: number, since: number) =>
      `consecutive_failures = ${failures}, failing_since = ${since}, last_failure_at = ${T0 + 60}`;
    await health("hook", failing(4, T0 - 7200));
    await health("other", failing(9, T0 - 60));
    await later();
    expect(await openNow()).toEqual([]);
    await health("hook", failing(7, T0 - 7200));
    await later();
    await later();
    expect(await openNow()).toEqual([["webhook_failing", "hook", OWNER]]);
    // Neither the title nor the path, which the owner wrote.
    expect(await sentences()).toEqual([
      "Deliveries of webhook hook to hook.example fail: 7 of the last 7 when this opened. Last failure: unknown.",
    ]);
    await health("hook", `consecutive_failures = 0, failing_since = NULL, last_success_at = ${T0 + 100}`);
    const step = Math.ceil(clock.nowMs() / 1000 / 300) * 300;
    await attempts("hook", step, 9, 0);
    await later(600);
    expect((await openNow()).filter(([, subject]) => subject === "hook")).toHaveLength(1);
    await attempts("hook", step + 300, 1, 0);
    await later();
    expect((await openNow()).filter(([, subject]) => subject === "hook")).toEqual([]);
  });

  test("one of fifty deliveries in half an hour of which a fifth failed is failing, a tenth is not", async () => {
    await using fixture = await fixtureOf(open);
    const { later, attempts, addWebhook, open: openNow } = fixture;
    for (const id of ["a", "b", "c"]) await addWebhook(id);
    await attempts("a", T0 - 300, 39, 11);
    await attempts("b", T0 - 300, 45, 5);
    await attempts("c", T0 - 4000, 10, 90);
    await later();
    expect(await openNow()).toEqual([["webhook_failing", "a", OWNER]]);
  });

  test("a webhook that the node disabled has an incident, until it is enabled or deleted", async () => {
    await using fixture = await fixtureOf(open);
    const { later, health, addWebhook, webhooks, open: openNow } = fixture;
    for (const id of ["a", "b"]) await addWebhook(id);
    for (const id of ["a", "b"])
      await health(id, `deactivated_at = ${T0}, deactivation_reason = 'gone', failing_since = ${T0 - DAY}`);
    await later();
    expect((await openNow()).toSorted()).toEqual([
      ["webhook_disabled", "a", OWNER],
      ["webhook_disabled", "b", OWNER],
    ]);
    await health("a", "deactivated_at = NULL, deactivation_reason = NULL");
    await webhooks.delete({ id: "b", ownerFid: OWNER, nowSecs: T0 });
    await later();
    expect(await openNow()).toEqual([]);
  });

  test("an owner with many failing records displaces no other owner, neither in a pass nor among open incidents", async () => {
    await using fixture = await fixtureOf(open);
    const { later, addWebhook, run, open: openNow } = fixture;
    const disable = (set: string, which: string) =>
      run(`UPDATE webhook_health SET ${set} WHERE webhook IN (SELECT seq FROM webhooks WHERE ${which})`);
    await Promise.all(Array.from({ length: MAX_FOUND + 10 }, (_, n) => addWebhook(`many${n}`)));
    await addWebhook("other", 4);
    await disable(`deactivated_at = ${T0}, deactivation_reason = 'gone'`, "owner_fid > 0");
    const counts = async () => {
      const all = await openNow();
      return [OWNER, 4].map((owner) => all.filter(([, , fid]) => fid === owner).length);
    };
    await later();
    expect((await counts())[0]).toBe(MAX_OPEN_OF_CHECK);
    await later();
    expect(await counts()).toEqual([MAX_OPEN_OF_CHECK, 1]);
    // The rest get their turn once some have ended.
    const ended = (await openNow()).flatMap(([, id, fid]) => (fid === OWNER ? [`'${id}'`] : [])).slice(0, 5);
    await disable("deactivated_at = NULL, deactivation_reason = NULL", `webhook_id IN (${ended})`);
    await later();
    await later();
    expect((await counts())[0]).toBe(MAX_OPEN_OF_CHECK);
  });

  test("an API key that expires within seven days has an incident, until it has more time", async () => {
    await using fixture = await fixtureOf(open);
    const { later, apiKeys, open: openNow } = fixture;
    const base = { ownerFid: OWNER, secrets: [], createdAt: T0, updatedAt: T0 };
    for (const [n, expiresAt] of [
      [1, T0 + 6 * DAY],
      [2, T0 + 8 * DAY],
      [3, null],
    ] as const)
      await apiKeys.create({ ...apiKeyItems.makeItem(n, base), active: true, expiresAt }, 10);
    const id = apiKeyItems.idOf(apiKeyItems.makeItem(1, base));
    await later();
    expect(await openNow()).toEqual([["api_key_expires", id, OWNER]]);
    await apiKeys.update({ id, ownerFid: OWNER, nowSecs: T0 }, { expiresAt: T0 + 90 * DAY });
    await later();
    expect(await openNow()).toEqual([]);
  });

  test("a gasless managed signer that expires within seven days has an incident, one on chain has none", async () => {
    await using fixture = await fixtureOf(open);
    const { later, run, facts, open: openNow } = fixture;
    for (const fid of [11, 12, 13]) await run(signerOf(fid));
    facts.set(11, fact(11, T0 + DAY));
    facts.set(12, fact(12, T0 + 30 * DAY));
    facts.set(13, fact(13, null));
    await later();
    await later();
    expect(await openNow()).toEqual([["signer_expires", "signer-11", OWNER]]);
    facts.set(11, fact(11, T0 + 90 * DAY));
    await later();
    expect(await openNow()).toEqual([]);
  });

  test("the incident of a signer stays open while the index of the checking node may lack its key", async () => {
    await using fixture = await fixtureOf(open);
    const { later, run, facts, index, open: openNow } = fixture;
    await run(signerOf(11));
    facts.set(11, fact(11, T0 + DAY));
    await later();
    const opened = await openNow();
    expect(opened).toEqual([["signer_expires", "signer-11", OWNER]]);
    index.isBehind = true;
    facts.clear();
    await later();
    expect(await openNow()).toEqual(opened);
    index.isBehind = false;
    await later();
    expect(await openNow()).toEqual([]);
  });

  test("a send that was held or missed is one incident of the owner of its app, for a day", async () => {
    await using fixture = await fixtureOf(open);
    const { later, run, open: openNow } = fixture;
    await run(
      `INSERT INTO schedules (schedule_id, app_id, owner_fid, custody, body_hash, content, created_at, last_due_at)
       SELECT 's' || public_key, 'app', ${OWNER}, secret, secret, '{}', 1, 1 FROM vapid_keys ORDER BY public_key`,
    );
    const wave = (schedule: string, at: number, state: string) =>
      run(
        `INSERT INTO schedule_waves (schedule, wave, due_at_ms, variant, state)
         SELECT seq, ${at}, ${(T0 + at) * 1000}, 0, '${state}' FROM schedules WHERE schedule_id = '${schedule}'`,
      );
    await wave("sp11", 1, "held");
    await wave("sp11", 2, "held");
    await wave("sp12", 1, "missed");
    await wave("sp13", 1, "sent");
    await later();
    await later();
    const both = [
      ["send_held", "app/sp11", OWNER],
      ["send_missed", "app/sp12", OWNER],
    ];
    expect((await openNow()).toSorted()).toEqual(both);
    await later(DAY + 60);
    expect(await openNow()).toEqual([]);
    await later();
    expect(await openNow()).toEqual([]);
  });

  test("checks that are off open nothing and are resolved, and a node without the lease checks nothing", async () => {
    await using fixture = await fixtureOf(open);
    const { later, clock, health, addWebhook, settings, start, open: openNow } = fixture;
    await addWebhook("a");
    await health("a", `deactivated_at = ${T0}, deactivation_reason = 'gone'`);
    await start({ hold: async () => false }).evaluate();
    expect(await openNow()).toEqual([]);
    await later();
    expect(await openNow()).toHaveLength(1);
    settings.off = ["webhook_disabled"];
    await later();
    expect(await openNow()).toEqual([]);
    settings.off = [];
    clock.advanceSecs(30);
    await later(0);
    expect(await openNow()).toEqual([]);
  });

  test("an owner lists and acknowledges their own incidents, of no one else; the lists of the nodes have none of them", async () => {
    await using fixture = await fixtureOf(open);
    const { later, health, addWebhook, incidents } = fixture;
    await addWebhook("a");
    await addWebhook("b", 4);
    for (const id of ["a", "b"]) await health(id, `deactivated_at = ${T0}, deactivation_reason = 'gone'`);
    await later();
    const [own] = await incidents.listOf(OWNER, 0);
    expect(own).toMatchObject({ nodeId: "a", ownerFid: OWNER, ackedAt: null });
    const id = own?.incidentId ?? "";
    const entry = {
      ...{ atMs: T0 * 1000, ownerFid: 4, action: "incident.ack", apiKeyId: null, signerUuid: null },
      ...{ userFid: null, hash: null, recordId: id, outcome: "ok", requestId: "r", address: "a" },
    };
    expect(await incidents.acknowledgeOwn(4, id, T0, entry)).toBe(false);
    expect(await incidents.acknowledgeOwn(OWNER, id, T0, { ...entry, ownerFid: OWNER })).toBe(true);
    expect((await incidents.listOf(OWNER, 0)).map(({ ackedBy }) => ackedBy)).toEqual([`fid ${OWNER}`]);
    expect(await incidents.list(0, 10)).toEqual([]);
    expect(await incidents.openOf("a")).toEqual([]);
  });
}
