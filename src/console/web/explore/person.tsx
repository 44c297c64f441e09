import { useLocation, useRoute } from "preact-iso";
import { get } from "../data/call.ts";
import type { User } from "../data/objects.ts";
import { usePages } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { Crumbs, PageHead } from "../parts/page-head.tsx";
import { PersonRow } from "../parts/person.tsx";
import { Region } from "../parts/region.tsx";
import { Tabs, tabPanelProps } from "../parts/tabs.tsx";
import { handleOf, plainName } from "../text/name.ts";
import { NoPerson } from "./no-person.tsx";
import { type PersonTab, personTabs } from "./person-tabs.tsx";
import { Profile } from "./profile.tsx";
import { StorageCard } from "./storage-card.tsx";

const MUTUALS = 5;

export function Page() {
  const { params } = useRoute();
  const who = (params.who ?? "").replace(/^[@!]/, "");
  // Another person is another page: its heading gets the focus.
  return <PersonPage who={who} key={who} />;
}

const isFid = (who: string) => /^\d+$/.test(who);

function PersonPage({ who }: { who: string }) {
  const call = isFid(who) ? get("/user", { fid: who }) : get("/user/by-username", { username: who });
  const query = useQuery<{ user: User }>(call);
  const user = query.data?.user;
  if (!user && query.error && (query.error.status === 404 || query.error.status === 400)) {
    return <NoPerson who={who} call={call} />;
  }
  const title = user ? handleOf(user) : isFid(who) ? `fid ${who}` : `@${plainName(who)}`;
  if (!user)
    return (
      <>
        <PageHead crumbs={[{ label: "Explore", href: "/console" }, { label: title }]} title={title} />
        <Region title="Profile" call={call} query={query}>
          {() => null}
        </Region>
      </>
    );
  return <KnownPerson user={user} />;
}

function KnownPerson({ user }: { user: User }) {
  const { path, query, route } = useLocation();
  const { fid } = user;
  const selected = personTabs.find(({ id }) => id === query.tab) ?? (personTabs[0] as PersonTab);
  const mutualCall = get("/user/best_friends", { fid, limit: MUTUALS });
  const mutuals = useQuery<{ users: readonly User[] }>(mutualCall);
  const tabPath = (id: string) => (id === personTabs[0]?.id ? path : `${path}?tab=${id}`);
  return (
    <>
      <Crumbs crumbs={[{ label: "Explore", href: "/console" }, { label: handleOf(user) }]} />
      <div class="split">
        <div class="stack">
          <Profile user={user}>
            <Tabs
              label="Profile"
              name="person"
              tabs={personTabs}
              selected={selected.id}
              onSelect={(id) => route(tabPath(id))}
            />
          </Profile>
          <div {...tabPanelProps("person", selected.id)}>
            <TabList tab={selected} fid={fid} key={selected.id} />
          </div>
        </div>
        <div class="stack">
          <CallPanel call={selected.call(fid)} key={selected.id} />
          <StorageCard fid={fid} />
          <Region
            title="Mutual follows"
            call={mutualCall}
            query={mutuals}
            aside={<a href={tabPath("mutuals")}>All</a>}
            isEmpty={(body) => body.users.length === 0}
            empty={<p>Nobody whom this person follows follows back.</p>}
          >
            {(body) => (
              <ul class="rows">
                {body.users.map((friend) => (
                  <li key={friend.fid}>
                    <PersonRow user={friend} />
                  </li>
                ))}
              </ul>
            )}
          </Region>
        </div>
      </div>
    </>
  );
}

function TabList({ tab, fid }: { tab: PersonTab; fid: number }) {
  const call = tab.call(fid);
  const pages = usePages(call, tab.read);
  return (
    <ListRegion
      title={tab.label}
      call={call}
      read={tab.read}
      pages={pages}
      keyOf={tab.keyOf}
      row={tab.row}
      empty={<p>{tab.empty}</p>}
      isLive={tab.isLive ?? false}
    />
  );
}
