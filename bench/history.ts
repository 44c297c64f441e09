import { Database } from "bun:sqlite";
import { join } from "node:path";
import { openHistory } from "../src/history/history.ts";
import type { HistoryBatch } from "../src/history/rpc.ts";
import { silentLog } from "../test/support/log.ts";
import { tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const FROM_SECS = 1_789_948_800;
const SERIES = 39;
const HOURS = 48;
const RUNS = 3;

/**
 * Measures the CPU time that the history takes for an hour of figures, with an injected clock: 39 series every five seconds
 * and two kinds of events, handed over once a minute. The baseline stores the same batches unchanged, with one row and one
 * commit per minute.
 */
export async function benchHistory(): Promise<Figure[]> {
  const runs = Array.from({ length: RUNS }, () => ({ bare: bareMs(), own: historyMs() }));
  const bare = `an hour of ${SERIES} series: stored as they come`;
  const value = median(runs.map(({ own }) => own));
  const baseline = median(runs.map((run) => run.bare));
  return [
    { what: bare, value: baseline, unit: "ms CPU" },
    {
      what: `an hour of ${SERIES} series: history.db`,
      value,
      unit: "ms CPU",
      ratio: { of: bare, value: value / baseline },
    },
  ];
}

function historyMs(): number {
  using dir = tempDir();
  const clock = { ms: FROM_SECS * 1000, nowMs: () => clock.ms };
  const history = openHistory({
    dir: dir.path,
    settings: { max_bytes: 128 * 1024 * 1024, log_days: 7 },
    beginning: { version: "1.0.0", settings: {} },
    clock,
    log: silentLog,
    freeBytes: () => Number.MAX_SAFE_INTEGER,
  });
  const ms = hourMs((batch, nowSecs) => {
    clock.ms = nowSecs * 1000;
    history.rpc.record(batch);
  });
  history.stop();
  return ms;
}

function bareMs(): number {
  using dir = tempDir();
  using db = new Database(join(dir.path, "bare.db"));
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = NORMAL");
  db.run("CREATE TABLE batches (id INTEGER PRIMARY KEY, body BLOB)");
  const insert = db.prepare("INSERT INTO batches (body) VALUES (?)");
  return hourMs(({ samples: { columns } }) =>
    insert.run(Buffer.concat(columns.map(({ buffer }) => new Uint8Array(buffer)))),
  );
}

/** Records the hours. Returns the CPU time per hour. */
function hourMs(record: (batch: HistoryBatch, nowSecs: number) => unknown): number {
  const names = Array.from({ length: SERIES }, (_, n) => `series ${n}`);
  const started = process.cpuUsage();
  for (let minute = 0; minute < HOURS * 60; minute++) {
    const t = Array.from({ length: 12 }, (_, n) => FROM_SECS + minute * 60 + n * 5);
    const columns = names.map((_, n) =>
      Float32Array.from(t, (at) => (n % 3 === 0 ? Math.round(10 * Math.sin(at / 500)) : n)),
    );
    const counts = t.map((at) => ({ t: at, counts: { "events:a": 3, "events:b": 1 } }));
    record(
      { samples: { t, names, columns }, counts, lines: [], requests: [], marks: [] },
      FROM_SECS + minute * 60 + 60,
    );
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000 / HOURS;
}
