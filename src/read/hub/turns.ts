import { setImmediate } from "node:timers/promises";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Refusal } from "./refusal.ts";

/** Rows after which a list lets other work of the thread run. */
export const ROWS_PER_TURN = 250;

const LISTS = { running: 16, waiting: 512 };
const DEADLINE_MS = 30_000;

const TOO_MANY: Refusal = { code: "rate_limited", reason: "too many lists are being read; try again" };
const TOO_LONG: Refusal = { code: "unavailable", reason: "the list could not be read in 30 seconds" };

/** The turns of the event loop that a list takes. */
export interface Turns {
  /**
   * Call it for each row. Lets other work run after every 250 rows.
   *
   * @throws LateError after the deadline, and when the client is gone.
   */
  next(): Promise<void> | undefined;
}

class LateError extends Error {}

/** Runs lists: a bounded number at a time, each with a deadline that starts when it is asked for. */
export interface ListRunner {
  run<T>(
    read: (turns: Turns) => Promise<Result<T, Refusal>>,
    signal?: AbortSignal,
  ): Promise<Result<T, Refusal>>;
}

export function createListRunner(limits = LISTS, deadlineMs = DEADLINE_MS): ListRunner {
  const limit = new ConcurrencyLimit(limits);
  return {
    async run(read, signal) {
      const endsAtMs = performance.now() + deadlineMs;
      const throwIfLate = () => {
        if (performance.now() > endsAtMs || signal?.aborted) throw new LateError();
      };
      let rows = 0;
      const turns: Turns = {
        next() {
          rows += 1;
          return rows % ROWS_PER_TURN === 0 ? setImmediate().then(throwIfLate) : undefined;
        },
      };
      try {
        const result = limit.run(async () => {
          throwIfLate();
          return await read(turns);
        });
        return (await result) ?? err(TOO_MANY);
      } catch (cause) {
        if (cause instanceof LateError) return err(TOO_LONG);
        throw cause;
      }
    },
  };
}
