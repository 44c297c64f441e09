import { onBeat } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { NodeSignals } from "./node-signals.ts";
import type { Pause, SwitchStore } from "./switch-store.ts";

/** The pauses that this node follows. */
export type Pauses = ReturnType<typeof createPauses>;

export function createPauses({ signals, log }: { readonly signals: NodeSignals; readonly log: Logger }) {
  let latest: readonly Pause[] = [];
  return {
    latest: (): readonly Pause[] => latest,
    /** Applies a newly read list to all threads, and logs the changes. */
    apply(pauses: readonly Pause[]): void {
      const before = latest;
      latest = pauses;
      signals.setPaused(pauses.map(({ name }) => name));
      for (const { name, reason, pausedBy } of pauses)
        if (!before.some((pause) => pause.name === name)) log.warn({ name, reason, pausedBy }, "Paused");
      for (const { name } of before)
        if (!pauses.some((pause) => pause.name === name)) log.info({ name }, "Resumed");
    },
  };
}

/** How often a single node reads its switches. */
const POLL_INTERVAL_MS = 1_000;

/**
 * Reads the switches now and then every second. Resolves after the first time.
 *
 * @returns a function that stops this.
 */
export async function watchSwitches(options: {
  readonly switches: SwitchStore;
  readonly pauses: Pauses;
  readonly log: Logger;
}): Promise<() => void> {
  const { switches, pauses, log } = options;
  const poll = async () => pauses.apply(await switches.list());
  await poll();
  let hasFailed = false;
  return onBeat(POLL_INTERVAL_MS, () => {
    poll().then(
      () => {
        hasFailed = false;
      },
      (err) => {
        // The last known switches stay in force.
        if (!hasFailed) log.error({ err }, "The switches could not be read");
        hasFailed = true;
      },
    );
  });
}
