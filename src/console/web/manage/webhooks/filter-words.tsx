import type { ComponentChildren } from "preact";
import type { EventKind } from "../../../../protocol/event-kind.ts";
import { usePeople } from "../../data/query.ts";
import { FILTER_FIELDS } from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";
import { formatCount } from "../../text/format.ts";
import { displayNameOf, handleOf } from "../../text/name.ts";
import { UserName } from "../../text/user-text.tsx";
import { exclusionOf, type FilterGroup, fromSubscription, type Subscription } from "./filter-state.ts";
import type { Preview } from "./webhooks.tsx";

/** How many values of a field are shown by name; a filter may have hundreds. */
const MAX_NAMED = 10;

const KINDS: Readonly<Record<string, string>> = {
  "cast.created": msg.newCasts,
  "cast.deleted": msg.deletedCasts,
  "reaction.created": msg.newLikesAndRecasts,
  "reaction.deleted": msg.removedLikesAndRecasts,
  "follow.created": msg.newFollows,
  "follow.deleted": msg.endedFollows,
  "user.created": msg.newUsers,
  "user.updated": msg.changedProfiles,
  "channel.created": msg.newChannels,
  "channel.updated": msg.changedChannels,
  "channel.member.added": msg.newMembers,
  "channel.member.removed": msg.endedMemberships,
  "channel.member.banned": msg.newBans,
  "channel.member.unbanned": msg.endedBans,
  "channel.moderator.added": msg.newModerators,
  "channel.moderator.removed": msg.endedModerators,
  "channel.pinned": msg.newPins,
  "channel.unpinned": msg.endedPins,
  "channel.follow.created": msg.newFollowsOfChannels,
  "channel.follow.deleted": msg.endedFollowsOfChannels,
  "cast.moderated": msg.moderatedCasts,
} satisfies Record<EventKind, string>;

/** The words before the values of each field. */
const CONDITIONS: Readonly<Record<string, string>> = {
  author_fids: msg.by,
  mentioned_fids: msg.thatMention,
  text: msg.whoseTextMatches,
  embeds: msg.withAnEmbeddedUrlThatMatches,
  parent_urls: msg.inLabel,
  root_parent_urls: msg.inThreadsOf,
  parent_hashes: msg.inReplyTo,
  parent_author_fids: msg.inReplyTo,
  embedded_cast_hashes: msg.thatQuote,
  embedded_cast_author_fids: msg.thatQuote,
  target_fids: msg.thatConcern,
  target_cast_hashes: msg.of,
  channel_ids: msg.inLabel,
  fids: msg.thatConcern,
};

const EXCLUDED = "exclude_author_fids";

const HOUR_SECS = 3600;
const UNITS = [
  { name: "minute", secs: 60, least: 2 },
  { name: "hour", secs: HOUR_SECS, least: 1 },
  { name: "day", secs: 24 * HOUR_SECS, least: 0 },
] as const;

/** Estimates how many events a subscription brings, from what it would have matched: `about 3 an hour`. Times are in unix seconds. */
export function volumeOf({ matched, from }: Pick<Preview, "matched" | "from">, nowSecs: number): string {
  if (matched === 0 || from === null) return msg.fewOrNone;
  const perSecond = matched / Math.max(60, nowSecs - from);
  const unit = UNITS.find(({ secs, least }) => perSecond * secs >= least) ?? UNITS[2];
  const count = perSecond * unit.secs;
  return msg.about(
    formatCount(count < 10 ? Math.round(count * 10) / 10 : Math.round(count)),
    msg.perUnit[unit.name],
  );
}

function Expected({ preview }: { preview: Preview | undefined }) {
  if (!preview) return <p>{msg.howManyToExpectIsNot}</p>;
  if (preview.scanned === 0) return <p>{msg.howManyToExpectThemAmong}</p>;
  return (
    <p data-volume>
      {msg.expectOfTheLastEventsMatch(
        <b>{volumeOf(preview, Date.now() / 1000)}</b>,
        formatCount(preview.matched),
        formatCount(preview.scanned),
      )}
    </p>
  );
}

/** Joins a list for a sentence: `a, b or c`. */
const joined = (items: readonly ComponentChildren[], word: string) =>
  items.map((item, at) => [at === 0 ? "" : at === items.length - 1 ? ` ${word} ` : ", ", item]);

function Values({ field, values }: { field: string; values: readonly string[] }) {
  const kind = FILTER_FIELDS.find(({ name }) => name === field)?.values;
  const named = values.slice(0, MAX_NAMED);
  const people = usePeople(kind === "people" ? named.map(Number) : []);
  const shown = named.map((value) => {
    const user = kind === "people" ? people.get(Number(value)) : undefined;
    if (user)
      return (
        <>
          <UserName name={displayNameOf(user)} /> <span class="dim">{handleOf(user)}</span>
        </>
      );
    if (kind === "people") return msg.fid(value);
    return (
      <code>
        <bdi class="user">{value}</bdi>
      </code>
    );
  });
  const more = values.length - named.length;
  return <>{joined(more > 0 ? [...shown, msg.more(formatCount(more))] : shown, msg.or)}</>;
}

function Group({ group }: { group: FilterGroup }) {
  const { kinds, match, values } = group;
  // These apply in any case, whichever of the others match.
  const { [EXCLUDED]: excluded, minimum_author_score: [leastScore] = [], ...others } = values;
  const fields = FILTER_FIELDS.filter(({ name }) => others[name] !== undefined);
  const names = kinds.map((kind) => KINDS[kind] ?? kind);
  if (Object.keys(values).length === 0)
    return (
      <li data-unfiltered>{msg.withoutAFilter(<b>{msg.allOfTheNetwork(joined(names, msg.and))}</b>)}</li>
    );
  const conditions = fields.map(({ name }) => (
    <>
      {CONDITIONS[name]} <Values field={name} values={values[name] ?? []} />
    </>
  ));
  const [first = "", ...rest] = names;
  return (
    <li>
      <b>{joined([first.charAt(0).toUpperCase() + first.slice(1), ...rest], msg.and)}</b>{" "}
      {joined(conditions, match === "any" ? msg.or : msg.and)}
      {excluded && msg.butNotBy(fields.length > 0 && ", ", <Values field={EXCLUDED} values={excluded} />)}
      {leastScore !== undefined && msg.ofAuthorsWithAScoreOf(leastScore)}.
    </li>
  );
}

/** A subscription in words, and the expected number of events, for the signing prompt. */
export function FilterWords({
  subscription,
  preview,
}: {
  subscription: Subscription;
  /** What the subscription would have matched; undefined if it was not tested. */
  preview: Preview | undefined;
}) {
  const read = fromSubscription(subscription);
  const groups = "state" in read ? read.state : [];
  const { fids = [], bans } = exclusionOf(groups) ?? {};
  return (
    <div class="stack tight">
      <p>{msg.theseEvents}</p>
      <ul class="stack tight">
        {groups.map((group) => (
          <Group group={group} key={group.kinds.join()} />
        ))}
      </ul>
      {(fids.length > 0 || bans === true) && <p>{msg.butNotOfListed(fids.length, bans === true)}</p>}
      <Expected preview={preview} />
    </div>
  );
}
