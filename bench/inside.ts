import { join } from "node:path";
import { drawFrom } from "./draw.ts";
import { selectedReads } from "./goals.ts";
import { leastCpuUs, REQUESTS, startInProcess } from "./in-process.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";

const BATCHES = Number(process.env.BENCH_BATCHES ?? 30);
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 100_000);
/** A checkout to compare with, alternately. */
const BEFORE = process.env.BENCH_BEFORE;
const PREFIX = process.env.BENCH_PREFIX ?? "/v2/svc";
/** Whether the compared reads have a viewer, each a different user. */
const HAS_VIEWER = process.env.BENCH_VIEWER === "1";
const UNIT = "us of CPU per request";

/**
 * Measures the CPU time of one request within the process, from the `Request` to the `Response`. The result is the minimum
 * of many batches, which approximates the cost on an undisturbed core. Sockets are excluded.
 */
export async function benchInside(): Promise<Figure[]> {
  if (BEFORE) return await compareWith(BEFORE);
  const network = benchNetwork(MESSAGES);
  const draw = drawFrom(network);
  await using server = await startInProcess(network.dataDir);
  const figures: Figure[] = [];
  for (const { name, path } of selectedReads()) {
    const urls = Array.from({ length: REQUESTS }, () => `http://localhost:1${PREFIX}${path(draw)}`);
    for (const url of urls) {
      const { status } = await server.handle(new Request(url));
      if (status !== 200) throw new Error(`${url} returned ${status}`);
    }
    let at = 0;
    // A parameter that the node ignores makes the request distinct.
    const uncached = (n: number) => `${urls[n % REQUESTS]}&unused=${n}`;
    const cached = (n: number) => urls[n % REQUESTS] ?? "";
    for (const [kind, urlOf] of [
      ["uncached", uncached],
      ["cached", cached],
    ] as const) {
      const leastUs = await leastCpuUs(BATCHES, () => server.handle(new Request(urlOf(at++))));
      figures.push({ what: `${name}, ${kind}`, value: leastUs, unit: UNIT });
    }
  }
  return figures;
}

/**
 * Measures reads of this checkout and of another one, whose responses are not cached, each in a separate process: the same
 * requests, batch by batch, alternately. In one process, the code that is loaded second would be up to a quarter slower.
 */
async function compareWith(before: string): Promise<Figure[]> {
  const draw = drawFrom(benchNetwork(MESSAGES));
  const [now, former] = [startReads(join(import.meta.dir, "..")), startReads(before)];
  try {
    await Promise.all([now.ready, former.ready]);
    const figures: Figure[] = [];
    for (const { name, path } of selectedReads()) {
      const viewer = () => (HAS_VIEWER ? `&viewer_fid=${draw.fid()}` : "");
      const paths = Array.from({ length: REQUESTS }, () => `${PREFIX}${path(draw)}${viewer()}`);
      const bytes = [await now.ask(paths), await former.ask(paths)] as const;
      if (Math.max(...bytes) > 1.3 * Math.min(...bytes))
        throw new Error(
          `responses of ${name} have ${bytes.join(" and ")} bytes: delete bench/.networks of both`,
        );
      const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const as [number, number];
      for (let batch = 0; batch < BATCHES; batch++) {
        least[0] = Math.min(least[0], await now.ask("run"));
        least[1] = Math.min(least[1], await former.ask("run"));
      }
      const of = `${least[1].toFixed(1)} us of ${before}`;
      figures.push({ what: name, value: least[0], unit: UNIT, ratio: { of, value: least[0] / least[1] } });
    }
    return figures;
  } finally {
    now.stop();
    former.stop();
  }
}

function startReads(checkout: string) {
  let resolve: (value: number) => void = () => undefined;
  let reject: (cause: Error) => void = () => undefined;
  const next = () =>
    new Promise<number>((onValue, onFault) => {
      resolve = onValue;
      reject = onFault;
    });
  const script = join(import.meta.dir, "processes/inside-reads.ts");
  const child = Bun.spawn([process.execPath, script, checkout, String(MESSAGES)], {
    stdout: "inherit",
    stderr: "inherit",
    ipc: (message) => resolve(message),
    onExit: () => reject(new Error(`reads of ${checkout} failed`)),
  });
  return {
    ready: next(),
    ask(message: readonly string[] | "run") {
      const response = next();
      child.send(message);
      return response;
    },
    stop: () => child.kill(),
  };
}
