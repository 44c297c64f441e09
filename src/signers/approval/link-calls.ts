import type { Err } from "../../lib/result.ts";
import { refuse, type SignerRefusal } from "../refusal.ts";

/** Limits the calls of approval links: ten a minute per link, and one submit at a time. */
export interface LinkCalls {
  /** Counts a call of a link. Returns a refusal after ten calls within a minute. */
  count(tokenDigest: Uint8Array): Err<SignerRefusal> | undefined;
  /**
   * Runs the submits of one link one after another. Two windows, or two users, can have the same link open: the first one approves, and
   * the others are refused. If one submit overtook another, the outcome of the wrong one would be looked up.
   */
  inTurn<T>(token: string, work: () => Promise<T>): Promise<T>;
}

const CALLS_PER_MINUTE = 10;
const MINUTE_SECS = 60;
const MINUTE_MS = MINUTE_SECS * 1000;
/** Maximum number of tokens whose calls are counted. The one that was called first is dropped. */
const MAX_COUNTED_TOKENS = 10_000;

/** @param monotonicMs reads a monotonic clock. The wall clock may be set back, which would keep a link limited until it has caught up. */
export function createLinkCalls(monotonicMs: () => number = () => performance.now()): LinkCalls {
  const calls = new Map<string, number[]>();
  const turns = new Map<string, Promise<unknown>>();
  return {
    count(tokenDigest) {
      const key = Buffer.from(tokenDigest).toString("base64");
      const now = monotonicMs();
      const recent = (calls.get(key) ?? []).filter((at) => at > now - MINUTE_MS);
      if (recent.length >= CALLS_PER_MINUTE)
        return refuse("tooManyRequests", "too many attempts with this link", {
          code: "rate_limited",
          retryAfterSecs: MINUTE_SECS,
        });
      calls.delete(key);
      calls.set(key, [...recent, now]);
      const [oldest] = calls.keys();
      if (calls.size > MAX_COUNTED_TOKENS && oldest !== undefined) calls.delete(oldest);
      return undefined;
    },

    async inTurn(token, work) {
      const turn = (turns.get(token) ?? Promise.resolve()).then(work);
      const settled = turn.catch(() => undefined);
      turns.set(token, settled);
      try {
        return await turn;
      } finally {
        if (turns.get(token) === settled) turns.delete(token);
      }
    },
  };
}
