import { hubPlugins } from "../../../api/hub-plugins.ts";
import type { HubDeps } from "../../../api/operations/hub/operation.ts";
import { followedFids } from "../../../config/files/fid-file.ts";
import type { Config } from "../../../config/schema.ts";
import { isFollowing } from "../../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import type { HttpServerOptions } from "../../../http/server.ts";
import type { HubRpc } from "../../../hub/rpc.ts";
import { connectRpc } from "../../../lib/port-rpc.ts";
import { networkOf } from "../../../protocol/network/network.ts";
import { createHubReads, type HubReads } from "../../../read/hub/hub-reads.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createFillCheck } from "../../../upstream/positions.ts";

/** Creates the reads of the hub for one thread. */
export function createNodeHubReads(db: IndexDatabase, config: Config): HubReads {
  const follows = isFollowing(config);
  return createHubReads({
    db,
    network: networkOf(config.protocol.network),
    clock: systemClock,
    followed: follows ? followedFids(config.upstream) : undefined,
    isFilled: follows ? createFillCheck(db) : undefined,
  });
}

/** Returns the hub under `/v1`, and its additional port. */
export function createHubInterface({
  config,
  db,
  hub,
  chargeKey,
}: Pick<HubDeps, "chargeKey"> & {
  readonly config: Config;
  readonly db: IndexDatabase;
  /** Connects to the hub's thread. */
  readonly hub: MessagePort;
}): Pick<HttpServerOptions, "hubPlugins" | "hubAddress"> {
  const { host, http_port: port } = config.hub;
  const reads = createNodeHubReads(db, config);
  return {
    hubPlugins: hubPlugins({ hub: connectHub(hub), chargeKey, reads }),
    hubAddress: port === 0 ? undefined : { host, port },
  };
}

/** Longer than a forwarded bulk request takes. */
const HUB_DEADLINE_MS = 120_000;

/** Returns the client of the hub's thread. Its methods throw an ApiError `unavailable` if the thread does not respond in time. */
function connectHub(port: MessagePort): HubRpc {
  return connectRpc<HubRpc>(port, {
    timeoutMs: HUB_DEADLINE_MS,
    timeoutError: () => new ApiError("unavailable", "the hub does not respond"),
  });
}
