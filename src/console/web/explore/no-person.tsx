import type { Call } from "../data/call.ts";
import { get } from "../data/call.ts";
import type { User } from "../data/objects.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { NotReadyYet } from "../parts/node-state.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { PersonRow } from "../parts/person.tsx";
import { plainName } from "../text/name.ts";
import { nearestNames, nearPrefix } from "./nearest-names.ts";

const NEAREST = 3;
const MAX_QUERY_CHARS = 32;

/** A person that the node does not have, with the names that are nearest. */
export function NoPerson({ who, call }: { who: string; call: Call }) {
  const isFid = /^\d+$/.test(who);
  const name = who.toLowerCase().slice(0, MAX_QUERY_CHARS);
  const search = useQuery<{ users: readonly User[] }>(
    isFid || name === "" ? undefined : get("/user/search", { q: nearPrefix(name), limit: 25 }),
  );
  const nearest = nearestNames(name, search.data?.users ?? [], NEAREST);
  const shown = isFid ? `fid ${who}` : `@${plainName(who)}`;
  return (
    <>
      <PageHead
        crumbs={[{ label: "Explore", href: "/console" }, { label: shown }]}
        title={isFid ? `There is no ${shown} here` : `Nobody here is ${shown}`}
      />
      <div class="split">
        <div class="stack">
          <p class="measure">
            {isFid
              ? "The fid is not registered, or this node does not follow it."
              : "The name was never taken, was given up, or belongs to somebody whom this node does not follow."}{" "}
            <a href={`/console/search?q=${encodeURIComponent(who)}`}>Search for it</a>.
          </p>
          <NotReadyYet />
          {nearest.length > 0 && (
            <section class="card">
              <header>
                <h2 class="grow">Did you mean</h2>
              </header>
              <ul class="rows">
                {nearest.map((user) => (
                  <li key={user.fid}>
                    <PersonRow user={user} withBio />
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
        <CallPanel call={call} />
      </div>
    </>
  );
}
