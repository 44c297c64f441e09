import { Client, credentials } from "@grpc/grpc-js";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";
import { registerAll, unixNowSecs } from "./submits.ts";
import { createKey } from "./writes.ts";
import { runWrk } from "./wrk.ts";

const ROUNDS = 7;
const CONNECTIONS = 8;
const DURATION_SECS = 1;

/**
 * Measures one small read over sockets with an API key, whose units are counted, in turns with the same read of an anonymous client,
 * who has no limit. The ratios are times; the goal is at most 1.05.
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
  const figures: Figure[] = [];
  for (const isUncached of [false, true]) {
    const kind = isUncached ? "uncached" : "cached";
    const rates: Record<string, number[]> = { unlimited: [], limited: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [way, headers] of [
        ["unlimited", {}],
        ["limited", { "x-api-key": key }],
      ] as const) {
        const { requestsPerSec, errors } = await runWrk({
          origin: node.url,
          paths: ["/v2/farcaster/user/bulk?fids=1"],
          connections: CONNECTIONS,
          durationSecs: DURATION_SECS,
          isUncached,
          headers,
        });
        if (errors > 0) throw new Error(`${errors} requests failed`);
        // The first round warms up.
        if (round > 0) rates[way]?.push(1e6 / requestsPerSec);
      }
    }
    const unlimited = `${kind} read without a limit`;
    const baseline = median(rates.unlimited ?? []);
    const value = median(rates.limited ?? []);
    figures.push(
      { what: unlimited, value: baseline, unit: "µs" },
      {
        what: `${kind} read with a key`,
        value,
        unit: "µs",
        ratio: { of: unlimited, value: value / baseline },
      },
    );
  }
  return figures;
}
