import { SQL } from "bun";
import type { ApiDeps } from "../src/api/deps.ts";
import { pluginOf } from "../src/api/op.ts";
import { appOperations } from "../src/api/operations/apps/apps.ts";
import { createApps } from "../src/apps/app-store.ts";
import { createNonces } from "../src/auth/nonce-store.ts";
import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { openPgPools } from "../src/db/postgres/pools.ts";
import { openState, statePath } from "../src/db/state/database.ts";
import { createManagement } from "../src/node/compose/management.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { configWith } from "../test/runtime/config.ts";
import { registerEvent } from "../test/support/events.ts";
import { runHttp } from "../test/support/http.ts";
import { silentLog } from "../test/support/log.ts";
import { startTestNode } from "../test/support/node.ts";
import { createDatabase, type PostgresDatabase } from "../test/support/postgres/database.ts";
import type { PostgresServer } from "../test/support/postgres/server.ts";
import { stateDbOf } from "../test/support/postgres/state-db.ts";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import { custodyWallet, signedHeaders } from "../test/support/signing.ts";
import { localStores } from "../test/support/state-stores.ts";
import type { Figure } from "./main.ts";
import { startDurablePostgres } from "./postgres.ts";
import { median } from "./start.ts";

const RUNS = 5;
const CONNECTIONS = 8;
const IN_FLIGHT = 32;
const SPENDS = 2_000;
const SIGNED = 300;
const FID = 3;
const IDLE_SECS = 15;
const log = silentLog;

/** Measures a node with its state in PostgreSQL, whose commits are synced: nonces, signed requests, and idle load. */
export async function benchNodeOnPostgres(): Promise<Figure[]> {
  await using server = await startDurablePostgres();
  await using database = await createDatabase({ server });
  return [...(await benchNonces(database)), ...(await benchSigned(database)), ...(await benchIdle(server))];
}

/** Runs `spend` for each nonce, `IN_FLIGHT` at a time. Returns the rate per second. */
async function rateOf(spend: (nonce: Uint8Array) => Promise<unknown>): Promise<number> {
  let left = SPENDS;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await spend(crypto.getRandomValues(new Uint8Array(32)));
    }),
  );
  return (SPENDS * 1000) / (performance.now() - startedMs);
}

async function benchNonces(database: PostgresDatabase): Promise<Figure[]> {
  const { settings } = database;
  const connections = { main: CONNECTIONS };
  await using pools = openPgPools({ settings, applicationName: "bench", connections, log });
  const nonces = createNonces(stateDbOf(pools));
  await using bare = new SQL(database.url, { max: CONNECTIONS, connection: { search_path: "svc" } });
  const times = { nowSecs: 100, validUntil: 400, expiresAt: 700 };
  const rates = { bare: [] as number[], store: [] as number[] };
  for (let run = -1; run < RUNS; run++) {
    const ofBare = await rateOf((nonce) =>
      bare.unsafe(
        "INSERT INTO nonces (fid, nonce, expires_at, spender) VALUES (1, $1, 700, gen_random_uuid()) ON CONFLICT DO NOTHING",
        [nonce],
      ),
    );
    const ofStore = await rateOf((nonce) => nonces.spend({ fid: FID, nonce }, times));
    if (run < 0) continue;
    rates.bare.push(ofBare);
    rates.store.push(ofStore);
  }
  const ratio = median(rates.store.map((rate, run) => rate / (rates.bare[run] ?? Number.NaN)));
  return [
    {
      what: `bare inserts, ${IN_FLIGHT} in flight, median of ${RUNS}`,
      value: median(rates.bare),
      unit: "nonces/s",
    },
    {
      what: "spends through the store",
      value: median(rates.store),
      unit: "nonces/s",
      ratio: { of: "bare inserts, goal 0.75", value: ratio },
    },
  ];
}

/** Measures signed requests, one after the other, through the HTTP interface of this process. */
async function benchSigned(database: PostgresDatabase): Promise<Figure[]> {
  using node = startTestNode();
  node.ingestEvent(registerEvent(FID, custodyWallet(FID).address, { block: 1 }));
  using index = openIndexReader(indexPath(node.dir));
  using sqlite = openState(statePath(node.dir));
  const { main } = database.pools();
  const local = localStores(sqlite);
  const remote = {
    ...local,
    nonces: createNonces(stateDbOf({ main })),
    apps: createApps(stateDbOf({ main })),
  };
  const https = [local, remote].map((state) => {
    const common = { config: configWith(), clock: systemClock, log };
    const plugins = [
      pluginOf("native", appOperations, createManagement({ common, index, state }) as ApiDeps),
    ];
    return runHttp({ plugins, clock: systemClock, logLevel: "info" });
  });
  const rates: [number[], number[]] = [[], []];
  for (let run = -1; run < RUNS; run++) {
    for (const [at, { server }] of https.entries()) {
      const signedAt = Math.floor(Date.now() / 1000);
      const call = { method: "GET", path: "/frame/app/list", fid: FID, signedAt } as const;
      const requests: Record<string, string>[] = [];
      for (let n = 0; n < SIGNED; n++) requests.push(await signedHeaders(call));
      const startedMs = performance.now();
      for (const headers of requests) {
        const response = await server.handle(new Request("http://svc/v2/svc/frame/app/list", { headers }));
        if (response.status !== 200) throw new Error(`a signed request got ${response.status}`);
        await response.text();
      }
      if (run >= 0) rates[at]?.push((SIGNED * 1000) / (performance.now() - startedMs));
    }
  }
  for (const http of https) await http[Symbol.asyncDispose]();
  const [ofLocal, ofRemote] = rates;
  const ratio = median(ofRemote.map((rate, run) => rate / (ofLocal[run] ?? Number.NaN)));
  return [
    { what: "signed GET, sequential, state.db", value: median(ofLocal), unit: "requests/s" },
    {
      what: "signed GET, sequential, PostgreSQL",
      value: median(ofRemote),
      unit: "requests/s",
      ratio: { of: "state.db, goal 0.60", value: ratio },
    },
  ];
}

/** Counts the statements that an idle node sends to PostgreSQL. */
async function benchIdle(server: PostgresServer): Promise<Figure[]> {
  await using database = await createDatabase({ server });
  using dir = tempDir();
  const args = ["--set", `state.url=${database.url}`, "--set", "http.workers=1"];
  await using node = await startNode({ command: [await compileInto(DIST)], dataDir: dir.path, args });
  await Bun.sleep(3_000);
  const decisions = async () => {
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    const counts = [...metrics.matchAll(/^svc_state_queries_total\{.*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const before = await decisions();
  await Bun.sleep(IDLE_SECS * 1000);
  const perSecond = ((await decisions()) - before) / IDLE_SECS;
  const [open] = await database.query(
    "SELECT count(*)::float8 AS n FROM pg_stat_activity WHERE application_name LIKE 'svc/%'",
  );
  await node.stop();
  return [
    { what: "decisions of an idle node, goal at most 6", value: perSecond, unit: "per s" },
    { what: "connections of an idle node, at most 14", value: Number(open?.n), unit: "connections" },
  ];
}
