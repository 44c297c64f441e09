import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { NodeLog, NodeLogStore } from "../node-log-store.ts";

const findLog = statement<NodeLog, [nodeId: string]>(
  "node-logs.find",
  "SELECT log_id AS logId, reserved_height AS reservedHeight FROM node_logs WHERE node_id = ?",
);
const putLog = statement<unknown, [nodeId: string, logId: string, reservedHeight: number]>(
  "node-logs.put",
  `INSERT INTO node_logs (node_id, log_id, reserved_height) VALUES (?, ?, ?)
   ON CONFLICT (node_id) DO UPDATE SET log_id = excluded.log_id,
     reserved_height = max(reserved_height, excluded.reserved_height)`,
);

export function nodeLogReads(db: StateDatabase): Pick<NodeLogStore, "find"> {
  return { find: async (nodeId) => db.get(findLog, nodeId) ?? undefined };
}

export function nodeLogWrites(db: StateDatabase): StoreWrites<NodeLogStore, "put"> {
  return {
    put(nodeId, { logId, reservedHeight }) {
      db.run(putLog, nodeId, logId, reservedHeight);
    },
  };
}
