import type { Thresholds } from "../../checks/check.ts";
import type { ReadMetric } from "../../checks/figures.ts";
import { CHECK_TABLE } from "../../checks/table.ts";
import type { HttpFigures } from "../../http/metrics/http-metrics.ts";
import type { Metric, Samples } from "../../runtime/figures/figures.ts";
import type { Descriptors } from "../../runtime/process.ts";
import { type FigureSource, requestStats } from "../part-stats.ts";

/** Stats that the figures of the pages do not need are requested once a minute, because each request wakes a thread. */
const REQUEST_EVERY = 4;

export interface CheckReaderDeps {
  readonly sources: readonly FigureSource[];
  readonly thresholds: Thresholds;
  readonly http: () => HttpFigures;
  readonly descriptors: Descriptors | undefined;
  /** Returns the keys of risky settings. */
  readonly risks: () => readonly string[];
}

/** What the sources of figures reported at one moment. A source that did not respond is left out. */
export type SourceReading = ReadonlyMap<FigureSource, unknown>;

/** Returns a function that reads metrics for the checks from a reading, the same one that the pages' figures are made from. */
export function createCheckReader(deps: CheckReaderDeps): (reading: SourceReading) => Promise<ReadMetric> {
  const { sources, thresholds, http, descriptors, risks } = deps;
  const wanted = new Set(
    CHECK_TABLE.flatMap(({ promql }) => promql?.(thresholds).match(/\bsvc_\w+/g) ?? []).map((name) =>
      name.slice("svc_".length),
    ),
  );
  const homes = new Map<string, { readonly source: FigureSource; readonly metric: Metric<never> }>();
  for (const source of sources)
    for (const { metric } of source.figures)
      if (metric && metric.type !== "histogram" && wanted.has(metric.name))
        homes.set(metric.name, { source, metric });
  const needed = [...new Set([...homes.values()].map(({ source }) => source))];
  let readings = 0;

  /** Requests the stats that the pages have not requested in this reading. */
  async function others(reading: SourceReading): Promise<SourceReading> {
    const isDue = readings++ % REQUEST_EVERY === 0;
    const missing = needed.filter((source) => !source.figures.some(({ series }) => series));
    const read = async (source: FigureSource) =>
      [source, source.part && !isDue ? source.part.latest : await requestStats(source)] as const;
    return new Map([...reading, ...(await Promise.all(missing.map(read)))]);
  }

  return async (taken) => {
    const reading = await others(taken);
    const parts = sources.flatMap((source): Samples => {
      const { part, asksState } = source;
      // Parts whose stats query the state are not asked at each reading.
      if (!part || asksState || !reading.has(source)) return [];
      return [[{ part: part.name }, Number(reading.get(source) !== undefined)]];
    });
    const ofProcess: Readonly<Record<string, () => Samples | undefined>> = {
      node_part_up: () => parts,
      risky_settings: () => risks().map((key) => [{ key }, 1] as const),
      process_open_fds: () => descriptors && [[{}, descriptors.open()]],
      process_max_fds: () => descriptors && [[{}, descriptors.limit]],
      http_requests_total: () => {
        const { requests, serverErrors, notImplemented } = http();
        const failed = serverErrors - notImplemented;
        return [
          [{ status: "200" }, requests - failed],
          [{ status: "500" }, failed],
        ];
      },
      http_request_duration_seconds_bucket: () => bucketsOf(http()),
      http_accept_pauses_total: () => [[{}, http().acceptPauses]],
    };
    return (name) => {
      const own = ofProcess[name];
      if (own) return own();
      const home = homes.get(name);
      const now = home && reading.get(home.source);
      return home && now !== undefined ? (home.metric.samples(now as never) as Samples) : undefined;
    };
  };
}

/** Cumulative, like the buckets of Prometheus. */
function bucketsOf({ boundsSecs, buckets }: HttpFigures): Samples {
  let count = 0;
  return buckets.map((inBucket, at) => {
    count += inBucket;
    return [{ le: boundsSecs[at] ?? "+Inf" }, count] as const;
  });
}
