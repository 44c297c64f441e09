/** Fills the disk of a directory under a history, makes room again, and prints what the history says meanwhile. */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openHistory } from "../../../src/history/history.ts";
import { silentLog } from "../../support/log.ts";

const [dir = ""] = process.argv.slice(2);
const FROM = 1_789_948_800;
const clock = { ms: FROM * 1000, nowMs: () => clock.ms };
const warnings: unknown[] = [];
const history = openHistory({
  dir,
  settings: { max_bytes: 64 * 1024 * 1024, log_days: 7 },
  beginning: { version: "1.0.0", settings: {} },
  clock,
  log: { ...silentLog, warn: (fields) => void warnings.push(fields) },
  // It looks as if there were room: what is tested is the refusal of the disk itself.
  freeBytes: () => Number.MAX_SAFE_INTEGER,
});

function record(minutes: number): void {
  for (let minute = 0; minute < minutes; minute++) {
    const from = clock.ms / 1000;
    const t = Array.from({ length: 12 }, (_, n) => from + n * 5);
    const columns = Array.from({ length: 30 }, () => crypto.getRandomValues(new Uint32Array(12)));
    clock.ms += 60_000;
    history.rpc.record({
      samples: {
        t,
        names: columns.map((_, n) => `s${n}`),
        columns: columns.map((one) => new Float32Array(one.buffer)),
      },
      counts: [],
      lines: [],
      requests: [],
      marks: [],
    });
  }
}

function fill(path: string): void {
  const file = openSync(path, "w");
  for (const size of [65_536, 4_096, 1])
    try {
      for (;;) writeSync(file, new Uint8Array(size));
    } catch {
      // Full, to pieces of this size.
    }
  closeSync(file);
}

const shown = () => {
  const page = history.rpc.figures({
    from: FROM,
    to: FROM + 7_200,
    step: 60,
    series: [{ name: "s1", column: "s1", stat: "mean" }],
  });
  return page.ok ? page.value.t.length : page.error;
};

record(5);
const before = { fault: history.stats().fault, minutes: shown() };
fill(join(dir, "filler"));
for (let part = 0; part < 3; part++) {
  record(10);
  shown();
}
const full = { fault: history.stats().fault, minutes: shown() };
rmSync(join(dir, "filler"));
record(5);
const after = { fault: history.stats().fault, minutes: shown() };
history.stop();
process.stdout.write(JSON.stringify({ before, full, after, warnings: warnings.length }));
