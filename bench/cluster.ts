import { benchDeliveriesPostgres } from "./deliveries-postgres.ts";
import type { Figure } from "./main.ts";
import { benchNodeOnPostgres } from "./node-on-postgres.ts";
import { benchReadsOfNodes } from "./reads-of-nodes.ts";
import { benchSendPostgres } from "./send-postgres.ts";
import { benchSnapshot } from "./snapshot.ts";
import { benchStateCopy } from "./state-copy.ts";

/** Measures everything that has a goal where several nodes share a state in PostgreSQL, in one run. */
export async function benchCluster(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const bench of [
    benchNodeOnPostgres,
    benchDeliveriesPostgres,
    benchReadsOfNodes,
    benchSendPostgres,
    benchStateCopy,
    benchSnapshot,
  ])
    figures.push(...(await bench()));
  return figures;
}
