import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { key, table, text, whole } from "../../db/state/table.ts";

/** The logs of each node's index, which show when an index was deleted or replaced by a copy. */
export const nodeLogs = table("node_logs", {
  node_id: key(text()),
  /** Changes when the index is another one. */
  log_id: text(),
  /** All heights of hub event blocks below this one may be in use. */
  reserved_height: whole(),
});

/** The logs of a node's index: of hub events, and of the events of webhooks and streams. */
export interface NodeLog {
  /** 16 random bytes as hex. It changes when the index is another one, because event numbers may then repeat. */
  readonly logId: string;
  /** All block heights below this one may be in use. */
  readonly reservedHeight: number;
}

/**
 * Stores what the state knows of each node's logs, so that an index that was deleted or replaced by an older copy is
 * detected. Every method is atomic.
 */
export type NodeLogStore = ReturnType<typeof createNodeLogs>;

const findLog = sql<{ log_id: string; reserved_height: number }, [nodeId: string]>(
  "node-logs.find",
  "SELECT log_id, reserved_height FROM node_logs WHERE node_id = $1",
);
const putLog = sql<unknown, [nodeId: string, logId: string, reservedHeight: number]>(
  "node-logs.put",
  `INSERT INTO node_logs (node_id, log_id, reserved_height) VALUES ($1, $2, $3)
   ON CONFLICT (node_id) DO UPDATE SET log_id = excluded.log_id,
     reserved_height = greatest(node_logs.reserved_height, excluded.reserved_height)`,
);

/** A node writes only its own row. */
export function createNodeLogs(db: StateDb) {
  return {
    async find(nodeId: string): Promise<NodeLog | undefined> {
      const row = await db.get(findLog, nodeId);
      return row && { logId: row.log_id, reservedHeight: row.reserved_height };
    },
    /** Stores the log of a node. The reserved height never decreases. */
    put: db.decision(
      "nodeLogs.put",
      async (tx, nodeId: string, { logId, reservedHeight }: NodeLog) => {
        await tx.run(putLog, nodeId, logId, reservedHeight);
      },
      { isOneStatement: true },
    ),
  };
}
