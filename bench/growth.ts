import { statSync } from "node:fs";
import { indexPath } from "../src/db/index/database.ts";
import { compileInto, DIST, startNode } from "../test/support/program.ts";
import { drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { distinctRequest, READS, timeOf } from "./reads.ts";
import { median, rssOf } from "./start.ts";

const SIZES = (process.env.BENCH_SIZES ?? "100000,2000000,10000000").split(",").map(Number);
const REQUESTS = 200;
const WARM_UP = 300;

/**
 * Measures how the median time of each read grows with the network. The same requests are sent to nodes over networks of
 * several sizes, interleaved, so that other load on the machine affects all of them alike. Requests are drawn from `some`
 * users and casts, equally many and active in each network; then from `all` of the network, of which a node caches a smaller
 * share the larger it is.
 */
export async function benchGrowth(): Promise<Figure[]> {
  const command = [await compileInto(DIST)];
  const networks = SIZES.map((messages) => benchNetwork(messages));
  const sides = await Promise.all(
    networks.map(async (network) => ({
      network,
      draws: { some: drawFrom(network, "some"), all: drawFrom(network, "all") },
      node: await startNode({ command, dataDir: network.dataDir }),
    })),
  );
  const figures: Figure[] = [];
  const only = process.env.BENCH_ENDPOINT;
  for (const [name, path] of READS) {
    if (only !== undefined && !name.startsWith(only)) continue;
    for (const from of ["some", "all"] as const) {
      const times = sides.map((): number[] => []);
      for (let n = 0; n < REQUESTS + WARM_UP; n++) {
        for (const [at, { node, draws }] of sides.entries()) {
          const timeMs = await timeOf(node.url, distinctRequest(path(draws[from])));
          if (n >= WARM_UP) times[at]?.push(timeMs);
        }
      }
      const medians = times.map(median);
      for (const [at, size] of SIZES.entries()) {
        const value = medians[at] ?? Number.NaN;
        const of = `that of ${shown(SIZES[0])}${from === "some" ? ", goal at most 1.5" : ""}`;
        const ratio = at === 0 ? undefined : { of, value: value / (medians[0] ?? Number.NaN) };
        figures.push({ what: `${name}, ${from} of ${shown(size)} messages`, value, unit: "ms", ratio });
      }
    }
  }
  for (const { network, node } of sides) {
    const what = `with ${shown(network.messages)} messages`;
    const bytes = statSync(indexPath(network.dataDir)).size;
    figures.push({
      what: `index ${what}, bytes per message`,
      value: bytes / network.messages,
      unit: "bytes",
    });
    figures.push({ what: `resident memory ${what}`, value: rssOf(node.pid) / 1e6, unit: "MB" });
    await node.stop();
  }
  return figures;
}

function shown(size: number | undefined): string {
  return (size ?? 0).toLocaleString("en");
}
