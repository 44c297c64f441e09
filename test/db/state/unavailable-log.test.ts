import { expect, test } from "bun:test";
import { createFaultLog, StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { ManualClock } from "../../support/clock.ts";
import { logTo } from "../../support/log.ts";

test("logs equal errors once in 10 seconds, different ones each time, and an unavailable state once a minute", () => {
  const lines: { level: string; msg: string; suppressed?: number; campaignId?: string }[] = [];
  const log = logTo((line: string) => void lines.push(JSON.parse(line)));
  const clock = new ManualClock(1_000);
  const logFault = createFaultLog({ log, clock });
  const missing = () => logFault(new Error("no such table"), {}, "Campaigns could not be taken");
  missing();
  missing();
  missing();
  logFault(new Error("no such table"), { campaignId: "one" }, "A campaign was interrupted by a fault");
  logFault(new Error("no such table"), { campaignId: "two" }, "A campaign was interrupted by a fault");
  expect(lines.map(({ msg, campaignId }) => [msg, campaignId])).toEqual([
    ["Campaigns could not be taken", undefined],
    ["A campaign was interrupted by a fault", "one"],
    ["A campaign was interrupted by a fault", "two"],
  ]);
  clock.advanceSecs(10);
  missing();
  expect(lines.at(-1)).toMatchObject({ msg: "Campaigns could not be taken", suppressed: 2 });
  for (let n = 0; n < 3; n++) logFault(new StateUnavailable("away"), {}, "Campaigns could not be taken");
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)?.level).toBe("warn");
});
