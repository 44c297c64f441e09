import { type Static, Type } from "@sinclair/typebox";
import { LIMITED_STORES } from "../../../protocol/storage.ts";
import type {
  StorageAllocations as PresentedAllocations,
  StorageUsage as PresentedUsage,
} from "../../../read/present/native/storage.ts";
import { type Assignable, Count, closed, Fid, UnixSecs } from "../../shared/schemas.ts";

const StorageAllocation = Type.Object(
  {
    object: Type.Literal("storage_allocation"),
    fid: Fid,
    units: Count,
    expiry: UnixSecs("When the units end"),
    timestamp: UnixSecs("When they were rented"),
  },
  { ...closed, $id: "StorageAllocation" },
);

type StoreName = (typeof LIMITED_STORES)[number][1];

export const StorageAllocationsResponse = Type.Object(
  {
    total_active_units: Type.Integer({
      minimum: 0,
      description: "Unexpired units, excluding those lent to others and including those borrowed",
    }),
    allocations: Type.Array(StorageAllocation, { description: "In chain order, including expired ones" }),
  },
  closed,
);

export const StorageUsageResponse = Type.Object(
  {
    object: Type.Literal("storage_usage"),
    units: Type.Array(
      Type.Object(
        {
          store_type: Type.Unsafe<StoreName>({
            type: "string",
            enum: LIMITED_STORES.map(([, name]) => name),
          }),
          used: Type.Integer({ minimum: 0, description: "Live messages, including removes" }),
          capacity: Count,
        },
        closed,
      ),
    ),
  },
  { ...closed, $id: "StorageUsage" },
);

export type ObjectTypeCheck = Assignable<PresentedAllocations, Static<typeof StorageAllocationsResponse>> &
  Assignable<PresentedUsage, Static<typeof StorageUsageResponse>>;
