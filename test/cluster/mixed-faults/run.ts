import { createApps } from "../../../src/apps/app-store.ts";
import type { Random } from "../../../src/demo/random.ts";
import { run } from "../../cli/run.ts";
import { callSigned, type TestCluster, until } from "../../support/cluster.ts";
import { clientKey, keyAddedEvent } from "../../support/envelopes.ts";
import { registerEvent, rentEvent, signerEvent } from "../../support/events.ts";
import { accountSigner, eventRecord } from "../../support/node.ts";
import type { PostgresServer } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { allServed, startPushClient } from "../../support/push-client.ts";
import { startReceiver } from "../../support/receiver.ts";
import { SECRET, testApp } from "../../support/send.ts";
import { custodyWallet } from "../../support/signing.ts";
import { type Arrival, createAuthors } from "./author.ts";
import { keepStepping } from "./client.ts";
import { watchConfirmed } from "./confirmed.ts";
import type { Fleet } from "./fleet.ts";
import { type FaultPlan, injectFaults } from "./inject.ts";
import { createOwner } from "./owner.ts";
import { createSender } from "./sender.ts";
import { CLIENT_FID, createUsers } from "./user.ts";

export const OWNERS = [200, 201];
export const AUTHORS = [210, 211, 212];
const USERS = Array.from({ length: 60 }, (_, n) => 300 + n);
const HOOKS = ["/one", "/two"];
/** A post that was on its way when its node was stopped arrives when it continues. */
const WAKE_MS = 10_000;
const LOOK_MS = 500;

export interface MixedFaults {
  readonly cluster: TestCluster;
  readonly server: PostgresServer;
  readonly fleet: Fleet;
  readonly plan: FaultPlan;
  readonly random: Random;
  /** Tokens of the app that sends. */
  readonly tokens: number;
  /** How long requests continue without faults afterwards. */
  readonly quietMs: number;
}

export interface MixedFaultsReport {
  /** What does not hold. */
  readonly wrong: readonly string[];
  /** When which fault happened, and how many requests of each kind were sent. */
  readonly happened: readonly string[];
}

/** Adds the people whose requests are sent. */
export function addPeople(cluster: TestCluster): void {
  const at = Math.floor(Date.now() / 1000) - 86_400;
  let block = 900_000;
  const place = () => ({ block: block++, at });
  for (const fid of [...OWNERS, ...AUTHORS, ...USERS]) {
    const events = [
      registerEvent(fid, custodyWallet(fid).address, place()),
      signerEvent(fid, accountSigner(fid).publicKey, place()),
      rentEvent(fid, 100, place()),
    ];
    if (USERS.includes(fid))
      events.push(
        keyAddedEvent(fid, clientKey(fid, CLIENT_FID).publicKey, place(), { requestFid: CLIENT_FID }),
      );
    cluster.act(events.map((event) => ({ fid, record: eventRecord(event) })));
  }
}

/**
 * Kills and stops nodes and their PostgreSQL, and cuts nodes off from it, under signed operations, token events, sends,
 * submits and deliveries. Compares the responses with what is there afterwards.
 */
