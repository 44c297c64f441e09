import { type SetTimer, setTimer } from "../runtime/clock.ts";
import type { Figure } from "../runtime/figures/figures.ts";

/** How long `/metrics` and `/status` wait for the stats of one part, ms. */
export const STATS_DEADLINE_MS = 500;

/** The stats of a part of the node that runs on another thread, for `/metrics` and `/status`. */
export class PartStats<Stats> {
  /** The part's name in metrics and in the status. */
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

  /** The stats of the last successful request; undefined before the first. */
  get latest(): Stats | undefined {
    return this.#latest;
  }

  /** @throws Error before the first response. */
  async requireLatest(): Promise<Stats> {
    if (this.#latest === undefined) throw new Error(`${this.name} has not responded yet`);
    return this.#latest;
  }

  /**
   * Requests the stats. Returns undefined if the part fails or does not respond within `STATS_DEADLINE_MS`. At most one request is
   * pending, so that requests do not pile up at a part that is stuck.
   */
  request(): Promise<Stats | undefined> {
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

/** Figures and their source: the stats of a part on another thread, or this thread. A part that is off has neither. */
export interface FigureSource {
  readonly figures: readonly Figure<never>[];
  readonly part?: PartStats<unknown>;
  readonly read?: () => unknown;
  /** Whether the stats query the state, which may be on another machine. */
  readonly asksState?: boolean;
}

/** Returns the figures of a part on another thread; undefined while it is off. */
export function figuresOf<Stats>(
  figures: readonly Figure<Stats>[],
  part: PartStats<Stats> | undefined,
  { asksState = false } = {},
): FigureSource {
  return { figures, asksState, ...(part && { part }) };
}

/** Returns figures that this thread reads; undefined while they are off. */
export function figuresHere<Stats>(
  figures: readonly Figure<Stats>[],
  read: (() => Stats | Promise<Stats>) | undefined,
): FigureSource {
  return { figures, ...(read && { read }) };
}

/** Reads the stats of figures; undefined if the part is off or does not respond in time. */
export async function requestStats({ part, read }: FigureSource): Promise<unknown> {
  return part ? part.request() : read?.();
}
