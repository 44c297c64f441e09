import type { ComponentChildren } from "preact";
import { formatCount } from "../../data/format.ts";
import { usePeople } from "../../data/people.ts";
import { FILTER_FIELDS } from "../../stream/filters.ts";
import { displayNameOf, handleOf } from "../../text/name.ts";
import { UserName } from "../../text/user-name.tsx";
import { type FilterGroup, fromSubscription, type Subscription } from "./filter-state.ts";
import type { Preview } from "./webhook.ts";

/** Values of a field that are named; a filter may have hundreds. */
const MAX_NAMED = 10;

const KINDS: Readonly<Record<string, string>> = {
  "cast.created": "new casts",
  "cast.deleted": "deleted casts",
  "reaction.created": "new likes and recasts",
  "reaction.deleted": "removed likes and recasts",
  "follow.created": "new follows",
  "follow.deleted": "ended follows",
  "user.created": "new users",
  "user.updated": "changed profiles",
};

/** What stands before the values of each field. */
const CONDITIONS: Readonly<Record<string, string>> = {
  author_fids: "by",
  mentioned_fids: "that mention",
  text: "whose text matches",
  embeds: "with an embedded URL that matches",
  parent_urls: "in",
  root_parent_urls: "in threads of",
  parent_hashes: "in reply to",
  parent_author_fids: "in reply to",
  embedded_cast_hashes: "that quote",
  embedded_cast_author_fids: "that quote",
  target_fids: "that concern",
  target_cast_hashes: "of",
};

const EXCLUDED = "exclude_author_fids";

const HOUR_SECS = 3600;
const UNITS = [
  { name: "minute", secs: 60, least: 2 },
  { name: "hour", secs: HOUR_SECS, least: 1 },
  { name: "day", secs: 24 * HOUR_SECS, least: 0 },
] as const;

/** How many events a subscription brings, from what it would have caught: `about 3 an hour`. Times are in unix seconds. */
export function volumeOf({ matched, from }: Pick<Preview, "matched" | "from">, nowSecs: number): string {
  if (matched === 0 || from === null) return "few or none";
  const perSecond = matched / Math.max(60, nowSecs - from);
  const unit = UNITS.find(({ secs, least }) => perSecond * secs >= least) ?? UNITS[2];
  const count = perSecond * unit.secs;
  return `about ${formatCount(count < 10 ? Math.round(count * 10) / 10 : Math.round(count))} ${unit.name === "hour" ? "an" : "a"} ${unit.name}`;
}

function Expected({ preview }: { preview: Preview | undefined }) {
  if (!preview) return <p>How many to expect is not known: “Try it” counts them among past events.</p>;
  if (preview.scanned === 0)
    return <p>How many to expect is not known: the node has no past events to count them among.</p>;
  return (
    <p data-volume>
      Expect <b>{volumeOf(preview, Date.now() / 1000)}</b>: {formatCount(preview.matched)} of the last{" "}
      {formatCount(preview.scanned)} events match.
    </p>
  );
}

/** A list in a sentence: `a, b or c`. */
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
    if (kind === "people") return `fid ${value}`;
    return (
      <code>
        <bdi class="user">{value}</bdi>
      </code>
    );
  });
  const more = values.length - named.length;
  return <>{joined(more > 0 ? [...shown, `${formatCount(more)} more`] : shown, "or")}</>;
}

function Group({ group: { kinds, match, values } }: { group: FilterGroup }) {
  // It applies in any case, whichever of the others match.
  const { [EXCLUDED]: excluded, ...others } = values;
  const fields = FILTER_FIELDS.filter(({ name }) => others[name] !== undefined);
  const names = kinds.map((kind) => KINDS[kind] ?? kind);
  if (Object.keys(values).length === 0)
    return (
      <li data-unfiltered>
        <b>All {joined(names, "and")} of the network</b>, without a filter.
      </li>
    );
  const conditions = fields.map(({ name }) => (
    <>
      {CONDITIONS[name]} <Values field={name} values={values[name] ?? []} />
    </>
  ));
  const [first = "", ...rest] = names;
  return (
    <li>
      <b>{joined([first.charAt(0).toUpperCase() + first.slice(1), ...rest], "and")}</b>{" "}
      {joined(conditions, match === "any" ? "or" : "and")}
      {excluded && (
        <>
          {fields.length > 0 && ", "}but not by <Values field={EXCLUDED} values={excluded} />
        </>
      )}
      .
    </li>
  );
}

/** A subscription in words, and how many events to expect of it, for the sheet that is signed. */
export function FilterWords({
  subscription,
  preview,
}: {
  subscription: Subscription;
  /** What the subscription would have caught; undefined if it was not tried. */
  preview: Preview | undefined;
}) {
  const read = fromSubscription(subscription);
  const groups = "state" in read ? read.state : [];
  return (
    <div class="stack tight">
      <p>These events:</p>
      <ul class="stack tight">
        {groups.map((group) => (
          <Group group={group} key={group.kinds.join()} />
        ))}
      </ul>
      <Expected preview={preview} />
    </div>
  );
}
