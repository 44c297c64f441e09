import { useMemo } from "preact/hooks";
import { get } from "./call.ts";
import type { User } from "./objects.ts";
import { useQuery } from "./query.ts";

/** The users of some fids, by fid; those that the node does not have are left out. */
export function usePeople(fids: readonly number[]): ReadonlyMap<number, User> {
  const wanted = [...new Set(fids)].sort((a, b) => a - b);
  const call = wanted.length === 0 ? undefined : get("/user/bulk", { fids: wanted });
  const users = useQuery<{ users: readonly User[] }>(call).data?.users;
  return useMemo(() => new Map(users?.map((user) => [user.fid, user])), [users]);
}
