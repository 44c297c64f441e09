import type { ComponentChildren } from "preact";
import { useRoute } from "preact-iso";
import { Face, PeopleRows } from "../content/face.tsx";
import { LoadImages } from "../content/images.tsx";
import { NotReadyYet } from "../content/node-state.tsx";
import { type Call, get, type User } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { Crumbs, Heading, PageHead, useUrlTabs } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { Region, Skeleton } from "../parts/region.tsx";
import { Facts } from "../parts/table.tsx";
import * as msg from "../text/en/explore.ts";
import { formatCount, formatMoment, shortHex } from "../text/format.ts";
import { readLink } from "../text/link.ts";
import { displayNameOf, handleOf, plainName } from "../text/name.ts";
import { pageOfPerson } from "../text/page-paths.ts";
import { ForeignLink, LinkText, UserName, UserText } from "../text/user-text.tsx";
import { nearestNames, nearPrefix } from "./lists.ts";
import { type PersonTab, personTabs } from "./person-tabs.tsx";

function Website({ url }: { url: string }) {
  const link = readLink(url) ?? readLink(`https://${url}`);
  if (!link) return null;
  return (
    <ForeignLink link={link} class="line">
      <LinkText link={link} />
    </ForeignLink>
  );
}

function Addresses({ user }: { user: User }) {
  const { eth_addresses, sol_addresses } = user.verified_addresses;
  const all = [...eth_addresses, ...sol_addresses];
  return (
    <details class="s">
      <summary>
        {msg.custody(
          <span class="mono">{shortHex(user.custody_address ?? msg.unknown)}</span>,
          all.length > 0 && msg.verified(formatCount(all.length)),
        )}
      </summary>
      <Facts
        class="pairs"
        facts={{
          [msg.custodyAddress]: <Address text={user.custody_address ?? msg.unknown} />,
          [msg.verifiedAddressesShort]:
            all.length > 0 && all.map((address) => <Address text={address} key={address} />),
          [msg.registered]: user.registered_at !== null && formatMoment(user.registered_at * 1000),
        }}
      />
    </details>
  );
}

const Address = ({ text }: { text: string }) => (
  <span class="row tight">
    <span class="mono user grow">{text}</span>
    <CopyButton text={text} />
  </span>
);

