import { get } from "../data/call.ts";
import type { Cast } from "../data/objects.ts";
import { usePages } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CastRow } from "../parts/cast-row.tsx";
import { Json } from "../parts/json.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { PersonRow } from "../parts/person.tsx";
import { Region } from "../parts/region.tsx";
import { castKey, castsOf, PAGE_SIZE, reactionsOf } from "./lists.ts";

export function Quotes({ hash }: { hash: string }) {
  const call = get("/cast/quotes", { identifier: hash, limit: PAGE_SIZE });
  const pages = usePages(call, castsOf);
  return (
    <ListRegion
      title="Quotes"
      call={call}
      read={castsOf}
      pages={pages}
      keyOf={castKey}
      row={(cast) => <CastRow cast={cast} />}
      empty={<p>Nobody has quoted it.</p>}
      isLive
    />
  );
}

export function LikedBy({ hash }: { hash: string }) {
  const call = get("/reaction/cast", { hash, types: "likes", limit: PAGE_SIZE });
  const pages = usePages(call, reactionsOf);
  return (
    <ListRegion
      title="Who liked"
      call={call}
      read={reactionsOf}
      pages={pages}
      keyOf={({ user }) => user.fid}
      row={({ user }) => <PersonRow user={user} withBio />}
      empty={<p>Nobody has liked it.</p>}
      isLive
    />
  );
}

export function RawCast({ hash }: { hash: string }) {
  const call = get("/cast", { identifier: hash });
  const cast = useQuery<{ cast: Cast }>(call);
  return (
    <Region title="Raw JSON" call={call} query={cast}>
      {(body) => <Json value={body} />}
    </Region>
  );
}
