import { drawFrom } from "./draw.ts";
import { selectedReads } from "./goals.ts";
import { leastCpuUs, REQUESTS, startInProcess } from "./in-process.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";

const BATCHES = Number(process.env.BENCH_BATCHES ?? 30);

/**
 * Measures the CPU time of one request within the process, from the `Request` to the `Response`. The result is the minimum of
 * many batches, which approximates the cost on an undisturbed core. Sockets are excluded.
 */
export async function benchInside(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 100_000));
  const draw = drawFrom(network);
  await using server = await startInProcess(network.dataDir);
  const figures: Figure[] = [];
  for (const { name, path } of selectedReads()) {
    const urls = Array.from({ length: REQUESTS }, () => `http://localhost:1/v2/svc${path(draw)}`);
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
      figures.push({ what: `${name}, ${kind}`, value: leastUs, unit: "us of CPU per request" });
    }
  }
  return figures;
}