export async function runMixedFaults(options: MixedFaults): Promise<MixedFaultsReport> {
  const { cluster, server, fleet, plan, random, tokens, quietMs } = options;
  const arrivals: Arrival[] = [];
  await using receiver = startReceiver({
    respond({ headers, body, path }) {
      const { text } = JSON.parse(body).data;
      arrivals.push({ id: headers.get("webhook-id") ?? "", hook: path, text, atMs: Date.now() });
      return new Response("ok");
    },
  });
  const posts: { readonly key: string; readonly atMs: number }[] = [];
  await using client = startPushClient(async (request, nth) => {
    for (const token of request.tokens)
      posts.push({ key: `${request.notificationId} ${token}`, atMs: Date.now() });
    return allServed(request, nth);
  });

  const { appId } = await addApp(cluster, "tokens");
  const sending = await addApp(cluster, "sends");
  await cluster.database.query(
    `INSERT INTO svc.tokens (app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at)
     SELECT '${sending.appId}', n, 9152, 'http://127.0.0.1:${client.port}/', '127.0.0.1:${client.port}', 't' || n, true,
       'miniapp_added', 1, 1 FROM generate_series(1, ${tokens}) AS n`,
  );
  // These rows are counted by hand, in a slot that no node has; all others are counted by the events.
  await cluster.database.query(
    `INSERT INTO svc.token_totals (state, slot, count) VALUES ('enabled', 63, ${tokens});
     INSERT INTO svc.audience_clients (app_id, client_fid, host, state, slot, count)
     SELECT app_id, client_fid, host, 'enabled', 63, count(*) FROM svc.tokens WHERE app_id = '${sending.appId}'
     GROUP BY app_id, client_fid, host`,
  );
  for (const hook of HOOKS) await addWebhook(fleet, `http://127.0.0.1:${receiver.port}${hook}`);

  const context = { cluster, fleet, random };
  const owners = OWNERS.slice(1).map((fid) => createOwner(context, fid));
  const users = createUsers(context, appId, USERS);
  const sender = createSender(context, { ...sending, tokens }, client);
  const authors = createAuthors(context, { fids: AUTHORS, hooks: HOOKS, arrivals });
  const clients = { owners: owners[0] ?? users, users, sends: sender, submits: authors };
  const start = () =>
    Object.values(clients).map((one) =>
      keepStepping(one, () => random.next() * (one === sender ? 800 : 200)),
    );
  const confirmed = await watchConfirmed(cluster, LOOK_MS);
  const wrong: string[] = [];
  const happened: string[] = [];
  const noteCounts = (when: string) => {
    const counts = Object.entries(clients).map(
      ([name, one]) => `${name} ${one.done} + ${one.unknown} unknown`,
    );
    happened.push(
      `${when}: ${counts.join(", ")}, ${arrivals.length} deliveries, ${posts.length} posted tokens`,
    );
  };

  const running = start();
  happened.push(...(await injectFaults({ cluster, server, fleet, random }, plan)));
  await Promise.all(running.map((one) => one.stop()));
  noteCounts("with faults");
  await isQuiet(fleet, cluster);

  // Without faults everything succeeds, once.
  const before = { calls: arrivals.length, posts: posts.length, casts: new Set(authors.acknowledged.keys()) };
  const unknownBefore = Object.values(clients).map(({ unknown }) => unknown);
  const again = start();
  await Bun.sleep(quietMs);
  await Promise.all(again.map((one) => one.stop()));
  await until(async () => {
    const isKnown = await Promise.all(fleet.nodes.map(({ running: node }) => hasAll(node?.url ?? "")));
    return isKnown.every((one) => one);
  }, "each node has the last cast");
  await isQuiet(fleet, cluster);
  await confirmed.stop();
  noteCounts("and without");
  for (const [at, [name, { unknown }]] of Object.entries(clients).entries())
    if (unknown !== unknownBefore[at]) wrong.push(`${name}: without faults a request had no answer`);
  const quietCalls = arrivals.slice(before.calls).filter(({ text }) => !before.casts.has(text));
  const repeats = (keys: readonly string[]) => keys.length - new Set(keys).size;
  if (repeats(quietCalls.map(({ id }) => id)) > 0) wrong.push("without faults a delivery was repeated");
  if (repeats(posts.slice(before.posts).map((post) => post.key)) > 0)
    wrong.push("without faults a post was repeated");

  for (const { id, atMs } of [
    ...arrivals.map(({ id, atMs }) => ({ id, atMs })),
    ...posts.map((post) => ({ id: post.key, atMs: post.atMs })),
  ]) {
    const sinceMs = confirmed.sinceMs.get(id);
    if (sinceMs === undefined || atMs <= sinceMs) continue;
    if (fleet.wokenAtMs.some((wokenMs) => atMs >= wokenMs && atMs < wokenMs + WAKE_MS)) continue;
    wrong.push(`${id} was confirmed, and repeated ${atMs - sinceMs} ms later`);
  }
  for (const one of Object.values(clients)) wrong.push(...(await one.verify()));
  wrong.push(...fleet.problems, ...(await leftOver(fleet, cluster)));
  happened.push(
    `slowest request ${Math.round(fleet.slowestMs)} ms, ${confirmed.looks} looks at ${confirmed.sinceMs.size} confirmed`,
  );
  const check = await run([...cluster.argsOf("check"), "state", "check"]);
  if (check.exitCode !== 0) wrong.push(check.errors);
  return { wrong, happened };

  /** Whether a node has applied the newest acknowledged cast of each author. */
  async function hasAll(url: string): Promise<boolean> {
    const newest = new Map([...authors.acknowledged].map(([text, fid]) => [fid, text]));
    for (const [fid, text] of newest) {
      const response = await fetch(`${url}/v2/svc/feed/user/casts?fid=${fid}&limit=5`);
      const { casts } = (await response.json()) as { casts: { text: string }[] };
      if (!casts.some((cast) => cast.text === text)) return false;
    }
    return true;
  }
}

