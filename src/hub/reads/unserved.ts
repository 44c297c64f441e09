import { err } from "../../lib/result.ts";
import type { Refusal } from "../../read/hub/refusal.ts";
import type { RawMethod } from "../raw-service.ts";

/** The methods of HubService that this node does not serve, with the reason. Every other name is unknown to the service. */
export const UNSERVED: Readonly<Record<string, string>> = {
  Subscribe: "the reads of this node are off",
  GetBlocks: "this node has no blocks",
  GetShardChunks: "this node has no blocks",
  GetTrieMetadataByPrefix: "this node serves no snapshots",
  GetMeshView: "this node takes no part in gossip",
  GetMeshTopology: "this node takes no part in gossip",
};

/** Returns methods that refuse every call with the reason. */
export function unservedMethods(): Readonly<Record<string, RawMethod>> {
  return Object.fromEntries(
    Object.entries(UNSERVED).map(([name, reason]) => [
      name,
      async () => err<Refusal>({ code: "unimplemented", reason }),
    ]),
  );
}
