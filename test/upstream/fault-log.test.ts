import { expect, test } from "bun:test";
import pino from "pino";
import { Rejection } from "../../src/protocol/rejection.ts";
import { createFaultLog } from "../../src/upstream/fault-log.ts";
import { ManualClock } from "../support/clock.ts";

test("however often something fails, one line each ten seconds tells of it and of how often", () => {
  const lines: Record<string, unknown>[] = [];
  const clock = new ManualClock(1_700_000_000);
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const faults = createFaultLog({ log, clock });
  for (let n = 0; n < 250; n += 1) {
    faults.fault(`fid ${n} could not be read`, new Error("down"));
    faults.refused(new Rejection("bad_request.validation_failure", "hash is wrong"));
    clock.advanceSecs(0.1);
  }
  const told = (msg: string) => lines.filter((line) => String(line.msg).startsWith(msg));
  expect(told("Tried again").map(({ unsaid }) => unsaid)).toEqual([undefined, 99, 99]);
  expect(told("Passed over").map(({ unsaid, reason }) => [unsaid, reason])).toEqual([
    [undefined, "hash is wrong"],
    [99, "hash is wrong"],
    [99, "hash is wrong"],
  ]);
});
