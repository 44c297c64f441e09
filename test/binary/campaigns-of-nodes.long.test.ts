import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BLOCK_FIDS, FidBlock } from "../../src/push/store/campaigns/ledger-block.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { type SharedServices, startSharedServices } from "../support/postgres/nodes.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";
import { allServed, type PushClient, type PushScript, startPushClient } from "../support/push-client.ts";
import { notification, SECRET, testApp } from "../support/send.ts";
import { custodyWallet } from "../support/signing.ts";

/** Two nodes, compiled, over one PostgreSQL: what a send promises holds over both, whichever of them ends. */

const TOKENS = 10_000;
const KILLS = 20;
/** On a busy machine two campaigns of one notification may wait long for each other, and a response after that is 503. */
const STATE_TIMEOUT = "state.timeout_ms=20000";
const settings = ["net.allow_http=true", "net.allow_cidrs=127.0.0.0/8", STATE_TIMEOUT];

describe.skipIf(!HAS_POSTGRES)("campaigns of two nodes", () => {
  let shared: SharedServices;
  let a: RunningNode;
  let b: RunningNode;
  let apps = 0;
  beforeAll(async () => {
    shared = await startSharedServices(compiledProgram);
    [a, b] = await Promise.all([start("a"), start("b")]);
  }, 180_000);
  afterAll(() => shared[Symbol.asyncDispose]());

  /** Starts a node and waits until its index is filled: before that, it refuses sends. */
  async function start(nodeId: string): Promise<RunningNode> {
    const node = await shared.startNode(nodeId, settings);
    const isFilled = async () => {
      const status = (await (await fetch(`${node.url}/status`)).json()) as { upstream?: { phase: string } };
      return status.upstream?.phase === "live";
    };
    while (!(await isFilled())) await Bun.sleep(20);
    return node;
  }

  /** Adds an app whose users have tokens of the client. Returns its id. */
  async function addApp(client: PushClient, tokens = TOKENS): Promise<string> {
    apps += 1;
    const appId = `app${apps}`;
    const secrets = [{ uid: appId, value: secretOf(appId), createdAt: 1, expiresAt: null }];
    await shared.stores.apps.create(testApp({ appId, secrets }), 100);
    await shared.database.query(
      `INSERT INTO tokens (app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at)
       SELECT '${appId}', n, 9152, 'http://127.0.0.1:${client.port}/', '127.0.0.1:${client.port}', 't' || n, true,
         'miniapp_added', 1, 1 FROM generate_series(1, ${tokens}) AS n`,
    );
    return appId;
  }

  async function send(
    node: RunningNode,
    appId: string,
    options: { readonly uuid?: string; readonly isAsync?: boolean } = {},
  ) {
    const { uuid, isAsync = false } = options;
    const response = await fetch(`${node.url}/v2/svc/frame/notifications/${appId}`, {
      method: "POST",
      headers: { "x-api-key": secretOf(appId), ...(isAsync ? { prefer: "respond-async" } : {}) },
      body: JSON.stringify({ notification: { ...notification, uuid } }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  }

  const campaignOf = (id: unknown) => shared.stores.campaigns.find(String(id));

  async function ended(id: unknown) {
    for (;;) {
      const campaign = await campaignOf(id);
      if (campaign?.endedAt) return campaign;
      await Bun.sleep(20);
    }
  }

  /** A client that holds its calls from the nth on until it is released. */
  function holding(from: number) {
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const script: PushScript = async (request, nth) => {
      if (nth >= from) {
        held.resolve();
        await gate.promise;
      }
      return allServed(request, nth);
    };
    return { script, held: held.promise, release: () => gate.resolve() };
  }

  /** Waits until every call that the node has started is at the client, which holds those from the nth on. */
  async function allArrived(node: RunningNode, client: PushClient, nth: number): Promise<void> {
    for (let looks = 0; looks < 5; ) {
      const status = (await (await fetch(`${node.url}/status`)).json()) as {
        send: { calls_in_flight: number } | null;
      };
      looks = status.send?.calls_in_flight === client.requests.length - nth ? looks + 1 : 0;
      await Bun.sleep(100);
    }
  }

  test("one uuid sent at once through both reaches each of 10,000 fids once, and their successes sum up", async () => {
    await using client = startPushClient();
    const appId = await addApp(client);
    const uuid = crypto.randomUUID();
    const responses = await Promise.all([send(a, appId, { uuid }), send(b, appId, { uuid })]);
    expect(responses.map(({ status, body }) => [status, body.message])).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
    const successes = responses.map(({ body }) => Number(body.success_count));
    expect((successes[0] ?? 0) + (successes[1] ?? 0)).toBe(TOKENS);
    expect([client.shown.size, Math.max(...client.shown.values())]).toEqual([TOKENS, 1]);
    const finished = /"success":\d+,"failure":0,"notAttempted":\d+,"msg":"Finished a campaign"/;
    for (const node of [a, b]) while (!finished.test(node.logs())) await Bun.sleep(10);
  }, 180_000);

  test("after SIGTERM of a node, the other one continues its campaign at once", async () => {
    const { script, held, release } = holding(20);
    await using client = startPushClient(script);
    const appId = await addApp(client);
    const { body } = await send(a, appId, { isAsync: true });
    await held;
    const calls = client.requests.length;
    const stopped = a.stop();
    // The calls of the first node are still held: it does not wait for them before it leaves its campaign to the other one.
    while (client.requests.length === calls) await Bun.sleep(10);
    release();
    expect(await stopped).toBe(0);
    expect((await ended(body.campaign_id)).counts).toEqual({ success: TOKENS, failure: 0, notAttempted: 0 });
    a = await start("a");
  }, 180_000);

  test.skipIf(!IS_LONG)(
    "after kill -9 of a node, the other one continues within 10 seconds; only calls in flight are repeated",
    async () => {
      const { script, held, release } = holding(40);
      await using client = startPushClient(script);
      const appId = await addApp(client);
      const uuid = crypto.randomUUID();
      const sends = [
        await send(a, appId, { uuid, isAsync: true }),
        await send(b, appId, { uuid, isAsync: true }),
      ];
      await held;
      await a.kill();
      const killedMs = performance.now();
      // Of both nodes, since a call does not name the node that makes it.
      const inFlight = new Set(client.requests.slice(40).flatMap(({ tokens }) => tokens));
      while (!b.logs().includes("Resumed an unfinished campaign")) await Bun.sleep(20);
      expect(performance.now() - killedMs).toBeLessThan(10_000);
      release();
      const campaigns = await Promise.all(sends.map(({ body }) => ended(body.campaign_id)));
      for (const { counts } of campaigns) {
        expect(counts.failure).toBe(0);
        expect(counts.success + counts.notAttempted).toBe(TOKENS);
      }
      expect(campaigns.reduce((sum, { counts }) => sum + counts.success, 0)).toBe(TOKENS);
      expect(client.shown.size).toBe(TOKENS);
      const repeated = [...client.shown].filter(([, times]) => times > 1);
      expect(repeated.every(([key]) => inFlight.has(key.split(" ")[1] ?? ""))).toBe(true);
      // docs/apps-and-push.md: a node has 32 calls in flight at most, of a hundred tokens each.
      expect(repeated.length).toBeLessThanOrEqual(32 * 100);
      a = await start("a");
    },
    180_000,
  );

  test.skipIf(!IS_LONG)(
    "a node that was stopped for 20 seconds writes nothing for a campaign that the other one took over",
    async () => {
      const { script, held, release } = holding(40);
      await using client = startPushClient(script);
      const appId = await addApp(client);
      const { body } = await send(a, appId, { isAsync: true });
      await held;
      // A call that it has started continues, however long it stalls.
      await allArrived(a, client, 40);
      process.kill(a.pid, "SIGSTOP");
      const calls = client.requests.length;
      const stoppedMs = performance.now();
      while (client.requests.length === calls) await Bun.sleep(20);
      expect(performance.now() - stoppedMs).toBeLessThan(10_000);
      release();
      const campaign = await ended(body.campaign_id);
      expect(campaign.counts).toEqual({ success: TOKENS, failure: 0, notAttempted: 0 });
      await Bun.sleep(Math.max(0, stoppedMs + 20_000 - performance.now()));
      const before = client.requests.length;
      process.kill(a.pid, "SIGCONT");
      while (!a.logs().includes("Another run has taken over a campaign")) await Bun.sleep(20);
      expect(client.requests).toHaveLength(before);
      expect(await campaignOf(body.campaign_id)).toEqual(campaign);
      // It works on.
      const next = await send(a, await addApp(client, 5));
      expect([next.status, next.body.success_count]).toEqual([200, 5] as never);
    },
    180_000,
  );

  test.skipIf(!IS_LONG)(
    `after ${KILLS} kills of random nodes, everything is sent, nothing confirmed is sent again, and all counts add up`,
    async () => {
      /** `<uuid> <token>` of what was stored as sent after a kill. */
      const confirmed = new Set<string>();
      const sentAgain: string[] = [];
      await using client = startPushClient(async (request, nth) => {
        await Bun.sleep(Math.random() * 80);
        for (const token of request.tokens) {
          const key = `${request.notificationId} ${token}`;
          if (confirmed.has(key)) sentAgain.push(key);
        }
        return allServed(request, nth);
      });
      const appId = await addApp(client);
      const campaigns = new Map<string, string>();
      for (let kill = 0; kill < KILLS; kill++) {
        const uuid = crypto.randomUUID();
        for (const node of [a, b]) {
          const { status, body } = await send(node, appId, { uuid, isAsync: true });
          expect(status).toBe(202);
          campaigns.set(String(body.campaign_id), uuid);
        }
        await Bun.sleep(Math.random() * 600);
        const victim = Math.random() < 0.5 ? "a" : "b";
        await (victim === "a" ? a : b).kill();
        for (const key of await sentTokens()) confirmed.add(key);
        const restarted = await start(victim);
        if (victim === "a") a = restarted;
        else b = restarted;
      }
      const successes = new Map<string, number>();
      for (const [campaignId, uuid] of campaigns) {
        const { status, counts } = await ended(campaignId);
        expect([status, counts.failure, counts.success + counts.notAttempted]).toEqual([
          "completed",
          0,
          TOKENS,
        ]);
        successes.set(uuid, (successes.get(uuid) ?? 0) + counts.success);
      }
      expect(new Set(successes.values())).toEqual(new Set([TOKENS]));
      expect(client.shown.size).toBe(TOKENS * successes.size);
      expect(confirmed.size).toBeGreaterThan(0);
      expect(sentAgain).toEqual([]);
    },
    600_000,
  );

  test(
    "scheduled sends of two nodes, one of which is killed around their time, each reach everyone as one campaign",
    async () => {
      const rounds = IS_LONG ? 25 : 2;
      const perRound = IS_LONG ? 40 : 5;
      const tokens = 150;
      await using client = startPushClient(async (request, nth) => {
        await Bun.sleep(Math.random() * 20);
        return allServed(request, nth);
      });
      const appId = await addApp(client, tokens);
      const ids: string[] = [];
      for (let round = 0; round < rounds; round++) {
        const dueAt = Math.floor(Date.now() / 1000) + 2;
        for (let at = 0; at < perRound; at++) ids.push(await schedule(appId, dueAt));
        // From before the nodes look for what is due until the campaigns run.
        await Bun.sleep(Math.max(0, dueAt * 1000 - Date.now()) + Math.random() * 1_500 - 100);
        const victim = Math.random() < 0.5 ? "a" : "b";
        await (victim === "a" ? a : b).kill();
        const restarted = await start(victim);
        if (victim === "a") a = restarted;
        else b = restarted;
      }
      for (const scheduleId of ids) {
        let wave = (await shared.stores.schedules.find(scheduleId))?.waves[0];
        while (wave?.state === "due") {
          await Bun.sleep(20);
          wave = (await shared.stores.schedules.find(scheduleId))?.waves[0];
        }
        expect(wave).toMatchObject({ state: "sent", campaignId: Bun.randomUUIDv5("0", scheduleId) });
        expect((await ended(wave?.campaignId)).counts).toEqual({
          success: tokens,
          failure: 0,
          notAttempted: 0,
        });
      }
      // A client shows a notification once for each id and token, whatever is posted again.
      expect(client.shown.size).toBe(ids.length * tokens);
      const stored = await shared.database.query(
        `SELECT count(*)::int AS n FROM campaigns WHERE app_id = '${appId}'`,
      );
      expect(stored[0]).toEqual({ n: ids.length });
    },
    IS_LONG ? 900_000 : 180_000,
  );

  async function schedule(appId: string, dueAt: number): Promise<string> {
    const scheduleId = crypto.randomUUID();
    const { title, body, target_url: targetUrl } = notification;
    const outcome = await shared.stores.schedules.create(
      {
        scheduleId,
        appId,
        ownerFid: 3,
        custody: custodyWallet(3).address,
        bodyHash: new Uint8Array(32),
        content: {
          texts: [{ title, body, targetUrl }],
          audience: { targetFids: [], excludeFids: [], followingFid: null },
          timing: { at: dueAt, local: null, quiet: null, zone: "UTC" },
          times: [dueAt],
          holdoutPercent: 0,
          lateOkSecs: 3_600,
        },
        createdAt: dueAt - 2,
        waves: [{ wave: 0, dueAt, variant: 0 }],
      },
      100,
    );
    expect(outcome).toBe("created");
    return scheduleId;
  }

  /** `<uuid> <token>` of everything that is stored as sent. */
  async function sentTokens(): Promise<string[]> {
    const rows = await shared.database.query(
      `SELECT k.notification_id AS id, d.block, d.fids FROM dedupe d JOIN dedupe_keys k ON k.key = d.key WHERE d.sent`,
    );
    return rows.flatMap(({ id, block, fids }) => {
      const sent = new FidBlock(fids as Uint8Array);
      return Array.from({ length: BLOCK_FIDS }, (_, at) => Number(block) * BLOCK_FIDS + at)
        .filter((fid) => sent.has(fid))
        .map((fid) => `${id} t${fid}`);
    });
  }
});

/** A secret identifies its app, so each app has its own. */
function secretOf(appId: string): string {
  return SECRET.slice(appId.length) + appId;
}
