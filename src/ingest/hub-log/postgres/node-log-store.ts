import type { PgPool } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { NodeLogStore } from "../node-log-store.ts";

const findLog = pgStatement<{ log_id: string; reserved_height: number }, [nodeId: string]>(
  "node-logs.find",
  "SELECT log_id, reserved_height FROM node_logs WHERE node_id = $1",
);
const putLog = pgStatement<unknown, [nodeId: string, logId: string, reservedHeight: number]>(
  "node-logs.put",
  `INSERT INTO node_logs (node_id, log_id, reserved_height) VALUES ($1, $2, $3)
   ON CONFLICT (node_id) DO UPDATE SET log_id = excluded.log_id,
     reserved_height = greatest(node_logs.reserved_height, excluded.reserved_height)`,
);

/** Creates the logs of all nodes. A node writes its own row only. */
export function createPostgresNodeLogs(pool: PgPool): NodeLogStore {
  return {
    async find(nodeId) {
      const row = await pool.get(findLog, nodeId);
      return row && { logId: row.log_id, reservedHeight: row.reserved_height };
    },
    async put(nodeId, { logId, reservedHeight }) {
      await pool.run(putLog, nodeId, logId, reservedHeight);
    },
  };
}
