import type { SignInKey } from "./key-store.ts";

/** Seconds that a key is listed before it signs: verifiers keep a list for 10 minutes. */
export const LISTED_AHEAD_SECS = 1200;
/** Lifetimes of a token that a key stays listed after it has signed for the last time. */
const LISTED_LIFETIMES = 2;
const DAY_SECS = 86_400;

/** The keys at a time. */
export interface KeyRing {
  /** The one that signs; undefined without any. */
  readonly current: SignInKey | undefined;
  /** Those that verifiers get: the next one, the current one and previous ones whose tokens may live. */
  readonly listed: readonly SignInKey[];
  /** Ids of those that no token can name anymore. */
  readonly obsolete: readonly string[];
  /** Whether a key waits for its turn. */
  readonly hasNext: boolean;
}

/** @param keys in the order in which they sign. */
export function keyRingAt(keys: readonly SignInKey[], nowSecs: number, tokenTtlSecs: number): KeyRing {
  // The clocks of two nodes differ a little: the first key signs at once.
  const current = keys.findLast(({ currentAt }) => currentAt <= nowSecs) ?? keys[0];
  const isListed = (at: number) => {
    const successor = keys[at + 1];
    const until = (successor?.currentAt ?? nowSecs) + LISTED_LIFETIMES * tokenTtlSecs + LISTED_AHEAD_SECS;
    return until > nowSecs;
  };
  return {
    current,
    listed: keys.filter((_, at) => isListed(at)),
    obsolete: keys.flatMap(({ kid }, at) => (isListed(at) ? [] : [kid])),
    hasNext: current !== undefined && current !== keys.at(-1),
  };
}

/** Whether the next key has to be made now, so that it is listed for long enough. */
export function isRotationDue(
  { current, hasNext }: KeyRing,
  nowSecs: number,
  settings: { readonly rotationDays: number; readonly algorithm: string },
): boolean {
  if (!current || hasNext) return false;
  if (current.algorithm !== settings.algorithm) return true;
  const { rotationDays } = settings;
  return rotationDays > 0 && nowSecs >= current.currentAt + rotationDays * DAY_SECS - LISTED_AHEAD_SECS;
}
