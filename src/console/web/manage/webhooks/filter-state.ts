import { type EventKind, isChannelEvent } from "../../../../protocol/event-kind.ts";
import {
  EVENT_KINDS,
  EXCLUDED_PEOPLE,
  FILTER_FIELDS,
  type FilterField,
  problemOf,
  type StreamFilters,
} from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";

/**
 * The state of the filter builder. A subscription has one filter per kind of event; the builder has groups of kinds with the same filter,
 * each of which is a form. The author is one field of the form; the API calls it `author_fids` for casts and channels, and `fids` for all
 * others.
 */

/** Values of one field: those of a list one by one, an expression as one. */
export type FieldValues = Readonly<Record<string, readonly string[]>>;

export interface FilterGroup {
  readonly kinds: readonly EventKind[];
  /** Undefined means `all`, as in a subscription without this field. */
  readonly match: "all" | "any" | undefined;
  readonly values: FieldValues;
  /** Whose events the whole subscription leaves out; the same in each group. */
  readonly exclude?: Exclusion | undefined;
  /** By field, typed text that is not one of its values yet. Until it is a value or cleared, the form has no subscription. */
  readonly typed?: Readonly<Record<string, string>>;
}

export type FilterState = readonly FilterGroup[];

/** As in the API: listed users, and those banned by the owner. */
export interface Exclusion {
  readonly fids?: readonly number[];
  readonly bans?: boolean;
}

/** A subscription as in the API. */
export type Subscription = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What is wrong with a field of a group; if `field` is undefined, with its kinds. */
export interface FilterProblem {
  readonly group: number;
  readonly field: string | undefined;
  readonly message: string;
}

export const EMPTY_GROUP: FilterGroup = { kinds: [], match: undefined, values: {} };

/** The fields of the filters of kinds. Exclusions are separate from them. */
export const KIND_FIELDS = FILTER_FIELDS.filter(({ name }) => name !== EXCLUDED_PEOPLE);
const FIELD_NAMES = KIND_FIELDS.map(({ name }) => name);
const OF_OTHERS: readonly string[] = ["target_fids", "target_cast_hashes", "channel_ids", "fids"];
const ofCasts = FIELD_NAMES.filter((name) => !OF_OTHERS.includes(name));
const ofChannels = ["channel_ids", "author_fids", "fids"];
const FIELDS_OF: Readonly<Partial<Record<EventKind, readonly string[]>>> = {
  "cast.created": ofCasts,
  "cast.deleted": ofCasts,
  "follow.created": ["author_fids", "target_fids"],
  "follow.deleted": ["author_fids", "target_fids"],
  "reaction.created": ["author_fids", "target_fids", "target_cast_hashes"],
  "reaction.deleted": ["author_fids", "target_fids", "target_cast_hashes"],
  "user.created": [],
  "user.updated": ["author_fids"],
};
/** Returns the fields of the filters of a kind. */
const fieldNamesOf = (kind: EventKind): readonly string[] => FIELDS_OF[kind] ?? ofChannels;

const isEventKind = (kind: string): kind is EventKind => (EVENT_KINDS as readonly string[]).includes(kind);

/** Returns the name of a form field in the filter of a kind. */
const apiName = (kind: EventKind, field: string): string =>
  field === "author_fids" && !kind.startsWith("cast.") && !isChannelEvent(kind) ? "fids" : field;

/** Returns the fields that filters of all these kinds may have; without kinds, those of any. */
export function fieldsOf(kinds: readonly EventKind[]): readonly FilterField[] {
  return KIND_FIELDS.filter(({ name }) => kinds.every((kind) => fieldNamesOf(kind).includes(name)));
}

