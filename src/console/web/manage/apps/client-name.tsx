import { get } from "../../data/call.ts";
import type { User } from "../../data/objects.ts";
import { useQuery } from "../../data/query.ts";
import { displayNameOf } from "../../text/name.ts";
import { UserName } from "../../text/user-name.tsx";

const MAX_FIDS = 100;

/** The people that client apps are, by their fid. */
export function useClients(clientFids: readonly number[]): ReadonlyMap<number, User> {
  const fids = [...new Set(clientFids)].filter((fid) => fid > 0).slice(0, MAX_FIDS);
  const query = useQuery<{ users: readonly User[] }>(
    fids.length > 0 ? get("/user/bulk", { fids }) : undefined,
  );
  return new Map(query.data?.users.map((user) => [user.fid, user]));
}

/** A client app by its name and fid. */
export function ClientName({ fid, users }: { fid: number; users: ReadonlyMap<number, User> }) {
  const user = users.get(fid);
  if (fid === 0) return <>Unnamed client</>;
  return (
    <>
      {user ? <UserName name={displayNameOf(user)} /> : "Client"} <span class="dim mono">{fid}</span>
    </>
  );
}
