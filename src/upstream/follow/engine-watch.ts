import { channelsLeftOut, isChannelHistoryDue } from "../../db/index/channels/history.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { type UnknownCount, unknownCounts } from "../../db/index/unknown-records.ts";
import type { EngineSchedule } from "../../protocol/network/engine-versions.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { type Timings, wait } from "../timings.ts";

/** How well this program matches the network's rules. */
export interface EngineProgress {
  /**
   * When the upstream switches to a version for which this program has no date, in Unix seconds; undefined if it announces
   * none.
   */
  readonly unknownAt: number | undefined;
  /** Records of kinds that this program does not know. */
  readonly unknown: readonly UnknownCount[];
  /** Whether channel decisions from before this index followed shard 0 have yet to be read. */
  readonly isHistoryDue: boolean;
  /** How many channels the upstream has reported with values that no channel can have. */
  readonly channelsLeftOut: number;
}

/** Returns how well this program matches the network's rules, according to the index only. */
export function engineProgressOf(db: IndexDatabase): EngineProgress {
  return {
    unknownAt: undefined,
    unknown: unknownCounts(db),
    isHistoryDue: isChannelHistoryDue(db),
    channelsLeftOut: channelsLeftOut(db).length,
  };
}

/** Watches whether the network is ahead of this program. */
export class EngineWatch {
  readonly #db: IndexDatabase;
  readonly #schedule: EngineSchedule;
  #unknownAt: number | undefined;

  constructor(db: IndexDatabase, schedule: EngineSchedule) {
    this.#db = db;
    this.#schedule = schedule;
  }

  progress(): EngineProgress {
    return { ...engineProgressOf(this.#db), unknownAt: this.#unknownAt };
  }

  /** Asks the upstream every hour which version switch is next, until `signal` aborts. */
  async run(client: UpstreamClient, timings: Timings, signal: AbortSignal, onFault: OnFault): Promise<void> {
    while (!signal.aborted) {
      try {
        const { nextEngineVersionTimestamp: next } = await client.info();
        this.#unknownAt = next === 0 || this.#schedule.knows(next) ? undefined : next;
      } catch (cause) {
        if (!signal.aborted) onFault("the next engine version of the upstream could not be read", cause);
      }
      await wait(timings.engineCheckMs ?? HOUR_MS, signal);
    }
  }
}

type OnFault = (what: string, cause: unknown) => void;

const HOUR_MS = 3_600_000;

/** Maximum number of kinds shown, because an upstream can invent many. */
const MAX_KINDS_SHOWN = 8;

/** Returns why the node serves less than the network has decided, for operators; empty while it serves everything. */
export function degradedReasons({ unknown, isHistoryDue, channelsLeftOut }: EngineProgress): string[] {
  // A record that cannot be decoded has no number. It says nothing about the network, because any user can sign a message in
  // an odd encoding.
  const numbered = unknown.filter(({ number }) => number !== 0);
  const kinds = numbered
    .slice(0, MAX_KINDS_SHOWN)
    .map(({ kind, number, seen }) => `${seen} of ${kind} ${number}`);
  if (numbered.length > kinds.length) kinds.push(`and ${numbered.length - kinds.length} other kinds`);
  return [
    ...(kinds.length > 0
      ? [
          `the network is ahead of this program: it does not know ${kinds.join(", ")}; a newer release applies them`,
        ]
      : []),
    ...(isHistoryDue
      ? ["decisions about channels of before this index are still being read from the upstream"]
      : []),
    ...(channelsLeftOut > 0
      ? [
          `${channelsLeftOut} channels lack settings and roles: the upstream reports impossible values of them`,
        ]
      : []),
  ];
}
