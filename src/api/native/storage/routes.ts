import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { fid } from "../../../http/params.ts";
import type { Presenters } from "../../../read/present/presenters.ts";
import { storageOf } from "../../../read/queries/users/storage.ts";
import { runQuery } from "../../../read/run-query.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";

interface StorageQuery extends Viewer {
  readonly fid: number;
}

/** Storage units of an fid and their usage, each under two paths. */
export function storageRoutes({ reads, describe }: ReadDeps) {
  const show = (query: StorageQuery, present: Presenters["storageUsage" | "storageAllocations"]) =>
    runQuery(
      reads,
      (db) => storageOf(db, query.fid),
      ({ fid }) => ({ fids: [fid], viewerFid: query.viewer_fid }),
      present,
    );
  const showAllocations = ({ query }: { readonly query: StorageQuery }) =>
    show(query, reads.present.storageAllocations);
  const showUsage = ({ query }: { readonly query: StorageQuery }) => show(query, reads.present.storageUsage);

  const tags = ["Storage"];
  const allocations = describe({
    cache: "shared",
    operationId: "getUserStorageAllocations",
    summary: "Storage rented by a user",
    tags,
    query: { fid: fid() },
    response: "storageAllocations",
  });
  const usage = describe({
    cache: "shared",
    operationId: "getUserStorageUsage",
    summary: "Number of messages of a user in each store, and the limits",
    tags,
    query: { fid: fid() },
    response: "storageUsage",
  });
  return new Elysia({ name: "storage" })
    .get("/user/storage-allocations", showAllocations, allocations)
    .get("/storage/allocations", showAllocations, aliasOf("/user/storage-allocations", allocations))
    .get("/user/storage-usage", showUsage, usage)
    .get("/storage/usage", showUsage, aliasOf("/user/storage-usage", usage));
}
