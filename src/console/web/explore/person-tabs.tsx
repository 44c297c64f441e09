import type { ComponentChildren } from "preact";
import { type Call, get } from "../data/call.ts";
import type { Page } from "../data/pages.ts";
import { CastRow } from "../parts/cast-row.tsx";
import { PersonRow } from "../parts/person.tsx";
import { ChannelRow } from "./channel-row.tsx";
import {
  castKey,
  castsOf,
  channelKey,
  channelsOf,
  PAGE_SIZE,
  reactionsOf,
  userKey,
  usersOf,
} from "./lists.ts";
import { NotificationRow, notificationKey, notificationsOf } from "./notification-row.tsx";
import { eventKey, IdRegistryRow, idRegistryEventsOf, SignerRow, signerEventsOf } from "./registry-rows.tsx";

/** A list of a person: its call, how its responses are read, and how a row looks. */
export interface PersonTab<T extends object = object> {
  readonly id: string;
  readonly label: string;
  readonly call: (fid: number) => Call;
  // biome-ignore lint/suspicious/noExplicitAny: a response of the API, which each tab reads as its own
  readonly read: (body: any) => Page<T>;
  readonly keyOf: (item: T) => string | number;
  readonly row: (item: T) => ComponentChildren;
  readonly empty: string;
  readonly isLive?: boolean;
}

const limit = PAGE_SIZE;
const tab = <T extends object>(one: PersonTab<T>) => one as unknown as PersonTab;

const castTab = (id: string, label: string, path: string, empty: string) =>
  tab({
    id,
    label,
    call: (fid) => get(path, { fid, limit }),
    read: castsOf,
    keyOf: castKey,
    row: (cast) => <CastRow cast={cast} />,
    empty,
    isLive: true,
  });

const peopleTab = (id: string, label: string, path: string, empty: string) =>
  tab({
    id,
    label,
    call: (fid) => get(path, { fid, limit }),
    read: usersOf,
    keyOf: userKey,
    row: (user) => <PersonRow user={user} withBio />,
    empty,
  });

/** The tabs of a person's page, the first one is open at first. */
export const personTabs: readonly PersonTab[] = [
  castTab("casts", "Casts", "/feed/user/casts", "No casts yet."),
  castTab("replies", "Replies", "/feed/user/replies_and_recasts", "No replies yet."),
  tab({
    id: "popular",
    label: "Popular",
    call: (fid) => get("/feed/user/popular", { fid }),
    read: castsOf,
    keyOf: castKey,
    row: (cast) => <CastRow cast={cast} />,
    empty: "No casts yet.",
  }),
  tab({
    id: "likes",
    label: "Likes",
    call: (fid) => get("/reaction/user", { fid, type: "likes", limit }),
    read: reactionsOf,
    keyOf: ({ cast }) => cast.hash,
    row: ({ cast }) => <CastRow cast={cast} />,
    empty: "No likes yet, or the liked casts are gone.",
  }),
  peopleTab("followers", "Followers", "/user/followers", "Nobody follows yet."),
  peopleTab("following", "Following", "/user/following", "Follows nobody yet."),
  peopleTab("mutuals", "Mutuals", "/user/best_friends", "Nobody whom this person follows follows back."),
  tab({
    id: "channels",
    label: "Channels",
    call: (fid) => get("/user/channels", { fid, limit }),
    read: channelsOf,
    keyOf: channelKey,
    row: (channel) => <ChannelRow channel={channel} />,
    empty: "No casts in a channel yet.",
  }),
  tab({
    id: "notifications",
    label: "Notifications",
    call: (fid) => get("/notifications", { fid, limit }),
    read: notificationsOf,
    keyOf: notificationKey,
    row: (entry) => <NotificationRow entry={entry} />,
    empty: "No mentions, replies, reactions or new followers.",
    isLive: true,
  }),
  tab({
    id: "keys",
    label: "Keys",
    call: (fid) => get("/signer", { fid, limit: 100 }),
    read: signerEventsOf,
    keyOf: eventKey,
    row: (event) => <SignerRow event={event} />,
    empty:
      "No key was ever added on chain, so this person's casts are signed by keys added otherwise, or there are none.",
  }),
  tab({
    id: "registry",
    label: "Registry",
    call: (fid) => get("/onchain/id_registry_event", { fid, limit: 100 }),
    read: idRegistryEventsOf,
    keyOf: eventKey,
    row: (event) => <IdRegistryRow event={event} />,
    empty: "No event of the registry.",
  }),
];
