import type { ComponentChildren } from "preact";
import { CastRow } from "../content/cast-row.tsx";
import { ChannelRow, PersonRow } from "../content/face.tsx";
import { type Call, get, type Schemas } from "../data/call.ts";
import { listOf, type Page } from "../data/pages.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import * as msg from "../text/en/explore.ts";
import { shortHex } from "../text/format.ts";
import { PersonName } from "../text/user-text.tsx";
import { castKey, channelKey, PAGE_SIZE, userKey } from "./lists.ts";

type Reaction = Schemas["Reaction"];
type SignerEvent = Schemas["SignerEvent"];
type IdRegistryEvent = Schemas["IdRegistryEvent"];

const eventKey = (event: SignerEvent | IdRegistryEvent) =>
  `${event.block_number} ${event.event_type} ${"signer_key" in event ? event.signer_key : (event.to ?? event.recovery_address)}`;

const SIGNER_EVENTS: Readonly<Record<string, readonly ["ok" | "bad" | "warn", string]>> = {
  add: ["ok", msg.added],
  remove: ["bad", msg.removed],
  admin_reset: ["warn", msg.resetByTheAdministrator],
};

/** An event of a key: whether it was added or removed, when, and in which block. */
function SignerRow({ event }: { event: SignerEvent }) {
  const [kind, word] = SIGNER_EVENTS[event.event_type] ?? ["warn", event.event_type];
  return (
    <div class="row person wrap" data-row tabIndex={-1}>
      <Pill kind={kind}>{word}</Pill>
      <span class="mono grow" title={event.signer_key}>
        {shortHex(event.signer_key)}
      </span>
      <span class="dim s">{msg.block(event.block_number)}</span>
      <Time at={event.block_timestamp} />
      <CopyButton text={event.signer_key} />
    </div>
  );
}

function sentenceOf({ event_type, from, to, recovery_address }: IdRegistryEvent): string {
  const recovery = recovery_address === null ? "" : msg.recoveryBy(shortHex(recovery_address));
  if (event_type === "Register") return msg.registeredTo(shortHex(to ?? ""), recovery);
  if (event_type === "Transfer") return msg.movedFromTo(shortHex(from ?? ""), shortHex(to ?? ""));
  return msg.recoveryAddressIsNow(shortHex(recovery_address ?? ""));
}

/** An event of the fid registry, as a sentence. */
function IdRegistryRow({ event }: { event: IdRegistryEvent }) {
  return (
    <div class="row person wrap" data-row tabIndex={-1}>
      <span class="grow" title={[event.from, event.to, event.recovery_address].filter(Boolean).join(" ")}>
        {sentenceOf(event)}
      </span>
      <span class="dim s">{msg.block(event.block_number)}</span>
      <Time at={event.block_timestamp} />
    </div>
  );
}

type Notification = Schemas["Notification"];
type Act = Notification["follows"][number];

const notificationKey = ({ type, most_recent_timestamp, cast, follows }: Notification) =>
  `${type} ${most_recent_timestamp} ${cast?.hash ?? follows[0]?.user.fid ?? ""}`;

const SHOWN_NAMES = 2;

function Who({ acts, count }: { acts: readonly Act[]; count: number }) {
  const people = [...new Map(acts.map(({ user }) => [user.fid, user])).values()].slice(0, SHOWN_NAMES);
  const others = count - people.length;
  return (
    <>
      {people.map((user, at) => (
        <span key={user.fid}>
          {at > 0 && (others > 0 ? ", " : " and ")}
          <PersonName user={user} />
        </span>
      ))}
      {others > 0 && msg.andMore(others)}
    </>
  );
}

function Sentence({ entry }: { entry: Notification }) {
  const { type, reactions, follows, count, cast } = entry;
  if (type === "follow") return <>{msg.followed(<Who acts={follows} count={count} />)}</>;
  if (type === "reaction") {
    const verbs = new Set(reactions.map(({ reaction_type }) => reaction_type));
    const verb = verbs.size > 1 ? msg.likedOrRecast : verbs.has("recast") ? msg.recast : msg.liked;
    return <>{msg.thisCast(<Who acts={reactions} count={count} />, verb)}</>;
  }
  if (!cast) return null;
  return (
    <>
      <PersonName user={cast.author} /> {type === "cast-reply" ? msg.replied : msg.mentionedThisPerson}
    </>
  );
}

