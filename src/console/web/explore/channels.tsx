import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { CastRow } from "../content/cast-row.tsx";
import { ChannelRow, PersonRow } from "../content/face.tsx";
import { LoadImages } from "../content/images.tsx";
import { NotReadyYet } from "../content/node-state.tsx";
import { type Call, type Cast, type Channel, get, type ResponseOf, type User } from "../data/call.ts";
import { listOf } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { PageHead, useUrlTabs } from "../parts/page-head.tsx";
import { Region, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/channels.ts";
import { channelPrefix, plainName } from "../text/name.ts";
import { ChannelName, UserName } from "../text/user-text.tsx";
import { FollowButton, Parked } from "./channel-actions.tsx";
import { About, Moderation, moderationsCall, Pin, Roles, rolesCall } from "./channel-parts.tsx";
import { castKey, channelKey, PAGE_SIZE, userKey } from "./lists.ts";

const TYPING_MS = 150;

/** All channels, or those whose name matches a search. */
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
  { id: "moderation", label: msg.moderation },
] as const;

/** The channel of the path, or the list of all. */
export function Page() {
  const { id } = useRoute().params;
  return id === undefined ? <ChannelsPage /> : <ChannelPage id={id} key={id} />;
}

type TabId = (typeof TABS)[number]["id"];

/** The list of a tab. A channel that is not registered only has casts and their authors. */
function TabPanel({ tab, id, isRegistered }: { tab: TabId; id: string; isRegistered: boolean }) {
  if (tab === "casts") return <ChannelCasts id={id} isRegistered={isRegistered} />;
  if (tab === "members") return isRegistered ? <Roles id={id} /> : <Members id={id} />;
  return isRegistered ? (
    <Moderation id={id} />
  ) : (
    <section class="card pad">
      <p>{msg.onlyRegisteredChannelsAreModerated}</p>
    </section>
  );
}

function callOf(tab: TabId, id: string, isRegistered: boolean) {
  if (tab === "casts") return feedCall(id, isRegistered);
  if (!isRegistered) return memberCall(id);
  return tab === "members" ? rolesCall(id) : moderationsCall(id);
}

function ChannelPage({ id }: { id: string }) {
  const { selected, list, panel } = useUrlTabs("channel", msg.channel, TABS);
  const call = get("/channel", { id });
  const channel = useQuery(call);
  const status = channel.error?.status;
  const isMissing = !channel.data && (status === 404 || status === 400);
  const shown = channel.data?.channel;
  const name = shown?.name ?? id;
  const isRegistered = shown?.source === "protocol";
  const isKnown = shown !== undefined || channel.error !== undefined;
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
        {shown && isRegistered && <FollowButton channel={shown} />}
      </PageHead>
      {isMissing ? (
        <NoChannel id={id} />
      ) : (
        <div class="split">
          <div class="stack">
            {shown && <Parked channel={shown} />}
            {list}
            <div class="stack" {...panel}>
              {isKnown ? (
                <TabPanel tab={selected.id} id={id} isRegistered={isRegistered} />
              ) : (
                <Skeleton rows={8} />
              )}
            </div>
          </div>
          <div class="stack">
            <CallPanel call={callOf(selected.id, id, isRegistered)} key={`${selected.id} ${isRegistered}`} />
            <Region title={msg.about} call={call} query={channel}>
              {(body) => <About channel={body.channel} />}
            </Region>
            {isRegistered && <Pin id={id} />}
          </div>
        </div>
      )}
    </>
  );
}

const feedCall = (id: string, isRegistered: boolean): Call<CastsOfChannel> =>
  isRegistered
    ? get("/channel/feed", { id, limit: PAGE_SIZE })
    : get("/feed/channels", { channel_ids: id, limit: PAGE_SIZE });
type CastsOfChannel = ResponseOf<"GET /channel/feed">;
const memberCall = (id: string) => get("/channel/members", { channel_id: id, limit: PAGE_SIZE });

const ChannelCasts = ({ id, isRegistered }: { id: string; isRegistered: boolean }) => (
  <ListRegion
    title={msg.casts}
    call={feedCall(id, isRegistered)}
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
