import { ok, type Result } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { MAX_POINTS } from "../read-figures.ts";
import type { FiguresPage, FiguresQuery, Gap, HistoryBatch } from "../rpc.ts";
import { NODE_FIGURES_SECS, type NodeFigures, type NodeStep } from "./node-figures.ts";

/** The part of a history that the nodes of one state share. */
export interface SharedFigures {
  /** Stores the minute of a batch, and the previous hour once it is over. What cannot be stored is dropped. */
  share(batch: Pick<HistoryBatch, "samples">): Promise<void>;
  figures(query: FiguresQuery, nodeId: string): Promise<Result<FiguresPage, string>>;
  nodes(): Promise<readonly string[]>;
}

const UNAVAILABLE = "the figures of other nodes cannot be read now";
/** Rows more than this many steps apart have a gap between them. */
const GAP_STEPS = 3;

/** A running mean. */
class Means {
  readonly #sums = new Map<string, { sum: number; count: number }>();

  add({ names, columns }: HistoryBatch["samples"]): void {
    for (const [at, name] of names.entries())
      for (const value of columns[at] ?? []) {
        if (!Number.isFinite(value)) continue;
        const { sum, count } = this.#sums.get(name) ?? { sum: 0, count: 0 };
        this.#sums.set(name, { sum: sum + value, count: count + 1 });
      }
  }

  values(): Record<string, number> {
    return Object.fromEntries([...this.#sums].map(([name, { sum, count }]) => [name, sum / count]));
  }
}

export function createSharedFigures(deps: {
  readonly store: NodeFigures;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly onFault: (cause: unknown) => void;
}): SharedFigures {
  const { store, nodeId, clock, onFault } = deps;
  let hour: { readonly t: number; readonly means: Means } | undefined;
  let isBusy = false;

  return {
    async share({ samples }) {
      const last = samples.t.at(-1);
      if (last === undefined) return;
      const begin = last - (last % 3600);
      const ended = hour && hour.t < begin ? hour : undefined;
      if (hour?.t !== begin) hour = { t: begin, means: new Means() };
      hour.means.add(samples);
      // Nothing is queued while the state is unavailable.
      if (isBusy) return;
      isBusy = true;
      try {
        const minute = new Means();
        minute.add(samples);
        if (ended) await store.put({ nodeId, step: 3600, t: ended.t, figures: ended.means.values() });
        await store.put({ nodeId, step: 60, t: last - (last % 60), figures: minute.values() });
      } catch (cause) {
        onFault(cause);
      } finally {
        isBusy = false;
      }
    },

    async figures({ from, to, step: wanted, series }, node) {
      const now = nowSecs(clock);
      const isRecent = from >= now - NODE_FIGURES_SECS[60] && (to - from) / 60 <= MAX_POINTS;
      const step: NodeStep = wanted === 3600 || !isRecent ? 3600 : 60;
      try {
        const rows = await store.read({ nodeId: node, step, from, to, max: MAX_POINTS });
        const columns = series.map(({ name, column }): [string, (number | null)[]] => [
          column,
          rows.map(({ figures }) => {
            const value = figures[name];
            return value === undefined || Number.isNaN(value) ? null : Math.round(value * 1000) / 1000;
          }),
        ]);
        const t = rows.map((row) => row.t);
        return ok({
          step,
          t,
          columns: Object.fromEntries(columns.filter(([, values]) => values.some((value) => value !== null))),
          gaps: gapsIn(t, { from, to: Math.min(to, now), step }),
        });
      } catch (cause) {
        onFault(cause);
        return { ok: false, error: UNAVAILABLE };
      }
    },

    nodes: () =>
      store.nodes().catch((cause) => {
        onFault(cause);
        return [];
      }),
  };
}

function gapsIn(t: readonly number[], range: { from: number; to: number; step: number }): Gap[] {
  const gaps: Gap[] = [];
  let last = range.from;
  for (const at of [...t, range.to]) {
    if (at - last > GAP_STEPS * range.step) gaps.push({ from: last, to: at, why: "no_figures" });
    last = at + range.step;
  }
  return gaps;
}
