import { rmSync } from "node:fs";
import { openState, type StateDatabase, statePath } from "../src/db/state/database.ts";
import { COPIED_TABLES } from "../src/node/state-copy/copied-tables.ts";
import { copyToPostgres } from "../src/node/state-copy/copy-to-postgres.ts";
import { copyToSqlite } from "../src/node/state-copy/copy-to-sqlite.ts";
import { onPostgresState } from "../src/node/state-copy/postgres-tables.ts";
import { sqliteLines } from "../src/node/state-copy/sqlite-tables.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { createDatabase } from "../test/support/postgres/database.ts";
import { tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { startDurablePostgres } from "./postgres.ts";
import { median } from "./start.ts";

const RUNS = Number(process.env.BENCH_RUNS ?? 5);
const TOKENS = Number(process.env.BENCH_TOKENS ?? 200_000);

/**
 * Measures `svc state copy` in both directions, including its verification, compared with a bare COPY of the same bytes,
 * which are ready in memory, into the same empty tables. The server syncs its commits and is another process on the same
 * cores.
 */
export async function benchStateCopy(): Promise<Figure[]> {
  await using server = await startDurablePostgres();
  using dir = tempDir();
  const file = statePath(dir.path);
  const took = { bare: [] as number[], there: [] as number[], back: [] as number[] };
  let rows = 0;
  {
    using state = openState(file);
    fill(state);
  }
  for (let run = 0; run < RUNS; run++) {
    const bare = bareLines(file);
    {
      await using database = await createDatabase({ server });
      took.bare.push(
        await secondsOf(() =>
          onPostgresState(database.settings, async (target) => {
            for (const { table, chunks } of bare) await target.insert(table, chunks);
          }),
        ),
      );
    }
    await using database = await createDatabase({ server });
    const options = {
      file,
      postgres: database.settings,
      postgresName: "PostgreSQL",
      dryRun: false,
      force: false,
      signedAtWindowSecs: 300,
      clock: systemClock,
      signal: new AbortController().signal,
    };
    took.there.push(
      await secondsOf(async () => {
        rows = (await copyToPostgres(options)).tables.reduce((sum, table) => sum + table.rows, 0);
      }),
    );
    took.back.push(await secondsOf(() => copyToSqlite(options)));
    rmSync(`${file}.moved`, { force: true });
  }
  const bare = "a bare COPY";
  const figure = (what: string, secs: readonly number[]): Figure => ({
    what,
    value: rows / median(secs),
    unit: "rows/s",
    ratio: { of: bare, value: median(secs.map((value, run) => (took.bare[run] ?? Number.NaN) / value)) },
  });
  return [
    { what: "rows", value: rows, unit: "" },
    { what: `${bare}, median of ${RUNS}`, value: rows / median(took.bare), unit: "rows/s" },
    figure("state copy --to postgres, verified", took.there),
    figure("state copy --to sqlite, verified", took.back),
  ];
}

/** Stores tokens, nonces, and deliveries with their attempts, as on a busy node. */
function fill({ sqlite }: StateDatabase): void {
  const numbers = (count: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  sqlite.exec("BEGIN");
  sqlite.exec(
    `${numbers(TOKENS)} INSERT INTO tokens SELECT 'app-1', i, 9152, 'https://client.example/notify', 'client.example',
       lower(hex(randomblob(16))), 1, 'notifications_enabled', 1750000000, 1750000000 FROM n`,
  );
  sqlite.exec(`${numbers(TOKENS / 2)} INSERT INTO nonces SELECT i, randomblob(16), 1750000000 FROM n`);
  sqlite.exec(
    `${numbers(TOKENS / 4)} INSERT INTO delivery_events (event_id, kind, body, is_test, created_at)
     SELECT lower(hex(randomblob(16))), 'cast.created', '{"text": "' || hex(randomblob(500)) || '"}', 0, 1750000000 FROM n`,
  );
  sqlite.exec(
    `INSERT INTO deliveries (message_id, event, webhook, state, attempts, created_at, ended_at)
     SELECT 'msg_' || seq, seq, 1, 'delivered', 1, 1750000000, 1750000001 FROM delivery_events`,
  );
  sqlite.exec(
    `INSERT INTO delivery_attempts (delivery, at_ms, status, duration_ms, answer)
     SELECT seq, 1750000000000 + seq, 200, 12, 'OK' FROM deliveries`,
  );
  sqlite.exec("COMMIT");
}

function bareLines(file: string) {
  using state = openState(file, { mayBeMoved: true });
  return COPIED_TABLES.map((table) => ({ table, chunks: [...sqliteLines(state.sqlite, table)] }));
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}
