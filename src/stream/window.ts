import type { IndexDatabase } from "../db/index/database.ts";
import { eventRange, firstEventFrom } from "../db/index/log/outbox.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";

/** How long after a second its last events may still be on their way into the log. */
const LATE_SECS = 2;

/** The end of a stream that has one. */
export interface StreamEnd {
  /** Events that were applied then or later are not part of the stream, unix seconds. */
  readonly untilSecs: number;
  /**
   * The number of the last event before the end. `open`: the time has not come; `closing`: it has, and events of before may follow.
   */
  state(): "open" | "closing" | number;
}

export function createStreamEnd(db: IndexDatabase, clock: Clock, untilSecs: number): StreamEnd {
  let lastSeq: number | undefined;
  return {
    untilSecs,
    state() {
      if (lastSeq !== undefined) return lastSeq;
      const now = nowSecs(clock);
      if (now < untilSecs) return "open";
      if (now < untilSecs + LATE_SECS) return "closing";
      lastSeq = db.snapshot(() => (firstEventFrom(db, untilSecs) ?? eventRange(db).headSeq + 1) - 1);
      return lastSeq;
    },
  };
}
