import type { Config } from "../../config/schema.ts";
import type { Reading } from "../../console/pulse/sampler.ts";
import type { Series } from "../../runtime/figures/figures.ts";
import { type FigureSource, requestStats } from "../part-stats.ts";
import type { SourceReading } from "./check-reading.ts";

/** Sources whose stats query the state. With PostgreSQL this is done once a minute. */
const POSTGRES_EVERY = 12;

export const seriesIn = (figures: FigureSource["figures"]): readonly Series[] =>
  figures.flatMap(({ series }) => series ?? []);

/** Returns a function that reads the reports of the parts for one sample. A part that does not respond in time is left out. */
export function createReader(
  { state }: Pick<Config, "state">,
  sources: readonly FigureSource[],
  onReading: (reading: SourceReading) => Promise<void>,
): () => Promise<Reading> {
  const read = sources.filter(({ figures }) => seriesIn(figures).length > 0);
  const asksStateEvery = state.url === "" ? 1 : POSTGRES_EVERY;
  let readings = 0;
  return async () => {
    const asksState = readings++ % asksStateEvery === 0;
    const values = new Map<string, unknown>();
    const counts = new Map<string, number>();
    const reading = new Map<FigureSource, unknown>();
    const addAll = async (source: FigureSource) => {
      const now = source.asksState && !asksState ? source.part?.latest : await requestStats(source);
      if (source.part || now !== undefined) reading.set(source, now);
      if (now === undefined) return;
      for (const series of seriesIn(source.figures)) values.set(series.name, series.read(now as never));
      for (const { lane } of source.figures) {
        if (!lane) continue;
        for (const [kind, n] of Object.entries(lane.read(now as never)))
          counts.set(`${lane.name}:${kind}`, n);
      }
    };
    await Promise.all(read.map(addAll));
    const atMs = performance.now();
    await onReading(reading);
    return { atMs, values, counts };
  };
}
