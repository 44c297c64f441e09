import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createAudienceService } from "../../src/push/audience-service.ts";
import type { Selection } from "../../src/push/selection.ts";
import { startOfWeek } from "../../src/push/store/tokens/token-counts.ts";
import type { AudienceToken } from "../../src/push/store/tokens/token-store.ts";
import { ManualClock } from "../support/clock.ts";
import { expectOk } from "../support/result.ts";
import { testApp } from "../support/send.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

const DAY_SECS = 86_400;
const APP = "app";
/** A Monday. */
const START_DAY = 4;
const LIMIT = { maxChanges: 1000, windowSecs: 1 };
const all: Selection = () => async (tokens) => ({
  tokens,
  notAttempted: { excluded: 0, not_following: 0, not_in_segment: 0 },
});

let state: ReturnType<typeof openStateFile>;
let clock: ManualClock;
beforeEach(async () => {
  state = openStateFile();
  clock = new ManualClock(START_DAY * DAY_SECS);
  const { apps } = localStores(state.db, { clock });
  await apps.create(testApp({ appId: APP, secrets: [] }), 10);
});
afterEach(() => state[Symbol.dispose]());

function startService(
  readPage?: () => Promise<AudienceToken[]>,
  options: { estimateTimeoutMs?: number } = {},
) {
  const { tokens, campaigns } = localStores(state.db);
  return createAudienceService({
    apps: { get: async () => ({ ok: true, value: testApp({ appId: APP }) }) } as never,
    tokens: { ...tokens, ...(readPage && { listAudience: readPage }) },
    campaigns,
    selection: all,
    saved: { withSegment: async (_, audience) => ({ ok: true, value: audience }) },
    clock,
    estimateTimeoutMs: 60_000,
    ...options,
  });
}

async function add(fid: number, day: number) {
  clock.setSecs(day * DAY_SECS);
  const details = { url: "https://c.example/", host: "c.example", token: `t${fid}` };
  const event = { name: "miniapp_added", details } as const;
  const change = { appId: APP, fid, clientFid: 1, event, nowSecs: day * DAY_SECS };
  expect(await localStores(state.db).tokens.apply(change, LIMIT)).toBe("applied");
}

test("the growth of some days ends with today, and starts with what was enabled before", async () => {
  for (const [fid, day] of [
    [1, 10],
    [2, 11],
    [3, 13],
    [4, 14],
  ] as const)
    await add(fid, day);
  const audience = expectOk(await startService().get(3, { appId: APP, days: 3 }));
  expect(audience.days.map(({ day, enabled }) => [day, enabled])).toEqual([
    [12, 2],
    [13, 3],
    [14, 4],
  ]);
});

test("the retention of some weeks ends with the current one", async () => {
  for (const week of [0, 1, 2, 3]) await add(week + 1, START_DAY + 7 * week);
  const weeks = expectOk(await startService().retention(3, { appId: APP, weeks: 2 }));
  expect(weeks).toEqual([
    { startsAt: startOfWeek(3), added: 1, reachable: [1] },
    { startsAt: startOfWeek(4), added: 1, reachable: [] },
  ]);
});

describe("estimates", () => {
  const estimates = (service: ReturnType<typeof startService>, count: number) =>
    Array.from({ length: count }, async () => expectOk(await service.estimate(3, { app_id: APP })));

  test("run one after the other; beside the one that runs eight may wait, and the next is refused at once", async () => {
    const gates: PromiseWithResolvers<AudienceToken[]>[] = [];
    const service = startService(() => {
      const gate = Promise.withResolvers<AudienceToken[]>();
      gates.push(gate);
      return gate.promise;
    });
    const settled = () => new Promise((resolve) => setTimeout(resolve));
    for (let round = 0; round < 2; round++) {
      gates.length = 0;
      const accepted = estimates(service, 9);
      await settled();
      expect(gates).toHaveLength(1);
      const [refused] = estimates(service, 1);
      await settled();
      expect(Bun.peek(refused)).toBe("busy");
      for (let at = 0; at < 9; at++) {
        expect(gates).toHaveLength(at + 1);
        gates[at]?.resolve([{ fid: at, clientFid: 1, host: "c.example" }]);
        expect(await accepted[at]).toMatchObject({ tokens: 1 });
        await settled();
      }
      expect(gates).toHaveLength(9);
    }
  });

  test("that have run out of time while they waited are busy, and read nothing", async () => {
    let pages = 0;
    const service = startService(
      async () => {
        pages += 1;
        // Longer than the time of both.
        await Bun.sleep(50);
        return [];
      },
      { estimateTimeoutMs: 1 },
    );
    expect(await Promise.all(estimates(service, 2))).toEqual(["busy", "busy"]);
    expect(pages).toBe(1);
  });

  test("that fail are not busy, and the next one runs", async () => {
    const faults = [new Error("no disk")];
    const service = startService(async () => {
      const fault = faults.pop();
      if (fault) throw fault;
      return [];
    });
    await expect(estimates(service, 1)[0]).rejects.toThrow("no disk");
    expect(await estimates(service, 1)[0]).toMatchObject({ tokens: 0 });
  });
});
