import type { SignInKey } from "./key-store.ts";

/** How long a key is listed before it signs, in seconds. Verifiers cache the list for 10 minutes. */
export const LISTED_AHEAD_SECS = 1200;
/** How long a key stays listed after its last signature, in token lifetimes. */
const LISTED_LIFETIMES = 2;
const DAY_SECS = 86_400;

/** State of the keys at a time. */
export interface KeyRing {
  /** The key that signs. Undefined if there are none. */
  readonly current: SignInKey | undefined;
  /** Keys that verifiers receive: the next one, the current one, and previous ones whose tokens may still be valid. */
  readonly listed: readonly SignInKey[];
  /** Ids of keys whose tokens have all expired. */
  readonly obsolete: readonly string[];
  /** Whether the next key is already listed. */
  readonly hasNext: boolean;
}

/** @param keys in the order in which they start to sign. */
export function keyRingAt(keys: readonly SignInKey[], nowSecs: number, tokenTtlSecs: number): KeyRing {
  // The clocks of two nodes differ slightly, so the first key signs at once even if its time has not come yet.
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

/** Reports whether the next key has to be created now to be listed for long enough. */
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
