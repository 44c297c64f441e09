import { setTimeout as sleep } from "node:timers/promises";

/**
 * Whether this node may begin calls now:
 * - `paused`: an operator has paused sends on all nodes;
 * - `isolated`: other nodes may believe that this node has ended, because it has not reached the state for a while.
 */
export type SendPermission = "granted" | "paused" | "isolated";

const POLL_MS = 200;

/** Resolves when the permission is granted. @throws the signal's reason */
export async function untilGranted(permission: () => SendPermission, signal: AbortSignal): Promise<void> {
  while (permission() !== "granted") await sleep(POLL_MS, undefined, { signal });
}
