import { readFileSync } from "node:fs";
import { Client, credentials } from "@grpc/grpc-js";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { registerAll, unixNowSecs } from "./submits.ts";
import { createKey } from "./writes.ts";
import { runWrk } from "./wrk.ts";

const ROUNDS = 9;
const CONNECTIONS = 8;
const DURATION_SECS = 1;

/** Resolution of CPU times of processes on Linux. */
const TICK_US = 10_000;

/**
 * Measures one small read over sockets with an API key, whose units are counted, alternately with the same read by an
 * anonymous client, who has no limit, and with one that sends an equally long header without meaning. The figures are the
 * lowest CPU times of the node in several rounds, because the rates and medians of a busy machine vary more than they
 * differ. The goal is a ratio of at most 1.05.
 */
export async function benchLimits(): Promise<Figure[]> {
  using dir = tempDir();
  await using node = await startNode({
    command: fromSources,
    dataDir: `${dir.path}/data`,
    args: [
      ...["--set", "hub.admin=true", "--set", "http.workers=1", "--set", "log.level=warn"],
      ...["--set", "api_keys.units_per_minute=1000000000", "--set", "api_keys.burst_units=1000000000"],
    ],
  });
  const nowSecs = unixNowSecs();
  const client = new Client(node.hubAddress, credentials.createInsecure());
  await registerAll(client, nowSecs);
  client.close();
  const key = await createKey(node.url, nowSecs, ["read"]);
  const cpuUs = () => {
    const [, rest = ""] = readFileSync(`/proc/${node.pid}/stat`, "utf8").split(") ");
    const fields = rest.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  };
  const figures: Figure[] = [];
  for (const isUncached of [false, true]) {
    const kind = isUncached ? "uncached" : "cached";
    const unlimited = `${kind} read without a limit`;
    const ways: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      [unlimited]: {},
      [`${kind} read with a header as long`]: { "x-other-k": key },
      [`${kind} read with a key`]: { "x-api-key": key },
    };
    const costs: Record<string, number[]> = {};
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [what, headers] of Object.entries(ways)) {
        const beforeUs = cpuUs();
        const { requests, errors } = await runWrk({
          origin: node.url,
          paths: ["/v2/farcaster/user/bulk?fids=1"],
          connections: CONNECTIONS,
          durationSecs: DURATION_SECS,
          isUncached,
          headers,
        });
        if (errors > 0) throw new Error(`${errors} requests failed`);
        // The first round warms up.
        if (round > 0) costs[what] = [...(costs[what] ?? []), (cpuUs() - beforeUs) / requests];
      }
    }
    const baseline = Math.min(...(costs[unlimited] ?? []));
    for (const [what, all] of Object.entries(costs)) {
      const value = Math.min(...all);
      const ratio = what === unlimited ? {} : { ratio: { of: unlimited, value: value / baseline } };
      figures.push({ what, value, unit: "µs", ...ratio });
    }
  }
  return figures;
}
