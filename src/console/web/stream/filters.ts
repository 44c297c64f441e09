import { CHANNEL_EVENT_KINDS, type EventKind } from "../../../protocol/event-kind.ts";
import * as msg from "../text/en/stream.ts";

/** The kinds of events of a stream. */
export const EVENT_KINDS: readonly EventKind[] = [
  "cast.created",
  "cast.deleted",
  "reaction.created",
  "reaction.deleted",
  "follow.created",
  "follow.deleted",
  "user.created",
  "user.updated",
  ...CHANNEL_EVENT_KINDS,
];

/** The kind of values of a filter. People may be entered as `@name`; the API uses fids. */
type ValueKind = "people" | "hashes" | "urls" | "channels" | "expression" | "score";

export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly values: ValueKind;
  readonly group: "Who" | "Where" | "Content" | "Quotes" | "Target" | "Channels";
}

/** Whose events of every kind a stream leaves out. A subscription has them in its `exclude`. */
export const EXCLUDED_PEOPLE = "exclude_fids";

/** Reports whether a field has a single text, an expression or a number. */
const isSingle = ({ values }: FilterField) => values === "expression" || values === "score";

/** The filters of a stream, by parameter name. */
export const FILTER_FIELDS: readonly FilterField[] = [
  { name: "author_fids", label: msg.author, values: "people", group: "Who" },
  { name: "exclude_author_fids", label: msg.butNotTheCastsOf, values: "people", group: "Who" },
  { name: EXCLUDED_PEOPLE, label: msg.butNoEventsOf, values: "people", group: "Who" },
  { name: "minimum_author_score", label: msg.leastScoreOfTheAuthor, values: "score", group: "Who" },
  { name: "mentioned_fids", label: msg.mentions, values: "people", group: "Who" },
  { name: "text", label: msg.textRe2, values: "expression", group: "Content" },
  { name: "embeds", label: msg.embeddedUrlRe2, values: "expression", group: "Content" },
  { name: "parent_urls", label: msg.parentUrl, values: "urls", group: "Where" },
  { name: "root_parent_urls", label: msg.parentUrlOfTheThread, values: "urls", group: "Where" },
  { name: "parent_hashes", label: msg.repliesToCasts, values: "hashes", group: "Where" },
  { name: "parent_author_fids", label: msg.repliesToPeople, values: "people", group: "Where" },
  { name: "embedded_cast_hashes", label: msg.quotesCasts, values: "hashes", group: "Quotes" },
  { name: "embedded_cast_author_fids", label: msg.quotesPeople, values: "people", group: "Quotes" },
  { name: "target_fids", label: msg.followsOrReactsToPeople, values: "people", group: "Target" },
  { name: "target_cast_hashes", label: msg.reactsToCasts, values: "hashes", group: "Target" },
  { name: "channel_ids", label: msg.changesOfChannels, values: "channels", group: "Channels" },
  { name: "fids", label: msg.concernsPeople, values: "people", group: "Channels" },
];

/** A filter in terms of its parameters: values of a list one by one, an expression as one. */
export interface StreamFilters {
  readonly kinds: readonly EventKind[];
  readonly match: "all" | "any";
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** The maximum length of a query that is read. */
const MAX_QUERY_CHARS = 8192;

/** Reads filters from a query string, which are the parameters of `/stream`. Others are ignored. */
export function readFilters(search: string): StreamFilters {
  let match: "all" | "any" = "all";
  const kinds: EventKind[] = [];
  const values: Record<string, string[]> = {};
  for (const pair of search.replace(/^\?/, "").slice(0, MAX_QUERY_CHARS).split("&")) {
    const at = pair.indexOf("=");
    if (at < 0) continue;
    const name = decode(pair.slice(0, at));
    const text = pair.slice(at + 1);
    if (name === "match") match = text === "any" ? "any" : "all";
    else if (name === "kinds")
      kinds.push(...EVENT_KINDS.filter((kind) => text.split(",").map(decode).includes(kind)));
    else {
      const field = FILTER_FIELDS.find((one) => one.name === name);
      if (!field) continue;
      const items = isSingle(field) ? [decode(text)] : text.split(",").map(decode);
      const known = values[field.name] ?? [];
      values[field.name] = [...new Set([...known, ...items.filter((item) => item !== "")])];
      if (values[field.name]?.length === 0) delete values[field.name];
    }
  }
  return { kinds: EVENT_KINDS.filter((kind) => kinds.includes(kind)), match, values };
}

/** Writes filters as a query string without `?`. A comma within a value is written as `%2C`; commas separate values. */
export function writeFilters({ kinds, match, values }: StreamFilters): string {
  const pairs: string[] = [];
  if (kinds.length > 0) pairs.push(`kinds=${kinds.join(",")}`);
  if (match === "any") pairs.push("match=any");
  for (const { name } of FILTER_FIELDS) {
    const items = values[name] ?? [];
    if (items.length > 0) pairs.push(`${name}=${items.map(encodeURIComponent).join(",")}`);
  }
  return pairs.join("&");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** Splits typed text into the values of a field. */
export function splitValues(field: FilterField, text: string): string[] {
  const { values } = field;
  if (isSingle(field)) return text.trim() === "" ? [] : [values === "score" ? text.trim() : text];
  return text
    .split(values === "urls" || values === "channels" ? /\s+/ : /[\s,]+/)
    .filter((item) => item !== "");
}

/** Returns what is wrong with a value of a field; undefined if the node may accept it. */
export function problemOf({ values }: FilterField, value: string): string | undefined {
  switch (values) {
    case "people":
      return /^(?:[1-9]\d{0,15}|@[a-z0-9][a-z0-9.-]{0,30})$/i.test(value)
        ? undefined
        : msg.isNotAnFidOrName(value);
    case "hashes":
      return /^0x[0-9a-f]{40}$/i.test(value) ? undefined : msg.isNot0xAnd40Hex(value);
    case "score":
      return value.trim() !== "" && Number(value) >= 0 && Number(value) <= 1
        ? undefined
        : msg.isNotAScore(value);
    default:
      return undefined;
  }
}

/** Describes in words what a stream shows. */
export function describeFilters(filters: StreamFilters): string {
  const fields = FILTER_FIELDS.filter(({ name }) => filters.values[name] !== undefined).map(({ label }) =>
    label.toLowerCase(),
  );
  const kinds = filters.kinds.length === 0 ? msg.allEvents : filters.kinds.join(", ");
  if (fields.length === 0) return kinds;
  return msg.filteredBy(kinds, fields.join(filters.match === "any" ? " or " : " and "));
}
