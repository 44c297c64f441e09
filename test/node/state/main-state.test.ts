import { expect, test } from "bun:test";
import { statSync, utimesSync } from "node:fs";
import { NodeSignals } from "../../../src/cluster/node-signals.ts";
import { clockMarkOf, saveClock } from "../../../src/db/state/state-clock.ts";
import { openMainState } from "../../../src/node/state/main-state.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createPrivateFile } from "../../../src/runtime/files.ts";
import { configWith } from "../../runtime/config.ts";
import { silentLog } from "../../support/log.ts";
import { openStateFile } from "../../support/state-file.ts";

const SAVED_SECS = 1_750_000_000;

test("a node notes the time of its state from its start on", async () => {
  using file = openStateFile();
  saveClock(file.db, SAVED_SECS);
  const mark = clockMarkOf(file.db.file);
  createPrivateFile(mark);
  utimesSync(mark, SAVED_SECS - 100, SAVED_SECS - 100);
  const signals = new NodeSignals();
  const state = await openMainState({
    common: {
      config: configWith(`data.dir=${file.dir.path}`),
      log: silentLog,
      clock: systemClock,
    },
    nodeId: "a",
    isSetUp: true,
    signals,
    report: () => ({ liveSince: null, positions: null }),
    onLost: () => undefined,
  });
  await state.stop();
  const markedSecs = statSync(mark).mtimeMs / 1000;
  expect(markedSecs).toBeWithin(SAVED_SECS, SAVED_SECS + 60);
  expect(signals.stateTimeMs).toBeGreaterThan((SAVED_SECS - 1) * 1000);
});
