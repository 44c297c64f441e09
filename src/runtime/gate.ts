import { setTimeout as sleep } from "node:timers/promises";

/** Permission to start work, which may be revoked and granted at any time. */
export interface Gate {
  isOpen(): boolean;
  /** Resolves when the gate is open. Rejects if `signal` aborts first. */
  opened(signal?: AbortSignal): Promise<void>;
}

/** A gate that is always open. */
export const OPEN_GATE: Gate = createGate(() => true);

const POLL_INTERVAL_MS = 200;

/** Creates a gate over a condition, which is polled while a caller waits. */
export function createGate(isOpen: () => boolean): Gate {
  return {
    isOpen,
    async opened(signal) {
      while (!isOpen()) await sleep(POLL_INTERVAL_MS, undefined, { signal });
    },
  };
}
