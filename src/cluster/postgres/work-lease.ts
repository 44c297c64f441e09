import type { PgPool } from "../../db/postgres/pool.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { NODE_LEASE_MS } from "./join.ts";
import { takeWorkLease } from "./node-rows.ts";

/** The right to do some work that one node at a time does. It saves work and decides nothing. */
export interface WorkLease {
  /** Takes or renews the lease. Returns whether this node has it. */
  hold(): Promise<boolean>;
}

/** The lease of a name. The heartbeat of the node that has it renews it, too. */
export function createWorkLease(pool: PgPool, { bootId }: StateNode, name: string): WorkLease {
  return {
    hold: async () => (await pool.get(takeWorkLease, name, bootId, NODE_LEASE_MS)) !== undefined,
  };
}
