import { expect, test } from "bun:test";
import { seededRandom } from "../../src/demo/random.ts";
import { startCluster } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { HAS_POSTGRES, startPostgres } from "../support/postgres/server.ts";
import { startFleet } from "./mixed-faults/fleet.ts";
import { addPeople, runMixedFaults } from "./mixed-faults/run.ts";

/** Whole nodes under all faults at once, for minutes. `test/node/postgres/two-nodes.long.test.ts` has a tenth of it. */

test.skipIf(!HAS_POSTGRES || !IS_LONG)(
  "under random faults of three nodes, their PostgreSQL and the network, everything acknowledged is there, exactly once",
  async () => {
    await using server = await startPostgres();
    await using cluster = await startCluster({ seed: "mixed faults", command: compiledProgram, server });
    addPeople(cluster);
    const random = seededRandom(`${Date.now()}`);
    const settings = ["webhooks.rate_limit=1000000", "apps.max_apps_per_owner=10000"];
    await using fleet = await startFleet(cluster, { names: ["a", "b", "c"], settings, random });
    const { wrong, happened } = await runMixedFaults({
      cluster,
      server,
      fleet,
      random,
      plan: {
        nodes: { kill: 40, stop: 10 },
        server: { kill: 10, restart: 5, freeze: 5, cut: 5, "lost answer": 20 },
        stoppedMs: 15_000,
        frozenMs: 20_000,
        cutMs: 8_000,
        pauseMs: 4_000,
        endsLeases: false,
      },
      tokens: 500,
      quietMs: 5_000,
    });
    console.log(happened.join("\n"));
    expect(wrong).toEqual([]);
  },
  1_200_000,
);
