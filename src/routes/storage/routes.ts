import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { fid } from "../../http/params.ts";
import { nowSecs } from "../../process/clock.ts";
import type { Reads } from "../../read/answers.ts";
import { presentAllocations, presentStorageUsage } from "../../read/present/storage.ts";
import { storageOf } from "../../read/skeleton/storage.ts";
import { StorageAllocationsResponse, StorageUsageResponse } from "./objects.ts";

interface Context {
  readonly query: { readonly fid: number };
}

/** Storage units of an fid and what it keeps in them, under both names of each. */
export function storageRoutes(reads: Reads) {
  const { db, clock } = reads;
  const state = ({ query }: Context) => db.snapshot(() => storageOf(db, query.fid));
  const showAllocations = (context: Context) => presentAllocations(state(context), nowSecs(clock));
  const showUsage = (context: Context) => presentStorageUsage(state(context), nowSecs(clock));

  const tags = ["Storage"];
  const allocations = (operationId: string) =>
    operation({
      operationId,
      summary: "The storage that a user rented",
      tags,
      query: { fid: fid() },
      response: StorageAllocationsResponse,
    });
  const usage = (operationId: string) =>
    operation({
      operationId,
      summary: "How many messages a user has in each store, and how many it may have",
      tags,
      query: { fid: fid() },
      response: StorageUsageResponse,
    });
  return new Elysia({ name: "storage" })
    .get("/user/storage-allocations", showAllocations, allocations("getUserStorageAllocations"))
    .get("/storage/allocations", showAllocations, allocations("getStorageAllocations"))
    .get("/user/storage-usage", showUsage, usage("getUserStorageUsage"))
    .get("/storage/usage", showUsage, usage("getStorageUsage"));
}