/** Describes a person: face, names, bio, counts, and the tabs of the page. */
function Profile({ user, children }: { user: User; children: ComponentChildren }) {
  const name = displayNameOf(user);
  const { bio, location, url } = user.profile;
  const page = pageOfPerson(user);
  return (
    <section class="card profile">
      <div class="pad stack">
        <div class="row id">
          <Face user={user} size={4.5} />
          <div class="grow stack">
            <Heading text={`${plainName(name)} (${handleOf(user)})`}>
              <UserName name={name} />
            </Heading>
            <p class="dim">{msg.userAndFid(handleOf(user), user.fid)}</p>
          </div>
          <LoadImages />
        </div>
        {bio.text !== "" && (
          <p class="measure bio">
            <UserText text={bio.text} />
          </p>
        )}
        <div class="row wrap s">
          <a href={`${page}?tab=following`}>
            {msg.countFollowing(<b>{formatCount(user.following_count)}</b>)}
          </a>
          <a href={`${page}?tab=followers`}>
            {msg.countFollowers(<b>{formatCount(user.follower_count)}</b>)}
          </a>
          {user.pro?.status === "subscribed" && <Pill kind="ok">{msg.pro}</Pill>}
          {url && <Website url={url} />}
          {location && (
            <span class="dim">
              {location.latitude.toFixed(2)}, {location.longitude.toFixed(2)}
            </span>
          )}
        </div>
        <Addresses user={user} />
      </div>
      {children}
    </section>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  casts: msg.casts,
  reactions: msg.reactions,
  links: msg.follows,
  verifications: msg.verifiedAddresses,
  user_data: msg.profile,
  username_proofs: msg.names,
  storage_lends: msg.lentStorage,
};

function Meter({ name, used, capacity }: { name: string; used: number; capacity: number }) {
  return (
    <div class="meter">
      <div class="row">
        <span class="grow">{name}</span>
        <span class="dim">{msg.of(formatCount(used), formatCount(capacity))}</span>
      </div>
      <meter min={0} max={Math.max(1, capacity)} value={used} aria-label={name}>
        {used}
      </meter>
    </div>
  );
}

/** Shows how much of a person's rented storage is in use. */
function StorageCard({ fid }: { fid: number }) {
  const call = get("/user/storage-usage", { fid });
  const usage = useQuery(call);
  const allocations = useQuery(get("/user/storage-allocations", { fid }));
  const units = allocations.data?.total_active_units;
  return (
    <Region
      title={msg.storage}
      call={call}
      query={usage}
      skeleton={<Skeleton rows={7} height={2.25} />}
      aside={units === undefined ? undefined : <span class="dim s">{msg.countUnits(units)}</span>}
    >
      {(body) => (
        <div class="pad stack s">
          {body.units.map(({ store_type, used, capacity }) => (
            <Meter name={NAMES[store_type] ?? store_type} used={used} capacity={capacity} key={store_type} />
          ))}
        </div>
      )}
    </Region>
  );
}

const MUTUALS = 5;

export function Page() {
  const { params } = useRoute();
  const who = (params.who ?? "").replace(/^[@!]/, "");
  // The key makes another person a new page, so that its heading gets the focus.
  return <PersonPage who={who} key={who} />;
}

const isFid = (who: string) => /^\d+$/.test(who);

function PersonPage({ who }: { who: string }) {
  const call = isFid(who) ? get("/user", { fid: who }) : get("/user/by-username", { username: who });
  const query = useQuery(call);
  const user = query.data?.user;
  if (!user && query.error && (query.error.status === 404 || query.error.status === 400)) {
    return <NoPerson who={who} call={call} />;
  }
  const title = user ? handleOf(user) : isFid(who) ? msg.fid(who) : `@${plainName(who)}`;
  if (!user)
    return (
      <>
        <PageHead crumbs={[{ label: msg.explore, href: "/console" }, { label: title }]} title={title} />
        <Region title={msg.profile} call={call} query={query}>
          {() => null}
        </Region>
      </>
    );
  return <KnownPerson user={user} />;
}

function KnownPerson({ user }: { user: User }) {
  const { selected, pathOf, list, panel } = useUrlTabs("person", msg.profile, personTabs);
  const { fid } = user;
  const mutualCall = get("/user/best_friends", { fid, limit: MUTUALS });
  const mutuals = useQuery(mutualCall);
  return (
    <>
      <Crumbs crumbs={[{ label: msg.explore, href: "/console" }, { label: handleOf(user) }]} />
      <div class="split">
        <div class="stack">
          <Profile user={user}>{list}</Profile>
          <div {...panel}>
            <TabList tab={selected} fid={fid} key={selected.id} />
          </div>
        </div>
        <div class="stack">
          <CallPanel call={selected.call(fid)} key={selected.id} />
          <StorageCard fid={fid} />
          <Region
            title={msg.mutualFollows}
            call={mutualCall}
            query={mutuals}
            aside={<a href={pathOf("mutuals")}>{msg.all}</a>}
            isEmpty={(body) => body.users.length === 0}
            empty={<p>{msg.noMutualFollowsYet}</p>}
          >
            {(body) => <PeopleRows users={body.users} />}
          </Region>
        </div>
      </div>
    </>
  );
}

function TabList({ tab, fid }: { tab: PersonTab; fid: number }) {
  const { label, call, read, keyOf, row, empty, isLive = false } = tab;
  return (
    <ListRegion
      title={label}
      call={call(fid)}
      read={read}
      keyOf={keyOf}
      row={row}
      empty={<p>{empty}</p>}
      isLive={isLive}
    />
  );
}

const NEAREST = 3;
const MAX_QUERY_CHARS = 32;

/** Shown for a person that the node does not have, with the nearest names. */
function NoPerson({ who, call }: { who: string; call: Call }) {
  const isFid = /^\d+$/.test(who);
  const name = who.toLowerCase().slice(0, MAX_QUERY_CHARS);
  const search = useQuery(
    isFid || name === "" ? undefined : get("/user/search", { q: nearPrefix(name), limit: 25 }),
  );
  const nearest = nearestNames(name, search.data?.users ?? [], NEAREST);
  const shown = isFid ? msg.fid(who) : `@${plainName(who)}`;
  return (
    <>
      <PageHead
        crumbs={[{ label: msg.explore, href: "/console" }, { label: shown }]}
        title={isFid ? msg.notFound(shown) : msg.noPersonNamedHere(shown)}
      />
      <div class="split">
        <div class="stack">
          <p class="measure">
            {isFid ? msg.theFidIsNotRegisteredOr : msg.theNameWasNeverRegisteredWas}{" "}
            <a href={`/console/search?q=${encodeURIComponent(who)}`}>{msg.searchForIt}</a>.
          </p>
          <NotReadyYet />
          {nearest.length > 0 && (
            <section class="card">
              <header>
                <h2 class="grow">{msg.didYouMean}</h2>
              </header>
              <PeopleRows users={nearest} withBio />
            </section>
          )}
        </div>
        <CallPanel call={call} />
      </div>
    </>
  );
}
