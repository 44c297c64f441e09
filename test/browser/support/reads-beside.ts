import { runOpenLoop } from "../../../bench/open-loop.ts";
import { type PageLoadReport, startPageLoad } from "./page-load.ts";

/** How much slower reads are beside something else. */
export interface Slowdown {
  /** p99 beside it as a share of p99 without, the median of all pairs of turns, and where 95 % of resampled medians lie. */
  readonly ratio: number;
  readonly from: number;
  readonly to: number;
  readonly p99Ms: { readonly without: number; readonly beside: number };
  readonly readsPerSec: number;
  readonly turns: number;
  readonly reports: readonly PageLoadReport[];
}

const READS = ["/v2/svc/user?fid=3", "/v2/svc/user?fid=9", "/v2/svc/user?fid=21"];
const CONNECTIONS = 16;
/** With more, the client itself is late on a small machine. */
const MAX_READS_PER_SEC = 10_000;
const RESAMPLES = 2_000;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** The most reads a second that a node answers. */
async function peakOf(url: URL): Promise<number> {
  const endsAt = performance.now() + 2_000;
  let reads = 0;
  const one = async () => {
    for (; performance.now() < endsAt; reads++)
      await (await fetch(new URL(READS[0] ?? "", url))).arrayBuffer();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return reads / 2;
}

/**
 * Reads users at half of the most that the node answers, in turns with and without the requests of pages, so that what else the
 * machine does is in both.
 */
export async function slowdownBeside(
  url: string,
  { load, turns, turnSecs }: { readonly load: string; readonly turns: number; readonly turnSecs: number },
): Promise<Slowdown> {
  const { hostname, port } = new URL(url);
  const requestsPerSec = Math.min(MAX_READS_PER_SEC, Math.round((await peakOf(new URL(url))) / 2));
  const read = async () => {
    const run = await runOpenLoop({
      hostname,
      port: Number(port),
      paths: READS,
      requestsPerSec,
      durationSecs: turnSecs,
      connections: CONNECTIONS,
      isUncached: false,
    });
    if (run.errors > 0) throw new Error(`${run.errors} reads failed`);
    return run.p99Ms;
  };
  const without: number[] = [];
  const beside: number[] = [];
  const reports: PageLoadReport[] = [];
  const readBeside = async () => {
    const pages = await startPageLoad(load);
    beside.push(await read());
    reports.push(await pages.stop());
  };
  await read();
  for (let turn = 0; turn < turns; turn++) {
    if (turn % 2 === 0) await readBeside();
    without.push(await read());
    if (turn % 2 === 1) await readBeside();
  }
  const ratios = without.map((one, at) => (beside[at] ?? 0) / one);
  const resampled = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => ratios[Math.floor(Math.random() * ratios.length)] ?? 0)),
  ).sort((a, b) => a - b);
  return {
    ratio: median(ratios),
    from: resampled[Math.floor(RESAMPLES * 0.025)] ?? 0,
    to: resampled[Math.floor(RESAMPLES * 0.975)] ?? 0,
    p99Ms: { without: median(without), beside: median(beside) },
    readsPerSec: requestsPerSec,
    turns,
    reports,
  };
}
