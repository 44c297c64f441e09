import { type SetTimer, setTimer } from "../runtime/set-timer.ts";

/** How long `/metrics` and `/status` wait for the stats of one part, ms. */
export const STATS_DEADLINE_MS = 500;

/** A part of the node that runs on another thread, as `/metrics` and `/status` ask it. */
export class PartStats<Stats> {
  /** As metrics and the status name it. */
  readonly name: string;
  readonly #read: () => Promise<Stats>;
  readonly #after: SetTimer;
  #pending: Promise<Stats | undefined> | undefined;
  #latest: Stats | undefined;

  constructor(name: string, read: () => Promise<Stats>, after: SetTimer = setTimer) {
    this.name = name;
    this.#read = read;
    this.#after = after;
  }

  /** The stats of the last request that was answered; undefined before the first. */
  get latest(): Stats | undefined {
    return this.#latest;
  }

  /** @throws before the first answer. */
  async requireLatest(): Promise<Stats> {
    if (this.#latest === undefined) throw new Error(`${this.name} has not answered yet`);
    return this.#latest;
  }

  /**
   * Asks the part; undefined when it does not answer within `STATS_DEADLINE_MS`, or answers with a fault. At most one
   * request waits for its answer, so that requests do not pile up in front of a part that is stuck.
   */
  ask(): Promise<Stats | undefined> {
    this.#pending ??= this.#read()
      .then(
        (stats) => {
          this.#latest = stats;
          return stats;
        },
        () => undefined,
      )
      .finally(() => {
        this.#pending = undefined;
      });
    const late = Promise.withResolvers<undefined>();
    const cancel = this.#after(STATS_DEADLINE_MS, () => late.resolve(undefined));
    return Promise.race([this.#pending, late.promise]).finally(cancel);
  }
}
