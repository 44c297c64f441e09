import { fid } from "../../../http/request/params.ts";
import type { Presenters } from "../../../read/present/presenters.ts";
import { storageOf } from "../../../read/queries/users/registry.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import type { Viewer } from "../../deps.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Storage" });

export const storageOperations = [
  read({
    id: "getUserStorageAllocations",
    path: "/user/storage-allocations",
    aliases: ["/storage/allocations"],
    summary: "Storage rented by a user",
    query: { fid: fid() },
    response: "storageAllocations",
    run: ({ reads }, { query }) => showStorage(reads, query, reads.present.storageAllocations),
  }),
  read({
    id: "getUserStorageUsage",
    path: "/user/storage-usage",
    aliases: ["/storage/usage"],
    summary: "Number of messages of a user in each store, and the limits",
    query: { fid: fid() },
    response: "storageUsage",
    run: ({ reads }, { query }) => showStorage(reads, query, reads.present.storageUsage),
  }),
];

function showStorage(
  reads: Reads,
  { fid, viewer_fid: viewerFid }: Partial<Viewer> & { readonly fid: number },
  present: Presenters["storageUsage" | "storageAllocations"],
) {
  return runQuery(
    reads,
    (db) => storageOf(db, fid),
    () => ({ fids: [fid], viewerFid }),
    present,
  );
}
