import type { StateNode } from "../../../src/db/state/state-db.ts";
import type { PostgresDatabase } from "./database.ts";

/** Registers a node whose lease does not end by itself, as `nodes` has it. */
export async function addLiveNode(database: PostgresDatabase): Promise<StateNode> {
  const node = database.node();
  await database.query(
    `INSERT INTO nodes (node_id, boot, slot, started_at, ends_at_ms, beat, version, schema_version, solo, settings)
     VALUES ('${node.nodeId}', '${node.bootId}', ${node.slot}, 0, ${Number.MAX_SAFE_INTEGER}, 1, '', 0, false, '{}')`,
  );
  return node;
}

/** Ends the lease of a node, as time does after it was killed. */
export async function endLease(database: PostgresDatabase, { bootId }: StateNode): Promise<void> {
  await database.query(`UPDATE nodes SET ends_at_ms = 0 WHERE boot = '${bootId}'`);
}
