import { SQL } from "bun";
import { createApps } from "../src/apps/app-store.ts";
import { openState, statePath } from "../src/db/state/database.ts";
import { createDatabase } from "../test/support/postgres/database.ts";
import { stateDbOf } from "../test/support/postgres/state-db.ts";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import { insertTokens, type TokenSpec, testApp } from "../test/support/send.ts";
import { localStores } from "../test/support/state-stores.ts";
import type { Figure } from "./main.ts";
import { startDurablePostgres } from "./postgres.ts";
import { SPEEDS, secretOf, send, startClients, timed, tokensOf } from "./send.ts";
import { median } from "./start.ts";

const RUNS = 5;
const ROWS_PER_INSERT = 1_000;

/**
 * Measures sends to 100,000 tokens of five clients with the state in PostgreSQL, whose commits are synced, alternately with
 * a bare posting loop and with a node that has its state in state.db.
 */
export async function benchSendPostgres(): Promise<Figure[]> {
  using dir = tempDir();
  await using clients = await startClients(dir.path);
  const { urls, env } = clients;
  await using server = await startDurablePostgres();
  await using database = await createDatabase({ server });
  const command = [await compileInto(DIST)];
  const start = (name: string, settings: readonly string[]) =>
    startNode({
      command,
      dataDir: `${dir.path}/${name}`,
      args: ["net.allow_cidrs=127.0.0.0/8", ...settings].flatMap((setting) => ["--set", setting]),
      env,
    });

  await (await start("sqlite", [])).stop();
  {
    using state = openState(statePath(`${dir.path}/sqlite`));
    const apps = createApps(stateDbOf(database.pools()));
    await using sql = new SQL(database.url, { max: 1, connection: { search_path: "svc" } });
    for (const [appId] of SPEEDS) {
      const secrets = [{ uid: appId, value: secretOf(appId), createdAt: 1, expiresAt: null }];
      const app = testApp({ appId, secrets });
      await localStores(state).apps.create(app, 10);
      await apps.create(app, 10);
      const tokens = tokensOf(appId, urls[appId]);
      insertTokens(state, tokens);
      await insertIntoPostgres(sql, tokens);
    }
    await sql.unsafe("ANALYZE");
  }
  await using local = await start("sqlite", []);
  await using remote = await start("postgres", [`state.url=${database.url}`]);

  const figures: Figure[] = [];
  for (const [appId, what] of SPEEDS) {
    const times = { bare: [] as number[], local: [] as number[], remote: [] as number[] };
    for (let run = -1; run < RUNS; run++) {
      const bare = await clients.postBare(appId);
      const onLocal = await timed(() => send(local, appId));
      const onRemote = await timed(() => send(remote, appId));
      // The first run is a warm-up.
      if (run < 0) continue;
      times.bare.push(bare);
      times.local.push(onLocal);
      times.remote.push(onRemote);
    }
    const [bare, onLocal, onRemote] = [median(times.bare), median(times.local), median(times.remote)];
    const of = "a bare posting loop, goal 1.35 at 50 ms";
    figures.push(
      { what: `bare posting loop, ${what}`, value: bare, unit: "ms" },
      {
        what: "  send to 100,000 tokens, state in state.db",
        value: onLocal,
        unit: "ms",
        ratio: { of, value: onLocal / bare },
      },
      {
        what: "  send to 100,000 tokens, state in PostgreSQL",
        value: onRemote,
        unit: "ms",
        ratio: { of, value: onRemote / bare },
      },
    );
  }
  return figures;
}

async function insertIntoPostgres(sql: SQL, tokens: readonly TokenSpec[]): Promise<void> {
  for (let at = 0; at < tokens.length; at += ROWS_PER_INSERT) {
    const rows = tokens.slice(at, at + ROWS_PER_INSERT).map(({ appId, fid, url, token }) => ({
      app_id: appId,
      fid,
      client_fid: 9152,
      url,
      host: new URL(url).host,
      token,
      enabled: true,
      last_event: "miniapp_added",
      created_at: 1,
      updated_at: 1,
    }));
    await sql`INSERT INTO tokens ${sql(rows)}`;
  }
}
