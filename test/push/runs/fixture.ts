import { afterEach, beforeEach } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { createFanOut } from "../../../src/node/compose/sending/fan-out.ts";
import type { SendPermission } from "../../../src/push/fan-out/slots.ts";
import type { Spans } from "../../../src/runtime/trace/span.ts";
import { configWith } from "../../runtime/config.ts";
import { ManualClock } from "../../support/clock.ts";
import { logTo } from "../../support/log.ts";
import { loopbackClient } from "../../support/loopback-client.ts";
import { tempDir } from "../../support/program.ts";
import type { PushClient } from "../../support/push-client.ts";
import { APP_ID, insertTokens, testApp, testTimings } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";

export const START = 1_000_000;
export const DAY_SECS = 86_400;
const campaign = { campaignId: "c", appId: APP_ID };

interface EngineOptions {
  readonly timeoutMs?: number;
  readonly rerunAfterMs?: number;
  readonly backoffMs?: number;
  readonly onLog?: (line: string) => void;
  readonly settings?: readonly string[];
  readonly stores?: Stores;
  readonly permission?: () => SendPermission;
  readonly leaseNumber?: () => number;
  readonly spans?: Spans;
}

export type Stores = ReturnType<typeof localStores>;

/** A new state for each test, with one app, and what runs its campaigns. */
export function useRuns() {
  let dir: ReturnType<typeof tempDir>;
  let state: StateDatabase;
  let index: IndexDatabase;
  let clock: ManualClock;
  beforeEach(async () => {
    dir = tempDir();
    state = openState(statePath(dir.path));
    index = openIndexInMemory();
    clock = new ManualClock(START);
    await localStores(state, { clock }).apps.create(testApp(), 10);
  });
  afterEach(() => {
    state[Symbol.dispose]();
    index[Symbol.dispose]();
    dir[Symbol.dispose]();
  });
  return {
    get state() {
      return state;
    },
    get clock() {
      return clock;
    },

    startEngine({
      timeoutMs = testTimings.timeoutMs,
      rerunAfterMs = testTimings.rerunAfterMs,
      backoffMs = testTimings.backoffMs,
      onLog = () => {},
      settings = [],
      stores = localStores(state, { clock }),
      spans,
      ...options
    }: EngineOptions = {}) {
      const common = { config: configWith(...settings), clock, log: logTo(onLog), spans };
      return createFanOut({
        common,
        index,
        state: stores,
        monotonicMs: () => clock.nowMs(),
        client: loopbackClient(),
        timings: { ...testTimings, timeoutMs, rerunAfterMs, backoffMs },
        ...options,
      });
    },

    /** Stores a campaign, by default `c`. */
    store(
      audience = { targetFids: [], excludeFids: [] as number[], followingFid: null },
      campaignId = campaign.campaignId,
    ) {
      return localStores(state).campaigns.create(
        {
          ...campaign,
          campaignId,
          notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
          audience,
          createdAt: START,
          ledgerSecs: DAY_SECS,
        },
        10,
      );
    },

    addTokens(client: PushClient, count: number): void {
      insertTokens(
        state,
        Array.from({ length: count }, (_, at) => ({
          fid: 10 + at,
          url: `http://c.example:${client.port}/`,
          token: `t${at}`,
        })),
      );
    },

    found: () => localStores(state).campaigns.find("c"),
  };
}
