import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Call } from "../data/call.ts";
import { type Polling, startPolling } from "../data/polling.ts";
import { addShown } from "../data/query.ts";
import { RequestFailure, request } from "../data/request.ts";
import { joinSeries, type SeriesColumns } from "../data/series.ts";
import { isVisible } from "../data/visibility.ts";
import type { Range } from "./ranges.ts";

const EVERY_MS = 5_000;
const MAX_EVERY_MS = 60_000;

/** The history of the node as the page has it. Old figures stay when the node does not answer. */
export interface NodeHistory<Answer extends SeriesColumns> {
  /** What the node answered last, with all rows of the range. */
  readonly data: Answer | undefined;
  readonly error: RequestFailure | undefined;
  /** Whether `data` is out of date: the last call failed, or the node has not responded for two intervals. */
  readonly isStale: boolean;
  /** When it answered, in ms of `Date.now()`. */
  readonly loadedAtMs: number;
  /** When the page asks again. */
  readonly nextAtMs: number;
  refresh(): void;
}

/**
 * The rows of a range, of which the newer ones are asked for every 5 seconds, later while the node does not answer.
 *
 * @param path as in `/console/api/series`
 */
export function useHistory<Answer extends SeriesColumns>(
  path: string,
  range: Range,
  send: typeof request = request,
): NodeHistory<Answer> {
  const history = useMemo(() => createHistory<Answer>(path, range, send), [path, range, send]);
  useEffect(() => history.start(), [history]);
  return history;
}

/** The call for the rows after a time. */
export function seriesCall(path: string, range: Range, since: number, op?: string): Call {
  const query = `step=${range.step}${since > 0 ? `&since=${since}` : ""}`;
  return { method: "GET", path: `${path}?${query}`, ...(op === undefined ? {} : { op }) };
}

function createHistory<Answer extends SeriesColumns>(path: string, range: Range, send: typeof request) {
  const data: Signal<Answer | undefined> = signal(undefined);
  const error = signal<RequestFailure | undefined>(undefined);
  const isLate = signal(false);
  const nextAtMs = signal(0);
  let loadedAtMs = 0;
  let polling: Polling | undefined;

  async function load(leaving: AbortSignal): Promise<void> {
    try {
      const known = data.peek()?.t.at(-1) ?? 0;
      const call = seriesCall(path, range, known);
      const answer = await send<Answer>(call, { signal: leaving });
      loadedAtMs = Date.now();
      data.value = { ...answer, ...joinSeries(data.peek(), answer, range.secs) };
      error.value = undefined;
    } catch (cause) {
      if (leaving.aborted) return;
      if (cause instanceof RequestFailure) error.value = cause;
      throw cause;
    }
  }

  const refresh = () => polling?.now();
  return {
    get data() {
      return data.value;
    },
    get error() {
      return error.value;
    },
    get isStale() {
      return isLate.value || error.value !== undefined;
    },
    get loadedAtMs() {
      return loadedAtMs;
    },
    get nextAtMs() {
      return nextAtMs.value;
    },
    refresh,
    start() {
      const leaving = new AbortController();
      polling = startPolling(() => load(leaving.signal), {
        isVisible,
        everyMs: EVERY_MS,
        maxMs: MAX_EVERY_MS,
        onWait: (at) => {
          nextAtMs.value = at;
        },
        onLate(late) {
          isLate.value = late;
        },
      });
      const leave = addShown({ refresh });
      return () => {
        leave();
        polling?.stop();
        leaving.abort();
      };
    },
  };
}
