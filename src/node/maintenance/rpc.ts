import type { RpcClient } from "../../lib/port-rpc.ts";
import type { MaintenanceStats } from "./maintenance.ts";

/** A request to the maintenance worker. */
export type MaintenanceRequest = { readonly type: "stats" };

export type MaintenanceClient = RpcClient<MaintenanceRequest, MaintenanceStats>;

export function maintenanceStats(client: MaintenanceClient): Promise<MaintenanceStats> {
  return client.call({ type: "stats" });
}
