import { Connection, runOpenLoop } from "../../../bench/open-loop.ts";
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
const PEAK_MS = 2_000;
const RESAMPLES = 2_000;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Lets all threads of a process run on one processor only. */
function pinTo(processor: number, pid: number): void {
  const { exitCode, stderr } = Bun.spawnSync(["taskset", "-a", "-cp", `${processor}`, `${pid}`]);
  if (exitCode !== 0) throw new Error(`taskset: ${stderr}`);
}

/** The most reads per second that a node serves. */
async function peakOf(address: Pick<URL, "hostname" | "port">): Promise<number> {
  const endsAt = performance.now() + PEAK_MS;
  let reads = 0;
  const ended = Promise.withResolvers<void>();
  const onEnd = (connection: Connection, ok: boolean) => {
    reads += 1;
    if (!ok) ended.reject(new Error("a read failed"));
    else if (performance.now() < endsAt) connection.get(READS[reads % READS.length] ?? "", 0);
    else ended.resolve();
  };
  const opening = Array.from({ length: CONNECTIONS }, () =>
    Connection.open({ hostname: address.hostname, port: Number(address.port) }, onEnd),
  );
  const all = await Promise.all(opening);
  for (const connection of all) connection.get(READS[0] ?? "", 0);
  await ended.promise;
  for (const connection of all) connection.close();
  return reads / (PEAK_MS / 1000);
}

/**
 * Reads users at half of the most that the node serves, in turns with and without the requests of pages, so that what else the
 * machine does is in both. The node has a processor of its own, as if its clients were on other machines.
 */
export async function slowdownBeside(
  node: { readonly url: string; readonly pid: number },
  { load, turns, turnSecs }: { readonly load: string; readonly turns: number; readonly turnSecs: number },
): Promise<Slowdown> {
  const address = new URL(node.url);
  pinTo(0, node.pid);
  pinTo(1, process.pid);
  const requestsPerSec = Math.min(MAX_READS_PER_SEC, Math.round((await peakOf(address)) / 2));
  const read = async () => {
    const run = await runOpenLoop({
      hostname: address.hostname,
      port: Number(address.port),
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
