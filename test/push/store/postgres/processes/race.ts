import { readPostgresUrl } from "../../../../../src/config/postgres-url.ts";
import { openPgPools } from "../../../../../src/db/postgres/pools.ts";
import { postgresStateDb } from "../../../../../src/db/postgres/state-db.ts";
import { createSteadyClock } from "../../../../../src/db/state/state-clock.ts";
import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../../src/node/state/postgres/open-postgres.ts";
import type { CampaignWork } from "../../../../../src/push/store/campaigns/campaign-store.ts";
import { openTokenImport } from "../../../../../src/push/store/tokens/token-import.ts";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../support/log.ts";
import { serveRounds } from "../../../../support/postgres/racers.ts";

/** One node's part of a round. */
export type Round =
  | { readonly kind: "events"; readonly appId: string; readonly fid: number; readonly tries: number }
  | { readonly kind: "create"; readonly appId: string; readonly tries: number; readonly max: number }
  | { readonly kind: "take" }
  | { readonly kind: "send"; readonly work: CampaignWork; readonly tokens: number }
  | { readonly kind: "import"; readonly appId: string; readonly fids: number; readonly at: number }
  | { readonly kind: "report"; readonly appId: string; readonly fids: number; readonly at: number }
  | { readonly kind: "sweep"; readonly times: number }
  | { readonly kind: "delete"; readonly appId: string };

const [url = "", slot = "0", bootId = ""] = process.argv.slice(2);
const connect = readPostgresUrl(url);
if (!connect.ok) throw new Error(connect.error);
const pools = openPgPools({
  settings: { connect: connect.value, schema: "svc", timeoutMs: 30_000 },
  applicationName: "race",
  connections: { main: 8, queue: 1, ledger: 2 },
  log: silentLog,
});
const node = { nodeId: `node-${slot}`, bootId, slot: Number(slot) };
const clock = createSteadyClock({ clock: systemClock });
const stateDb = postgresStateDb({ synced: pools.main, unsynced: pools.main }, { clock, node });
const stores = createPostgresStores(pools, { node, clock, limits: { maxQueued: 1 } });
const countSweep = createPostgresSweeps(pools, { node, clock }).find(
  ({ name }) => name === "audience_clients",
);
const { tokens, campaigns, ledger, apps } = stores;
const hourly = { maxChanges: 60, windowSecs: 3_600 };
const UNLIMITED = { maxChanges: 1_000_000, windowSecs: 1 };
const success = { kind: "success", reason: "", isRetryable: false } as const;
const nowSecs = () => Math.floor(systemClock.nowMs() / 1000);

function details(text: string) {
  return { url: "https://client.example/n", host: "client.example", token: text };
}

async function run(round: Round): Promise<unknown> {
  switch (round.kind) {
    case "events": {
      const { appId, fid } = round;
      const outcomes = await Promise.all(
        Array.from({ length: round.tries }, (_, at) =>
          tokens.apply(
            {
              appId,
              fid,
              clientFid: 1 + (at % 5),
              nowSecs: nowSecs(),
              event: { name: "miniapp_added", details: details(`t${at}`) },
            },
            hourly,
          ),
        ),
      );
      return outcomes;
    }
    case "create": {
      const { appId, max } = round;
      const outcomes = await Promise.all(
        Array.from({ length: round.tries }, () =>
          campaigns.create(
            {
              campaignId: crypto.randomUUID(),
              appId,
              notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
              audience: { targetFids: [], excludeFids: [], followingFid: null },
              createdAt: nowSecs(),
              ledgerSecs: 86_400,
            },
            max,
          ),
        ),
      );
      return outcomes.filter((outcome) => outcome === "created").length;
    }
    case "take": {
      const limits = { maxRunning: 10, maxRunningOfApp: 10 };
      return campaigns.take({ running: [], ...limits }, nowSecs());
    }
    case "send": {
      // Batches of a hundred, several at a time, as the fan-out does.
      const claimed: number[] = [];
      const batches = Array.from({ length: round.tokens / 100 }, (_, batch) =>
        Array.from({ length: 100 }, (_, at) => ({ fid: batch * 100 + at, clientFid: 0 })),
      );
      const sendNext = async () => {
        for (let batch = batches.shift(); batch; batch = batches.shift()) {
          const result = await ledger.claim(round.work, batch, 30);
          for (const { fid } of result.claimed) claimed.push(fid);
          const outcomes = result.claimed.map(() => success);
          await ledger.record(round.work, "h", { tokens: result.claimed, outcomes }, 86_400);
        }
      };
      await Promise.all([sendNext(), sendNext(), sendNext(), sendNext()]);
      await campaigns.end(round.work, "completed", nowSecs());
      return claimed;
    }
    case "import": {
      const { appId, at } = round;
      using into = openTokenImport(stateDb, { dryRun: false });
      const list = Array.from({ length: round.fids }, (_, n) => ({
        appId,
        fid: 1 + n,
        clientFid: 0,
        details: details(`imported-${n}`),
        isEnabled: n % 3 > 0,
        createdAt: at,
        updatedAt: at,
      }));
      return (await into.put(list, nowSecs())).length;
    }
    case "report": {
      const { appId, at } = round;
      const names = [
        "miniapp_added",
        "notifications_disabled",
        "notifications_enabled",
        "miniapp_removed",
      ] as const;
      const invalid: { appId: string; fid: number; clientFid: number; token: string }[] = [];
      const report = async (n: number) => {
        const fid = 1 + (n % round.fids);
        const clientFid = n % 2;
        const name = names[Math.floor(Math.random() * 4)] ?? "miniapp_removed";
        const token = details(`reported-${n}`);
        const event =
          name === "miniapp_added" || name === "notifications_enabled" ? { name, details: token } : { name };
        await tokens.apply({ appId, fid, clientFid, nowSecs: at + n, event }, UNLIMITED);
        if (n % 7 === 0) invalid.push({ appId, fid, clientFid, token: token.token });
        if (invalid.length >= 5) await tokens.deleteMatching(invalid.splice(0));
      };
      for (let n = 0; n < 200; n += 8) await Promise.all(Array.from({ length: 8 }, (_, k) => report(n + k)));
      return null;
    }
    case "sweep": {
      let deleted = 0;
      for (let n = 0; n < round.times; n++) deleted += (await countSweep?.step(10))?.deleted ?? 0;
      return deleted;
    }
    case "delete":
      return apps.delete({ id: round.appId, ownerFid: 3, nowSecs: nowSecs() });
  }
}

await serveRounds(run);