/** Returns the subscription of a form, or what is wrong with the form. */
export function toSubscription(
  state: FilterState,
): { readonly subscription: Subscription } | { readonly problems: readonly FilterProblem[] } {
  const problems: FilterProblem[] = [];
  const byKind = new Map<EventKind, Record<string, unknown>>();
  for (const [group, { kinds, match, values, typed = {} }] of state.entries()) {
    if (kinds.length === 0) problems.push({ group, field: undefined, message: msg.chooseAtLeastOneKindOf });
    for (const field of KIND_FIELDS) problems.push(...problemsOf(field, group, kinds, values));
    for (const [field, text] of Object.entries(typed))
      problems.push({
        group,
        field,
        message: msg.isNotInTheFilterChoose(shortened(text)),
      });
    for (const kind of kinds) {
      if (byKind.has(kind))
        problems.push({ group, field: undefined, message: msg.hasAnotherFilterAbove(kind) });
      const filter: Record<string, unknown> = match === undefined ? {} : { match };
      for (const [name, items] of Object.entries(values))
        if (items.length > 0) filter[apiName(kind, name)] = apiValueOf(name, items);
      byKind.set(kind, filter);
    }
  }
  if (problems.length > 0) return { problems };
  const exclude = exclusionOf(state);
  return { subscription: { ...Object.fromEntries(byKind), ...(exclude && { exclude }) } as Subscription };
}

export const exclusionOf = (state: FilterState): Exclusion | undefined =>
  state.find((group) => group.exclude)?.exclude;

/** Returns the people that the whole subscription leaves out; nothing if none. `typed` text is not included yet. */
export function withExclusion(
  state: FilterState,
  { fids = [], bans }: Exclusion,
  typed: string | undefined,
): FilterState {
  const isEmpty = fids.length === 0 && bans === undefined;
  const exclude = { ...(fids.length > 0 && { fids }), ...(bans !== undefined && { bans }) };
  return state.map(({ exclude: _, typed: texts = {}, ...group }, at) => {
    const { [EXCLUDED_PEOPLE]: __, ...others } = texts;
    const all = at === 0 && typed ? { ...others, [EXCLUDED_PEOPLE]: typed } : others;
    return {
      ...group,
      ...(!isEmpty && { exclude }),
      ...(Object.keys(all).length > 0 && { typed: all }),
    };
  });
}

function problemsOf(
  field: FilterField,
  group: number,
  kinds: readonly EventKind[],
  values: FieldValues,
): FilterProblem[] {
  const items = values[field.name] ?? [];
  const foreign =
    items.length === 0 ? undefined : kinds.find((kind) => !fieldNamesOf(kind).includes(field.name));
  if (foreign !== undefined) {
    const message = msg.hasNoSuchFilterClearIt(foreign, foreign);
    return [{ group, field: field.name, message }];
  }
  const message = items.map((item) => faultOf(field, item)).find((fault) => fault !== undefined);
  return message === undefined ? [] : [{ group, field: field.name, message }];
}

/** Fid 0 is valid, although it is not a user. */
const faultOf = (field: FilterField, item: string): string | undefined =>
  field.values === "people" && /^\d{1,15}$/.test(item) ? undefined : problemOf(field, item);

function apiValueOf(name: string, items: readonly string[]): unknown {
  const kind = FILTER_FIELDS.find((field) => field.name === name)?.values;
  if (kind === "expression") return items[0];
  if (kind === "score") return Number(items[0]);
  return kind === "people" ? items.map(Number) : items;
}

/** Reads a subscription, for instance one that the owner entered as JSON. The error is a sentence. */
export function fromSubscription(
  value: unknown,
): { readonly state: FilterState } | { readonly problem: string } {
  if (!isRecord(value)) return { problem: msg.aSubscriptionIsAnObjectKinds };
  const groups = new Map<string, ReadFilter & { kinds: EventKind[] }>();
  const { exclude, ...filters } = value;
  if (exclude !== undefined && !isExclusion(exclude)) return { problem: msg.excludeIsAnObject };
  for (const [key, filter] of Object.entries(filters)) {
    const kind = EVENT_KINDS.find((one) => one === key || one.replaceAll(".", "_") === key);
    if (!kind) return { problem: msg.isNotAKindOfEvent(shortened(key)) };
    const read = readFilter(kind, filter);
    if ("problem" in read) return read;
    const { match, values } = read;
    const same = JSON.stringify([match ?? null, Object.entries(values).sort()]);
    const group = groups.get(same) ?? { ...read, kinds: [] };
    if ([...groups.values()].some(({ kinds }) => kinds.includes(kind)))
      return { problem: msg.appearsTwice(kind) };
    group.kinds.push(kind);
    groups.set(same, group);
  }
  if (groups.size === 0) return { problem: msg.aSubscriptionNamesAtLeastOne };
  return { state: [...groups.values()].map((group) => (exclude ? { ...group, exclude } : group)) };
}

