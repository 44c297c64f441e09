import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { CastRow } from "../content/cast-row.tsx";
import { ChannelRow, PeopleRows, PersonRow } from "../content/face.tsx";
import { LoadImages } from "../content/images.tsx";
import { NotReadyYet } from "../content/node-state.tsx";
import { type Cast, type Channel, get, type User } from "../data/call.ts";
import { listOf } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { PageHead, useUrlTabs } from "../parts/page-head.tsx";
import { Region } from "../parts/region.tsx";
import { Facts } from "../parts/table.tsx";
import * as msg from "../text/en/explore.ts";
import { formatCount, formatMoment } from "../text/format.ts";
import { channelPrefix, plainName } from "../text/name.ts";
import { ChannelName, UserName, UserText } from "../text/user-text.tsx";
import { castKey, channelKey, PAGE_SIZE, userKey } from "./lists.ts";

const TYPING_MS = 150;

/** All channels, or those whose name a search finds. */
function ChannelsPage() {
  const { path, query, route } = useLocation();
  const q = query.q ?? "";
  const [text, setText] = useState(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(q), [q]);
  const call =
    q === "" ? get("/channel/all", { limit: PAGE_SIZE }) : get("/channel/search", { q, limit: PAGE_SIZE });
  const search = (value: string) =>
    route(value.trim() === "" ? path : `${path}?q=${encodeURIComponent(value.trim())}`, true);
  return (
    <>
      <PageHead
        crumbs={[{ label: msg.explore, href: "/console" }, { label: msg.channels }]}
        title={msg.channels}
      />
      <div class="split">
        <div class="stack">
          <search>
            <form
              class="field"
              onSubmit={(event) => {
                event.preventDefault();
                clearTimeout(timer.current);
                search(text);
              }}
            >
              <label for="channel-search">{msg.findAChannel}</label>
              <input
                id="channel-search"
                type="search"
                autoComplete="off"
                spellcheck={false}
                maxLength={100}
                value={text}
                onInput={({ currentTarget }) => {
                  setText(currentTarget.value);
                  clearTimeout(timer.current);
                  timer.current = setTimeout(() => search(currentTarget.value), TYPING_MS);
                }}
              />
            </form>
          </search>
          <ListRegion
            title={q === "" ? msg.allChannelsByName : msg.channelsFound}
            call={call}
            read={listOf("channels")}
            keyOf={channelKey}
            row={(channel: Channel) => <ChannelRow channel={channel} />}
            empty={<p>{q === "" ? msg.noChannelsYetAChannelBegins : msg.noChannelsFound}</p>}
          />
        </div>
        <CallPanel call={call} />
      </div>
    </>
  );
}

const TABS = [
  { id: "casts", label: msg.casts },
  { id: "members", label: msg.members },
] as const;

/** The channel of the path, or all of them. */
export function Page() {
  const { id } = useRoute().params;
  return id === undefined ? <ChannelsPage /> : <ChannelPage id={id} key={id} />;
}

function ChannelPage({ id }: { id: string }) {
  const { selected, list, panel } = useUrlTabs("channel", msg.channel, TABS);
  const isCasts = selected.id === "casts";
  const call = get("/channel", { id });
  const channel = useQuery(call);
  const status = channel.error?.status;
  const isMissing = !channel.data && (status === 404 || status === 400);
  const name = channel.data?.channel.name ?? id;
  return (
    <>
      <PageHead
        crumbs={[
          { label: msg.explore, href: "/console" },
          { label: msg.channels, href: "/console/channels" },
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
            {list}
            <div {...panel}>{isCasts ? <ChannelCasts id={id} /> : <Members id={id} />}</div>
          </div>
          <div class="stack">
            <CallPanel call={isCasts ? feedCall(id) : memberCall(id)} key={selected.id} />
            <Region title={msg.about} call={call} query={channel}>
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

const ChannelCasts = ({ id }: { id: string }) => (
  <ListRegion
    title={msg.casts}
    call={feedCall(id)}
    read={listOf("casts")}
    keyOf={castKey}
    row={(cast: Cast) => <CastRow cast={cast} withChannel={false} />}
    empty={<p>{msg.noCastsInThisChannelAll}</p>}
    isLive
  />
);

const Members = ({ id }: { id: string }) => (
  <ListRegion
    title={msg.members}
    call={memberCall(id)}
    read={listOf("users")}
    keyOf={userKey}
    row={(user: User) => <PersonRow user={user} withBio />}
    empty={<p>{msg.noMembersYet}</p>}
  />
);

function About({ channel }: { channel: Channel }) {
  const { description, lead, member_count, follower_count, created_at, url } = channel;
  return (
    <div class="pad stack s">
      {description && (
        <p class="measure">
          <UserText text={description} />
        </p>
      )}
      <Facts
        class="pairs"
        facts={{
          [msg.members]: formatCount(member_count),
          [msg.followers]: follower_count > 0 && formatCount(follower_count),
          [msg.firstCast]: created_at !== null && created_at > 0 && formatMoment(created_at * 1000),
          [msg.parentUrl]: <UserText text={url} runs={[{ kind: "text", text: url }]} />,
        }}
      />
      {lead && (
        <>
          <h3>{msg.lead}</h3>
          <PeopleRows users={[lead]} />
        </>
      )}
    </div>
  );
}

function NoChannel({ id }: { id: string }) {
  return (
    <div class="split">
      <div class="stack measure">
        <p>{msg.thisChannelDoesNotExistHere}</p>
        <NotReadyYet />
        <p>
          {msg.aChannelBeginsWithTheFirst(
            <span class="mono user">{msg.httpsFarcasterXyzChannel(id.slice(0, 64))}</span>,
          )}
        </p>
        <p>
          <a href={`/console/channels?q=${encodeURIComponent(id.slice(0, 64))}`}>{msg.searchTheChannels}</a>
        </p>
      </div>
      <CallPanel call={get("/channel", { id })} />
    </div>
  );
}