/** An in-app notification: a sentence, and the cast concerned. */
function NotificationRow({ entry }: { entry: Notification }) {
  return (
    <div class="notification">
      <p class="row s wrap sentence">
        <span class="grow">
          <Sentence entry={entry} />
        </span>
        <Time at={entry.most_recent_timestamp} />
      </p>
      {entry.cast && <CastRow cast={entry.cast} />}
    </div>
  );
}

/** A list of a person: its call, how to read its responses, and how to render a row. */
interface Tab<Body, T extends object> {
  readonly id: string;
  readonly label: string;
  readonly call: (fid: number) => Call<Body>;
  readonly read: (body: Body) => Page<T>;
  readonly keyOf: (item: T) => string | number;
  readonly row: (item: T) => ComponentChildren;
  readonly empty: string;
  readonly isLive?: boolean;
}

/** Its types are checked where it is declared. */
// biome-ignore lint/suspicious/noExplicitAny: tabs of different responses are in one list
export type PersonTab = Tab<any, any>;

const limit = PAGE_SIZE;
const tab = <Body, T extends object>(one: Tab<Body, T>): PersonTab => one;

const castTab = (
  id: string,
  label: string,
  path: "/feed/user/casts" | "/feed/user/replies_and_recasts",
  empty: string,
) =>
  tab({
    id,
    label,
    call: (fid) => get(path, { fid, limit }),
    read: listOf("casts"),
    keyOf: castKey,
    row: (cast) => <CastRow cast={cast} />,
    empty,
    isLive: true,
  });

const peopleTab = (
  id: string,
  label: string,
  path: "/user/followers" | "/user/following" | "/user/best_friends",
  empty: string,
) =>
  tab({
    id,
    label,
    call: (fid) => get(path, { fid, limit }),
    read: listOf("users"),
    keyOf: userKey,
    row: (user) => <PersonRow user={user} withBio />,
    empty,
  });

/** The tabs of a person's page; the first one is initially open. */
export const personTabs: readonly PersonTab[] = [
  castTab("casts", msg.casts, "/feed/user/casts", msg.noCastsYet),
  castTab("replies", msg.replies, "/feed/user/replies_and_recasts", msg.noRepliesYet),
  tab({
    id: "popular",
    label: msg.popular,
    call: (fid) => get("/feed/user/popular", { fid }),
    read: listOf("casts"),
    keyOf: castKey,
    row: (cast) => <CastRow cast={cast} />,
    empty: msg.noCastsYet,
  }),
  tab({
    id: "likes",
    label: msg.likes,
    call: (fid) => get("/reaction/user", { fid, type: "likes", limit }),
    read: listOf("reactions"),
    keyOf: ({ cast }: Reaction) => cast.hash,
    row: ({ cast }: Reaction) => <CastRow cast={cast} />,
    empty: msg.noLikesYetOrTheLiked,
  }),
  peopleTab("followers", msg.followers, "/user/followers", msg.noFollowersYet),
  peopleTab("following", msg.following, "/user/following", msg.notFollowingAnyoneYet),
  peopleTab("mutuals", msg.mutuals, "/user/best_friends", msg.noMutualFollowsYet),
  tab({
    id: "channels",
    label: msg.channels,
    call: (fid) => get("/channel/user-active", { fid, limit }),
    read: listOf("channels"),
    keyOf: channelKey,
    row: (channel) => <ChannelRow channel={channel} />,
    empty: msg.noCastsInAChannelYet,
  }),
  tab({
    id: "notifications",
    label: msg.notifications,
    call: (fid) => get("/notifications", { fid, limit }),
    read: listOf("notifications"),
    keyOf: notificationKey,
    row: (entry) => <NotificationRow entry={entry} />,
    empty: msg.noMentionsRepliesReactionsOrNew,
    isLive: true,
  }),
  tab({
    id: "keys",
    label: msg.keys,
    call: (fid) => get("/signer", { fid, limit: 100 }),
    read: listOf("events"),
    keyOf: eventKey,
    row: (event: SignerEvent) => <SignerRow event={event} />,
    empty: msg.noKeyWasEverAddedOn,
  }),
  tab({
    id: "registry",
    label: msg.registry,
    call: (fid) => get("/onchain/id_registry_event", { fid, limit: 100 }),
    read: listOf("events"),
    keyOf: eventKey,
    row: (event: IdRegistryEvent) => <IdRegistryRow event={event} />,
    empty: msg.noRegistryEvents,
  }),
];
