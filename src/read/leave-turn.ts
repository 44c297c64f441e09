import { setTimeout as inMs, setImmediate as inNextTurn } from "node:timers/promises";
import { IndexDatabase } from "../db/index/database.ts";
import { PagesOnTheWay, type ReadAhead } from "../db/sqlite/read-ahead.ts";

/**
 * Number of reads of a thread that may wait for pages at one time. Any further read blocks its thread, as a statement does.
 */
const MOST_WAITING = 64;
/**
 * A feed of followed accounts has six passes: followed accounts, casts, recasts, the last of them, all of them, their users.
 */
const MOST_PASSES = 8;
/** Turns of the event loop in which a fast disk may have read a page. After them, it is checked every millisecond. */
const TURNS = 4;
const LONGEST_WAIT_MS = 20;

/** The reads of a connection. */
class Crowd {
  waiting = 0;
  #inTurn = 0;
  #inLastTurn = 0;

  /** Counts a read. Returns whether other reads would run while it waits. */
  enter(): boolean {
    if (this.#inTurn === 0)
      setImmediate(() => {
        this.#inLastTurn = this.#inTurn;
        this.#inTurn = 0;
      });
    this.#inTurn += 1;
    return this.waiting < MOST_WAITING && (this.waiting > 0 || this.#inTurn > 1 || this.#inLastTurn > 1);
  }
}

const crowds = new WeakMap<ReadAhead, Crowd>();

/**
 * Returns a function that runs reads of an index in turns. If a read announces pages that are not in memory while others
 * want to run, those run until the pages have arrived and it is run again, so that many requests wait for the disk at the
 * same time. What it has loaded into the hydration cache by then stays there.
 *
 * @param onLeave called before a read returns a promise for that reason.
 */
export function inTurns<Deps extends { readonly reads?: object }, Call>(
  run: (deps: Deps, call: Call) => unknown,
  onLeave: (call: Call) => void,
): (deps: Deps, call: Call) => unknown {
  return (deps, call) => {
    const db = deps.reads && "db" in deps.reads ? deps.reads.db : undefined;
    const read = () => run(deps, call);
    return db instanceof IndexDatabase && db.readAhead?.isNeeded
      ? readInTurn(db.readAhead, read, () => onLeave(call))
      : read();
  };
}

function readInTurn(readAhead: ReadAhead, read: () => unknown, onLeave: () => void): unknown {
  const crowd = crowds.get(readAhead) ?? new Crowd();
  crowds.set(readAhead, crowd);
  if (!crowd.enter()) return read();
  const comeBack = (cause: unknown) => {
    if (!(cause instanceof PagesOnTheWay)) throw cause;
    onLeave();
    return runAgain(crowd, readAhead, cause, read);
  };
  try {
    const result = readAhead.leaving(read);
    return result instanceof Promise ? result.catch(comeBack) : result;
  } catch (cause) {
    return comeBack(cause);
  }
}

async function runAgain(
  crowd: Crowd,
  ahead: ReadAhead,
  first: PagesOnTheWay,
  read: () => unknown,
): Promise<unknown> {
  crowd.waiting += 1;
  try {
    let pages = first;
    for (let pass = 1; pass < MOST_PASSES; pass++) {
      await arrival(pages);
      try {
        return await ahead.leaving(read);
      } catch (cause) {
        if (!(cause instanceof PagesOnTheWay)) throw cause;
        pages = cause;
      }
    }
    await arrival(pages);
  } finally {
    crowd.waiting -= 1;
  }
  return read();
}

async function arrival(pages: PagesOnTheWay): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await inNextTurn();
    if (pages.haveArrived()) return;
  }
  for (let ms = 0; ms < LONGEST_WAIT_MS && !pages.haveArrived(); ms++) await inMs(1);
}
