import { afterAll, expect, test } from "bun:test";
import { openState, statePath } from "../../src/db/state/database.ts";
import { BLOCK_FIDS, FidBlock } from "../../src/push/store/campaigns/ledger-block.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { startNode, tempDir } from "../support/program.ts";
import { nested, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

/** Few enough for the suite; set `SEND_KILLS=50` for more. */
const KILLS = Number(process.env.SEND_KILLS ?? (IS_LONG ? 8 : 2));
const TOKENS = 12_000;
const MAX_RUN_MS = 300;
const CLIENT_MS = 10;
/** Calls in flight of all campaigns, and the tokens of one. */
const CONCURRENCY = 3;
const BATCH = 100;

const args = [
  "net.allow_http=true",
  "net.allow_cidrs=127.0.0.0/8,::1/128",
  `send.send_concurrency=${CONCURRENCY}`,
].flatMap((setting) => ["--set", setting]);

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

test(`a campaign continues after ${KILLS} kills at random moments, sends nothing confirmed again nor more than the calls in flight, and counts everything once`, async () => {
  const dataDir = `${dir.path}/data`;
  /** `<notificationId> <token>` of the rows in the database after a kill. */
  const confirmed = new Set<string>();
  const sentAgain: string[] = [];
  const accepted = new Map<string, number>();
  const start = () => startNode({ command: compiledProgram, dataDir, args });
  const seen = new Set<string>();
  /** How many tokens each process received that an earlier one had posted. */
  const repeated = Array.from({ length: KILLS + 1 }, () => 0);
  let life = 0;
  await using client = startPushClient(async ({ notificationId, tokens }) => {
    for (const token of tokens) {
      const key = `${notificationId} ${token}`;
      if (seen.has(key)) repeated[life] = (repeated[life] ?? 0) + 1;
      seen.add(key);
    }
    await Bun.sleep(Math.random() * 2 * CLIENT_MS);
    for (const token of tokens) {
      const key = `${notificationId} ${token}`;
      if (confirmed.has(key)) sentAgain.push(key);
      accepted.set(key, (accepted.get(key) ?? 0) + 1);
    }
    return nested({ successful: tokens });
  });

  await (await start()).stop();
  {
    using state = openState(statePath(dataDir));
    await localStores(state).apps.create(testApp(), 10);
    insertTokens(
      state,
      Array.from({ length: TOKENS }, (_, at) => ({
        fid: 10 + at,
        // Two hosts, since a host is a name and a port.
        url: `http://${at % 2 ? "localhost" : "127.0.0.1"}:${client.port}/notify`,
        token: `${10 + at}`,
      })),
    );
  }
  let interrupted = 0;
  const notificationIds = new Map<string, string>();

  async function send(url: string, uuid: string): Promise<void> {
    const response = await fetch(`${url}/v2/svc/frame/notifications/${APP_ID}`, {
      method: "POST",
      headers: { "x-api-key": SECRET, prefer: "respond-async" },
      body: JSON.stringify({ notification: { ...notification, uuid } }),
    });
    expect(response.status).toBe(202);
    const { campaign_id } = (await response.json()) as { campaign_id: string };
    notificationIds.set(campaign_id, uuid);
  }

  for (let kill = 0; kill < KILLS; kill++) {
    const node = await start();
    const runMs = Math.random() * MAX_RUN_MS;
    if (await isIdle(dataDir)) {
      const uuid = crypto.randomUUID();
      // Occasionally two sends of one notification race, also across the kills.
      await Promise.all([send(node.url, uuid), ...(kill % 3 === 0 ? [send(node.url, uuid)] : [])]);
    }
    if (kill > 0) await Bun.sleep(runMs);
    // The first run ends once something is stored as sent, so that there is something to send again.
    else while ((await sentRows(dataDir)).length === 0) await Bun.sleep(5);
    await node.kill();
    life += 1;
    for (const key of await sentRows(dataDir)) confirmed.add(key);
    if (!(await isIdle(dataDir))) interrupted += 1;
  }

  const last = await start();
  while (!(await isIdle(dataDir))) await Bun.sleep(20);
  expect(await last.stop()).toBe(0);

  using state = openState(statePath(dataDir));
  const campaigns = localStores(state).campaigns;
  const successes = new Map<string, number>();
  for (const [campaignId, uuid] of notificationIds) {
    const campaign = await campaigns.find(campaignId);
    const { success, failure, notAttempted } = campaign?.counts ?? {
      success: 0,
      failure: 0,
      notAttempted: 0,
    };
    expect([campaign?.status, failure]).toEqual(["completed", 0]);
    expect(success + notAttempted).toBe(TOKENS);
    successes.set(uuid, (successes.get(uuid) ?? 0) + success);
  }
  for (const success of successes.values()) expect(success).toBe(TOKENS);
  // Every token received every notification, and none again after the first was stored.
  expect(accepted.size).toBe(TOKENS * successes.size);
  expect(sentAgain).toEqual([]);
  expect(confirmed.size).toBeGreaterThan(0);
  // docs/apps-and-push.md: each kill repeats the calls in flight at most.
  expect(repeated.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(KILLS * CONCURRENCY * BATCH);
  expect(interrupted).toBeGreaterThan(KILLS / 3);
  expect(client.violations).toEqual([]);
}, 300_000);

test("after SIGTERM during a send, the waiting caller gets 202 for a queued campaign, which continues after the start", async () => {
  const dataDir = `${dir.path}/stopped`;
  const start = () => startNode({ command: compiledProgram, dataDir, args });
  let isWell = false;
  const arrived = Promise.withResolvers<void>();
  await using client = startPushClient(({ tokens }) => {
    arrived.resolve();
    return isWell ? nested({ successful: tokens }) : new Promise(() => undefined);
  });
  await (await start()).stop();
  {
    using state = openState(statePath(dataDir));
    await localStores(state).apps.create(testApp(), 10);
    insertTokens(state, [{ fid: 10, url: `http://127.0.0.1:${client.port}/`, token: "t" }]);
  }
  const node = await start();
  const call = fetch(`${node.url}/v2/svc/frame/notifications/${APP_ID}`, {
    method: "POST",
    headers: { "x-api-key": SECRET },
    body: JSON.stringify({ notification }),
  });
  await arrived.promise;
  const stopped = node.stop();
  const response = await call;
  expect([response.status, await response.json()]).toEqual([
    202,
    { campaign_id: expect.any(String), status: "queued" },
  ]);
  expect(await stopped).toBe(0);
  isWell = true;
  await using next = await start();
  while (!(await isIdle(dataDir))) await Bun.sleep(20);
  expect(client.shown.size).toBe(1);
  expect(next.logs()).not.toContain('"level":"error"');
}, 180_000);

async function isIdle(dataDir: string): Promise<boolean> {
  using state = openState(statePath(dataDir));
  return state.sqlite.query("SELECT 1 FROM campaigns WHERE ended_at IS NULL").get() === null;
}

/** `<notificationId> <fid>` of everything that is stored as sent. */
async function sentRows(dataDir: string): Promise<string[]> {
  using state = openState(statePath(dataDir));
  return state.sqlite
    .query<{ id: string; block: number; fids: Uint8Array }, []>(
      `SELECT k.notification_id AS id, d.block, d.fids FROM dedupe d JOIN dedupe_keys k ON k.key = d.key
       WHERE d.sent = 1`,
    )
    .all()
    .flatMap(({ id, block, fids }) => {
      const sent = new FidBlock(fids);
      return Array.from({ length: BLOCK_FIDS }, (_, at) => block * BLOCK_FIDS + at)
        .filter((fid) => sent.has(fid))
        .map((fid) => `${id} ${fid}`);
    });
}
