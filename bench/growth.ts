import { statSync } from "node:fs";
import { indexPath } from "../src/index/database.ts";
import { compiledBinary, startNode } from "../test/support/program.ts";
import { drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { READS, timeOf } from "./reads.ts";
import { median, rssOf } from "./start.ts";

const SIZES = (process.env.BENCH_SIZES ?? "100000,2000000,10000000").split(",").map(Number);
const REQUESTS = 200;
const WARM_UP = 20;

/**
 * How the median time of each read grows with the network: the same request to nodes over networks of several sizes, in
 * turns, so that whatever else the machine does meets all of them alike.
 */
export async function benchGrowth(): Promise<Figure[]> {
  const command = [await compiledBinary()];
  const networks = SIZES.map(benchNetwork);
  const sides = await Promise.all(
    networks.map(async (network) => ({
      network,
      draw: drawFrom(network),
      node: await startNode({ command, dataDir: network.dataDir }),
    })),
  );
  const figures: Figure[] = [];
  for (const [name, path] of READS) {
    const times = sides.map((): number[] => []);
    for (let n = 0; n < REQUESTS + WARM_UP; n++) {
      for (const [at, { node, draw }] of sides.entries()) {
        const timeMs = await timeOf(node.url, path(draw));
        if (n >= WARM_UP) times[at]?.push(timeMs);
      }
    }
    const medians = times.map(median);
    for (const [at, size] of SIZES.entries()) {
      const value = medians[at] ?? Number.NaN;
      const of = `that of ${shown(SIZES[0])}, goal at most 1.5`;
      const ratio = at === 0 ? undefined : { of, value: value / (medians[0] ?? Number.NaN) };
      figures.push({ what: `${name}, ${shown(size)} messages`, value, unit: "ms", ratio });
    }
  }
  for (const { network, node } of sides) {
    const what = `with ${shown(network.messages)} messages`;
    const bytes = statSync(indexPath(network.dataDir)).size;
    figures.push({ what: `index ${what}, bytes a message`, value: bytes / network.messages, unit: "bytes" });
    figures.push({ what: `resident memory ${what}`, value: rssOf(node.pid) / 1e6, unit: "MB" });
    await node.stop();
  }
  return figures;
}

function shown(size: number | undefined): string {
  return (size ?? 0).toLocaleString("en");
}