function isExclusion(value: unknown): value is Exclusion {
  if (!isRecord(value)) return false;
  const { fids = [], bans = false, ...others } = value;
  const people = KIND_FIELDS.find(({ values }) => values === "people");
  return (
    typeof bans === "boolean" &&
    people !== undefined &&
    itemsOf(people, fids) !== undefined &&
    Object.keys(others).length === 0
  );
}

type ReadFilter = Pick<FilterGroup, "match" | "values">;

function readFilter(kind: EventKind, filter: unknown): ReadFilter | { problem: string } {
  if (!isRecord(filter)) return { problem: msg.needsAnObjectForAllEvents(kind) };
  const values: Record<string, readonly string[]> = {};
  let match: FilterGroup["match"];
  for (const [name, given] of Object.entries(filter)) {
    if (name === "match") {
      if (given !== "all" && given !== "any") return { problem: msg.matchIsAllOrAny(kind) };
      match = given;
      continue;
    }
    const field = fieldNamesOf(kind).find((one) => apiName(kind, one) === name);
    const known = FILTER_FIELDS.find((one) => one.name === field);
    if (!known) return { problem: msg.isNotAFilterOf(shortened(name), kind) };
    const items = itemsOf(known, given);
    if (!items) return { problem: msg.isNotValid(kind, name, EXPECTED[known.values]) };
    if (items.length > 0) values[known.name] = items;
  }
  return { match, values };
}

const EXPECTED: Readonly<Record<FilterField["values"], string>> = {
  people: msg.aListOfFids,
  hashes: msg.aListOfCastHashes,
  urls: msg.aListOfUrls,
  channels: msg.aListOfChannelIds,
  expression: msg.anRe2ExpressionAsText,
  score: msg.aNumberFrom0To1,
};

function itemsOf({ values }: FilterField, given: unknown): readonly string[] | undefined {
  if (values === "expression") return typeof given === "string" ? [given] : undefined;
  if (values === "score") return typeof given === "number" ? [String(given)] : undefined;
  if (!Array.isArray(given)) return undefined;
  const items: readonly unknown[] = given;
  if (values === "people")
    return items.every((item) => Number.isSafeInteger(item) && Number(item) >= 0)
      ? items.map(String)
      : undefined;
  const texts = items.filter((item) => typeof item === "string");
  if (texts.length < items.length) return undefined;
  return values === "hashes" ? texts.map((hash) => hash.toLowerCase()) : texts;
}

/** Only for channels, `fids` is a different filter than `author_fids`. */
function withActors({ fids, author_fids: actors = [], ...others }: FieldValues): FieldValues {
  const all = [...new Set([...actors, ...(fids ?? [])])];
  return all.length === 0 ? others : { ...others, author_fids: all };
}

/** Returns the form for the filters of a stream: its kinds, or all that have these filters. */
export function fromStream({ kinds, match, values: all }: StreamFilters): FilterState {
  const { [EXCLUDED_PEOPLE]: excluded = [], ...given } = all;
  const fids = excluded.filter((item) => /^\d+$/.test(item)).map(Number);
  const values = kinds.length > 0 && kinds.every(isChannelEvent) ? given : withActors(given);
  const isPlain = Object.keys(values).length === 0;
  const fitting = EVENT_KINDS.filter((kind) =>
    Object.keys(values).every((name) => fieldNamesOf(kind).includes(name)),
  );
  const chosen = kinds.length > 0 ? kinds : isPlain ? (["cast.created"] as const) : fitting;
  const group = { kinds: chosen, match: match === "any" ? ("any" as const) : undefined, values };
  return [fids.length > 0 ? { ...group, exclude: { fids } } : group];
}

/** Finds the form field that a refusal of the API names, as in `subscription.cast.created.text is not …`. */
export function problemNamed(state: FilterState, message: string): FilterProblem | undefined {
  const [, kind = "", name = "", words = ""] =
    /^(?:every entry of )?subscription\.((?:[a-z]+\.)+[a-z]+)\.(\w+) (.+)$/s.exec(message) ?? [];
  if (!isEventKind(kind)) return undefined;
  const group = state.findIndex(({ kinds }) => kinds.includes(kind));
  const field = FIELD_NAMES.find((one) => apiName(kind, one) === name);
  return group < 0 || field === undefined ? undefined : { group, field, message: words };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shortened = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