/** Waits until all nodes work and have nothing left to do. */
async function isQuiet(fleet: Fleet, { database }: TestCluster): Promise<void> {
  const left = `SELECT (SELECT count(*) FROM svc.deliveries WHERE state = 'queued')
    + (SELECT count(*) FROM svc.campaigns WHERE ended_at IS NULL) AS n`;
  await until(
    async () => {
      for (const { running } of fleet.nodes) {
        const response = await fetch(`${running?.url}/ready?for=state`, { keepalive: false });
        if (response.status !== 200) return false;
        const { webhooks } = (await (await fetch(`${running?.url}/status`)).json()) as {
          webhooks: { outbox_events: number };
        };
        if (webhooks.outbox_events > 0) return false;
      }
      const rows = await database.query(left).catch(() => undefined);
      return Number(rows?.[0]?.n) === 0;
    },
    "nothing is left to do",
    60_000,
  );
}

/** Locks, leases and calls that should have ended. */
async function leftOver(fleet: Fleet, { database }: TestCluster): Promise<string[]> {
  const busy: string[] = [];
  const look = async () => {
    busy.length = 0;
    const [rows] = await database.query(
      `SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' OR NOT granted) AS locks,
         (SELECT count(*) FROM svc.deliveries WHERE lease_ends_at_ms IS NOT NULL) AS leases,
         (SELECT count(*) FROM svc.campaigns WHERE ended_at IS NULL) AS campaigns,
         (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%') AS open`,
    );
    for (const [what, count] of Object.entries(rows ?? {}))
      if (Number(count) > 0) busy.push(`${count} ${what} are left`);
    for (const { name, running } of fleet.nodes) {
      const status = (await (await fetch(`${running?.url}/status`)).json()) as {
        state: { waiting_calls: number; fenced: boolean };
        send: { calls_in_flight: number; batches_waiting: number };
        webhooks: { calls_in_flight: number; waiting: number };
      };
      const { state, send, webhooks } = status;
      const left = {
        ...send,
        calls: webhooks.calls_in_flight,
        waiting: webhooks.waiting,
        state: state.waiting_calls,
      };
      for (const [what, count] of Object.entries(left))
        if (typeof count === "number" && count > 0 && !/campaigns|hosts/.test(what))
          busy.push(`${name}: ${what} is ${count}`);
      if (state.fenced) busy.push(`${name} is fenced`);
    }
    return busy.length === 0;
  };
  await until(look, "nothing is left", 5_000).catch(() => undefined);
  return busy;
}

/** Adds an app as a node does, with an address that a client's schema accepts. */
async function addApp({ database }: TestCluster, appId: string): Promise<{ appId: string; key: string }> {
  const key = `${SECRET.slice(appId.length)}${appId}`;
  const secrets = [{ uid: appId, value: key, createdAt: 1, expiresAt: null }];
  const apps = createApps(stateDbOf(database.pools()));
  await apps.create(testApp({ appId, secrets }), 100);
  return { appId, key };
}

async function addWebhook(fleet: Fleet, url: string): Promise<void> {
  const fid = OWNERS[0] ?? 0;
  await succeed(fleet, fid, `/webhook?owner_fid=${fid}`, {
    name: url,
    url,
    subscription: { "cast.created": { author_fids: AUTHORS } },
  });
}

async function succeed(fleet: Fleet, fid: number, path: string, body: object) {
  const [node] = fleet.nodes;
  if (!node?.running) throw new Error("no node is up");
  const response = await callSigned(node.running, fid, "POST", path, body);
  if (response.status !== 200)
    throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}
