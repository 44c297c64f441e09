import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { cursor, limit } from "../../http/request/params.ts";
import { LIMITED_STORES } from "../../protocol/storage.ts";
import { nativePresenters } from "../../read/present/native/presenters.ts";
import type { Dialect, ResponseName, Undocumented } from "../deps.ts";
import { type Assignable, Count, Fid, Next, object, UnixSecs } from "./fields.ts";
import { Cast, Channel, Member, User } from "./native-objects.ts";

const StorageAllocation = object(
  {
    object: Type.Literal("storage_allocation"),
    fid: Fid,
    units: Count,
    expiry: UnixSecs("When the units end"),
    timestamp: UnixSecs("When they were rented"),
  },
  { $id: "StorageAllocation" },
);

type StoreName = (typeof LIMITED_STORES)[number][1];

const StorageAllocationsResponse = object({
  total_active_units: Type.Integer({
    minimum: 0,
    description: "Unexpired units, excluding those lent to others and including those borrowed",
  }),
  allocations: Type.Array(StorageAllocation, { description: "In chain order, including expired ones" }),
});

const StorageUsageResponse = object(
  {
    object: Type.Literal("storage_usage"),
    units: Type.Array(
      object({
        store_type: Type.Unsafe<StoreName>({
          type: "string",
          enum: LIMITED_STORES.map(([, name]) => name),
        }),
        used: Type.Integer({ minimum: 0, description: "Live messages, including removes" }),
        capacity: Count,
      }),
    ),
  },
  { $id: "StorageUsage" },
);

export const one = <T extends Readonly<Record<string, TSchema>>>(fields: T) => object(fields);

const UserResponse = one({ user: User });
const UserPageResponse = one({ users: Type.Array(User), next: Next });

export const schemas = {
  user: UserResponse,
  users: one({ users: Type.Array(User) }),
  userPage: UserPageResponse,
  userSearch: UserPageResponse,
  verifications: UserResponse,
  followerPage: UserPageResponse,
  mutualFollowPage: UserPageResponse,
  cast: one({ cast: Cast }),
  casts: one({ casts: Type.Array(Cast) }),
  castPage: one({ casts: Type.Array(Cast), next: Next }),
  channel: one({ channel: Channel }),
  channelPage: one({ channels: Type.Array(Channel), next: Next }),
  membershipPage: one({ members: Type.Array(Member), channels: Type.Array(Channel), next: Next }),
  storageAllocations: StorageAllocationsResponse,
  storageUsage: StorageUsageResponse,
  conversationSummary: one({ summary: Type.String() }),
};

/** The native dialect, under the service's own prefix. */
export const nativeDialect: Dialect = {
  present: nativePresenters,
  schemas,
  adapt: (query) => query,
  withAuthorRelations: false,
  withoutHiddenQuotes: false,
};

/** The parameters of a page. */
export const page = () => ({ limit: limit(), cursor: cursor() });

/** Compile-time check that each presenter and its documented response have the same type. */
export type ResponseTypeCheck = Assignable<
  Undocumented<
    Pick<typeof nativePresenters, ResponseName>,
    { [Name in ResponseName]: Static<(typeof schemas)[Name]> }
  >,
  never
>;
