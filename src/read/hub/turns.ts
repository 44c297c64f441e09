import { setImmediate } from "node:timers/promises";
import { TURNS, type TurnTerms } from "../../admission/budgets.ts";
import { FairTurns } from "../../admission/fair-turns.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Refusal } from "./refusal.ts";

/** Rows after which a list lets other work of the thread run. */
export const ROWS_PER_TURN = 250;

const DEADLINE_MS = 30_000;

const TOO_MANY: Refusal = { code: "rate_limited", reason: "too many lists are being read; try again" };
const UNREAD: Refusal = {
  code: "rate_limited",
  reason: "this client has not read the responses before; read them and try again",
};
const TOO_LONG: Refusal = { code: "unavailable", reason: "the list could not be read in 30 seconds" };

/** A client that has requested a list and waits for it. */
export interface ListReader {
  /** Identifies a client. */
  readonly clientKey: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /**
   * Reserves room for some more rows of the response. Returns false while the client leaves too many bytes unread. Default:
   * there is room.
   */
  readonly takeRoom?: () => boolean;
}

/** Gives other work its turns of the event loop while a list is read. */
export interface Turns {
  /**
   * Call it for each row. Lets other work run after every 250 rows.
   *
   * @throws ListEnd after the deadline, and when the client has disconnected or stopped reading.
   */
  next(): Promise<void> | undefined;
}

/** Thrown to stop reading a list. */
class ListEnd extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.reason);
  }
}

/**
 * Runs lists: a bounded number at a time, with clients taking turns, each list with a deadline that starts when it is
 * requested.
 */
export interface ListRunner {
  run<T>(
    read: (turns: Turns) => Promise<Result<T, Refusal>>,
    reader?: ListReader,
  ): Promise<Result<T, Refusal>>;
}

export function createListRunner(
  limits: Omit<TurnTerms, "unit"> = TURNS.hubLists,
  deadlineMs = DEADLINE_MS,
): ListRunner {
  const fairTurns = new FairTurns(limits);
  return {
    async run(read, reader) {
      const endsAtMs = performance.now() + deadlineMs;
      const check = () => {
        if (performance.now() > endsAtMs || reader?.signal.aborted) throw new ListEnd(TOO_LONG);
        if (reader?.takeRoom?.() === false) throw new ListEnd(UNREAD);
      };
      let rows = 0;
      const turns: Turns = {
        next() {
          rows += 1;
          return rows % ROWS_PER_TURN === 0 ? setImmediate().then(check) : undefined;
        },
      };
      try {
        const result = await fairTurns.run(reader?.clientKey ?? "", async () => {
          check();
          return await read(turns);
        });
        return result ?? err(TOO_MANY);
      } catch (cause) {
        if (cause instanceof ListEnd) return err(cause.refusal);
        throw cause;
      }
    },
  };
}
