import { cpSync } from "node:fs";
import { createDatabase } from "../test/support/postgres/database.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { startDurablePostgres } from "./postgres.ts";
import { cpuMicrosOf, median } from "./start.ts";
import { runWrk } from "./wrk.ts";

const RUNS = 9;
const RUN_SECS = 1;
const CONNECTIONS = 32;
const REQUESTS = 200;
const MESSAGES = 100_000;

interface Run {
  readonly rate: number;
  /** CPU time of the node per request, which other load on the machine affects less than the rate. */
  readonly cpuMicros: number;
}

/**
 * Measures uncached reads of a node with its state in PostgreSQL, while the server is up and after it was killed,
 * alternately with a node on `state.db`; and of two nodes at once, alternately with one of them. The nodes are the compiled
 * program with one HTTP worker each, over copies of one index.
 */
export async function benchReadsOfNodes(): Promise<Figure[]> {
  const network = benchNetwork(MESSAGES);
  const draw = drawFrom(network);
  const paths = Array.from({ length: REQUESTS }, (_, n) =>
    n % 2 === 0 ? `/v2/svc/user?fid=${draw.fid()}` : `/v2/svc/feed/user/casts?fid=${draw.fid()}&limit=25`,
  );
  using dir = tempDir();
  await using server = await startDurablePostgres();
  const databases = [await createDatabase({ server }), await createDatabase({ server })];
  const command = [await compileInto(DIST)];
  const start = (name: string, settings: readonly string[]) => {
    const dataDir = `${dir.path}/${name}`;
    cpSync(network.dataDir, dataDir, { recursive: true });
    const args = ["http.workers=1", ...settings].flatMap((setting) => ["--set", setting]);
    return startNode({ command, dataDir, args });
  };
  await using local = await start("local", []);
  // Without an upstream, each has its own state, which reads do not use.
  await using a = await start("a", [`state.url=${databases[0]?.url}`]);
  await using b = await start("b", [`state.url=${databases[1]?.url}`]);

  const load = async (node: RunningNode, connections = CONNECTIONS): Promise<Run> => {
    const before = cpuMicrosOf(node.pid);
    const at = { origin: node.url, paths, connections, durationSecs: RUN_SECS, isUncached: true };
    const { requestsPerSec: rate, errors } = await runWrk(at);
    if (errors > 0) throw new Error(`${errors} reads failed`);
    return { rate, cpuMicros: (cpuMicrosOf(node.pid) - before) / (rate * RUN_SECS) };
  };
  const beside = async (other: () => Promise<Run>) => {
    const rates: number[] = [];
    const shares: number[] = [];
    const cpu: number[] = [];
    for (let run = -1; run < RUNS; run++) {
      // Each is first in every second round.
      const isFirst = run % 2 === 0;
      const early = isFirst ? await other() : await load(local);
      const late = isFirst ? await load(local) : await other();
      const [of, base] = isFirst ? [early, late] : [late, early];
      if (run < 0) continue;
      rates.push(of.rate);
      shares.push(of.rate / base.rate);
      cpu.push(base.cpuMicros / of.cpuMicros);
    }
    return { rate: median(rates), share: median(shares), cpu: median(cpu) };
  };
  const both = async (): Promise<Run> => {
    const [ofA, ofB] = await Promise.all([load(a, CONNECTIONS / 2), load(b, CONNECTIONS / 2)]);
    const rate = ofA.rate + ofB.rate;
    return { rate, cpuMicros: (ofA.cpuMicros * ofA.rate + ofB.cpuMicros * ofB.rate) / rate };
  };
  const figures = (what: string, { rate, share, cpu }: Awaited<ReturnType<typeof beside>>): Figure[] => [
    {
      what,
      value: rate,
      unit: "requests/s",
      ratio: { of: "a node with state.db", value: share },
    },
    { what: "  requests in the same CPU time of the node", value: cpu, unit: "of a node with state.db" },
  ];
  const up = await beside(() => load(a));
  const two = await beside(both);
  await server.kill();
  for (;;) {
    if ((await fetch(`${a.url}/ready?for=state`)).status === 503) break;
    await Bun.sleep(100);
  }
  const dead = await beside(() => load(a));
  await server.restart();
  return [
    ...figures("reads, state in PostgreSQL, goal 0.97", up),
    ...figures("reads, PostgreSQL killed, goal 0.97", dead),
    ...figures("reads of two nodes on these cores", two),
  ];
}
