import type { Err } from "../../lib/result.ts";
import { refuse, type SignerRefusal } from "../refusal.ts";

/** What bounds the calls of approval links: of each link ten a minute, and one submit at a time. */
export interface LinkCalls {
  /** Counts a call of a link; a refusal once there were ten within a minute. */
  count(tokenDigest: Uint8Array): Err<SignerRefusal> | undefined;
  /**
   * Runs submits of one link in turn. Two windows can have one link open, and two users: the first approves, and the others are
   * refused. A submit that overtook another one would be the one whose outcome is looked up.
   */
  inTurn<T>(token: string, work: () => Promise<T>): Promise<T>;
}

const CALLS_PER_MINUTE = 10;
const MINUTE_SECS = 60;
const MINUTE_MS = MINUTE_SECS * 1000;
/** Tokens whose calls are counted. The one that was called first makes room. */
const MAX_COUNTED_TOKENS = 10_000;

/** @param monotonicMs reads a monotonic clock: the wall clock may be set back, and a link would be limited until it is there again. */
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
