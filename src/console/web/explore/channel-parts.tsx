import { CastRow } from "../content/cast-row.tsx";
import { PeopleRows, PersonRow } from "../content/face.tsx";
import { type Channel, get, type ResponseOf } from "../data/call.ts";
import { listOf } from "../data/pages.ts";
import { usePeople, useQuery } from "../data/query.ts";
import { ListRegion } from "../parts/list-region.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { Facts } from "../parts/table.tsx";
import * as msg from "../text/en/channels.ts";
import { formatCount, formatMoment, shortHex } from "../text/format.ts";
import { UserText } from "../text/user-text.tsx";
import { PAGE_SIZE } from "./lists.ts";

/** The parts that only the page of a registered channel has, not that of a parent URL. */

type Role = ResponseOf<"GET /channel/roles">["members"][number];
type Moderation = ResponseOf<"GET /channel/moderations">["moderations"][number];
type Ban = ResponseOf<"GET /channel/bans">["bans"][number];

export const rolesCall = (id: string) => get("/channel/roles", { id, limit: PAGE_SIZE });
export const moderationsCall = (id: string) => get("/channel/moderations", { id, limit: PAGE_SIZE });

const ROLES = { owner: msg.owner, moderator: msg.moderator, member: msg.member } as const;

export const Roles = ({ id }: { id: string }) => (
  <ListRegion
    title={msg.ownerModeratorsAndMembers}
    call={rolesCall(id)}
    read={listOf("members")}
    keyOf={({ user }: Role) => user.fid}
    row={({ user, role }: Role) => (
      <div class="row tail" data-role={role}>
        <div class="grow">
          <PersonRow user={user} withBio />
        </div>
        <Pill {...(role !== "member" && { kind: "acc" })}>{ROLES[role]}</Pill>
      </div>
    )}
    empty={<p>{msg.noOneHasARoleHere}</p>}
  />
);

/** Who did something, and when, if the node knows. */
function By({ user, at }: { user: { fid: number; username: string } | null; at: number | null }) {
  return (
    <span class="s dim">
      {user && msg.byWhom(<a href={`/console/people/${user.fid}`}>@{user.username}</a>)}{" "}
      {at !== null && <Time at={at} />}
    </span>
  );
}

export function Moderation({ id }: { id: string }) {
  return (
    <>
      <ListRegion
        title={msg.casts}
        call={moderationsCall(id)}
        read={listOf("moderations")}
        keyOf={({ cast_hash }: Moderation) => cast_hash}
        row={({ cast, cast_hash, state, moderated_by, moderated_at }: Moderation) => (
          <div class="stack tight" data-moderation={state}>
            <p class="row wrap pad s">
              <Pill {...(state === "hidden" && { kind: "warn" })}>
                {state === "hidden" ? msg.hidden : msg.shownAgain}
              </Pill>
              <By user={moderated_by} at={moderated_at} />
            </p>
            {cast ? (
              <CastRow cast={cast} withChannel={false} />
            ) : (
              <p class="pad mono s">{shortHex(cast_hash)}</p>
            )}
          </div>
        )}
        empty={<p>{msg.noCastWasHiddenHere}</p>}
      />
      <ListRegion
        title={msg.banned}
        call={get("/channel/bans", { id, limit: PAGE_SIZE })}
        read={listOf("bans")}
        keyOf={({ user }: Ban) => user.fid}
        row={({ user, banned_by, banned_at }: Ban) => (
          <div class="row tail" data-banned>
            <div class="grow">
              <PersonRow user={user} />
            </div>
            <By user={banned_by} at={banned_at} />
          </div>
        )}
        empty={<p>{msg.noOneIsBannedHere}</p>}
      />
    </>
  );
}

export function Pin({ id }: { id: string }) {
  const call = get("/channel/pin", { id });
  const query = useQuery(call);
  return (
    <Region
      title={msg.pinned}
      call={call}
      query={query}
      isEmpty={({ pin }) => pin === null}
      empty={<p>{msg.nothingIsPinned}</p>}
    >
      {({ pin }) =>
        pin && (
          <div class="stack tight" data-pin>
            {pin.cast ? (
              <CastRow cast={pin.cast} withChannel={false} />
            ) : (
              <p class="pad s">
                {msg.theNodeDoesNotHaveTheCast(<span class="mono">{shortHex(pin.cast_hash)}</span>)}
              </p>
            )}
            <p class="pad">
              <By user={pin.pinned_by} at={pin.pinned_at} />
            </p>
          </div>
        )
      }
    </Region>
  );
}

const SOURCES = { protocol: msg.registered, import: msg.imported, activity: msg.fromItsCasts } as const;
const CASTING = {
  everyone: msg.everyone,
  members_only: msg.membersOnly,
  recommended: msg.recommended,
} as const;
const MEMBERSHIP = { open: msg.everyoneMayJoin, approval: msg.byModerators } as const;

export function About({ channel }: { channel: Channel }) {
  const { description, lead, member_count, follower_count, created_at, url, source, owner_address } = channel;
  const { casting_mode, membership_mode, expires_at, lapsed, rules, header, channel_id, id } = channel;
  const people = usePeople(channel.moderator_fids.slice(0, MAX_MODERATORS));
  const moderators = [...people.values()];
  const isRegistered = source === "protocol";
  return (
    <div class="pad stack s">
      <p>
        <Pill {...(isRegistered && { kind: "ok" })}>{SOURCES[source]}</Pill>
        {lapsed && <Pill kind="warn">{msg.lapsed}</Pill>}
      </p>
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
          [isRegistered ? msg.registeredAt : msg.firstCast]:
            created_at !== null && created_at > 0 && formatMoment(created_at * 1000),
          [msg.whoCasts]: casting_mode !== null && CASTING[casting_mode],
          [msg.newMembers]: membership_mode !== null && MEMBERSHIP[membership_mode],
          [msg.registeredUntil]: expires_at !== null && formatMoment(expires_at * 1000),
          [msg.ownersAddress]: owner_address !== null && (
            <span class="mono" title={owner_address}>
              {shortHex(owner_address)}
            </span>
          ),
          [msg.idOfTheProtocol]: channel_id !== null && (
            <span class="mono" title={channel_id}>
              {shortHex(channel_id)}
            </span>
          ),
          [msg.id]: isRegistered && id !== channel.name && <bdi class="user">{id}</bdi>,
          [msg.header]: header !== null && header !== "" && <UserText text={header} />,
          [msg.parentUrl]: <UserText text={url} runs={[{ kind: "text", text: url }]} />,
        }}
      />
      {rules && (
        <>
          <h3>{msg.rules}</h3>
          <p class="measure lines">
            <UserText text={rules} />
          </p>
        </>
      )}
      {lead && (
        <>
          <h3>{isRegistered ? msg.owner : msg.lead}</h3>
          <PeopleRows users={[lead]} />
        </>
      )}
      {moderators.length > 0 && (
        <>
          <h3>{msg.moderators}</h3>
          <PeopleRows users={moderators} />
        </>
      )}
    </div>
  );
}

/** The maximum that the network allows. */
const MAX_MODERATORS = 10;
