import { useLocation, useRoute } from "preact-iso";
import { get } from "../data/call.ts";
import { formatCount, formatMoment } from "../data/format.ts";
import type { Channel, User } from "../data/objects.ts";
import { usePages } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { CastRow } from "../parts/cast-row.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { LoadImages } from "../parts/load-images.tsx";
import { NotReadyYet } from "../parts/node-state.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { PersonRow } from "../parts/person.tsx";
import { Region } from "../parts/region.tsx";
import { Tabs, tabPanelProps } from "../parts/tabs.tsx";
import { channelPrefix, plainName } from "../text/name.ts";
import { ChannelName, UserName } from "../text/user-name.tsx";
import { UserText } from "../text/user-text.tsx";
import { castKey, castsOf, PAGE_SIZE, userKey, usersOf } from "./lists.ts";

const TABS = [
  { id: "casts", label: "Casts" },
  { id: "members", label: "Members" },
] as const;

/** What the API says of a channel that is not there is all that a page of it needs. */
interface FullChannel extends Channel {
  readonly lead: User | null;
}

export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  return <ChannelPage id={id} key={id} />;
}

function ChannelPage({ id }: { id: string }) {
  const { path, query, route } = useLocation();
  const call = get("/channel", { id });
  const channel = useQuery<{ channel: FullChannel }>(call);
  const status = channel.error?.status;
  const isMissing = !channel.data && (status === 404 || status === 400);
  const selected = TABS.find((tab) => tab.id === query.tab)?.id ?? "casts";
  const name = channel.data?.channel.name ?? id;
  return (
    <>
      <PageHead
        crumbs={[
          { label: "Explore", href: "/console" },
          { label: "Channels", href: "/console/channels" },
          { label: <UserName name={name} /> },
        ]}
        title={`${channelPrefix(name)}${plainName(name)}`}
        heading={<ChannelName name={name} />}
      >
        {!isMissing && <LoadImages />}
      </PageHead>
      {isMissing ? (
        <NoChannel id={id} />
      ) : (
        <div class="split">
          <div class="stack">
            <Tabs
              label="Channel"
              name="channel"
              tabs={TABS}
              selected={selected}
              onSelect={(tab) => route(tab === "casts" ? path : `${path}?tab=${tab}`)}
            />
            <div {...tabPanelProps("channel", selected)}>
              {selected === "casts" ? <ChannelCasts id={id} /> : <Members id={id} />}
            </div>
          </div>
          <div class="stack">
            <CallPanel call={selected === "casts" ? feedCall(id) : memberCall(id)} key={selected} />
            <Region title="About" call={call} query={channel}>
              {(body) => <About channel={body.channel} />}
            </Region>
          </div>
        </div>
      )}
    </>
  );
}

const feedCall = (id: string) => get("/feed/channels", { channel_ids: id, limit: PAGE_SIZE });
const memberCall = (id: string) => get("/channel/members", { channel_id: id, limit: PAGE_SIZE });

function ChannelCasts({ id }: { id: string }) {
  const call = feedCall(id);
  const pages = usePages(call, castsOf);
  return (
    <ListRegion
      title="Casts"
      call={call}
      read={castsOf}
      pages={pages}
      keyOf={castKey}
      row={(cast) => <CastRow cast={cast} withChannel={false} />}
      empty={<p>Every cast in this channel is gone.</p>}
      isLive
    />
  );
}

function Members({ id }: { id: string }) {
  const call = memberCall(id);
  const pages = usePages(call, usersOf);
  return (
    <ListRegion
      title="Members"
      call={call}
      read={usersOf}
      pages={pages}
      keyOf={userKey}
      row={(user) => <PersonRow user={user} withBio />}
      empty={<p>Nobody is a member.</p>}
    />
  );
}

function About({ channel }: { channel: FullChannel }) {
  const { description, lead, member_count, follower_count, created_at, url } = channel;
  return (
    <div class="pad stack s">
      {description && (
        <p class="measure">
          <UserText text={description} />
        </p>
      )}
      <dl class="pairs">
        <dt>Members</dt>
        <dd>{formatCount(member_count)}</dd>
        {follower_count > 0 && (
          <>
            <dt>Followers</dt>
            <dd>{formatCount(follower_count)}</dd>
          </>
        )}
        {created_at > 0 && (
          <>
            <dt>First cast</dt>
            <dd>{formatMoment(created_at * 1000)}</dd>
          </>
        )}
        <dt>Parent URL</dt>
        <dd>
          <UserText text={url} runs={[{ kind: "text", text: url }]} />
        </dd>
      </dl>
      {lead && (
        <>
          <h3>Lead</h3>
          <ul class="rows">
            <li>
              <PersonRow user={lead} />
            </li>
          </ul>
        </>
      )}
    </div>
  );
}

function NoChannel({ id }: { id: string }) {
  return (
    <div class="split">
      <div class="stack measure">
        <p>There is no such channel here yet.</p>
        <NotReadyYet />
        <p>
          A channel begins with the first cast whose parent URL is that of the channel, such as{" "}
          <span class="mono user">https://farcaster.xyz/~/channel/{id.slice(0, 64)}</span>. Nobody has to
          register it.
        </p>
        <p>
          <a href={`/console/channels?q=${encodeURIComponent(id.slice(0, 64))}`}>Search the channels</a>
        </p>
      </div>
      <CallPanel call={get("/channel", { id })} />
    </div>
  );
}
