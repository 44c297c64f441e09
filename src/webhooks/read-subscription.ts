import { ok, type Result } from "../lib/result.ts";
import { type JsonObject, ownValue, readFid, readList, readObject, readText } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import type { EventKind } from "../protocol/event-kind.ts";
import { readRegex } from "./regex.ts";
import type { Subscription } from "./subscription.ts";

export const MAX_FILTER_ENTRIES = 1024;
/** The protocol allows 256 bytes; more can never match. */
const MAX_PARENT_URL_CHARS = 1024;
const CAST_HASH = /^0x[0-9a-f]{40}$/;

type ReadFilter = (value: unknown, name: string) => Result<unknown, Refusal>;

function readHash(value: unknown, name: string): Result<string, Refusal> {
  const hash = typeof value === "string" ? value.toLowerCase() : "";
  return CAST_HASH.test(hash) ? ok(hash) : badField(`${name} must be 0x and 40 hex digits`);
}

function readMatch(value: unknown, name: string): Result<"all" | "any", Refusal> {
  return value === "all" || value === "any" ? ok(value) : badField(`${name} must be "all" or "any"`);
}

const fids = readList(MAX_FILTER_ENTRIES, readFid);
const hashes = readList(MAX_FILTER_ENTRIES, readHash);
const urls = readList(MAX_FILTER_ENTRIES, readText({ min: 1, max: MAX_PARENT_URL_CHARS }));

type FilterTable = Readonly<Record<string, ReadFilter>>;

const castFilters: FilterTable = {
  match: readMatch,
  author_fids: fids,
  exclude_author_fids: fids,
  mentioned_fids: fids,
  parent_urls: urls,
  root_parent_urls: urls,
  parent_hashes: hashes,
  parent_author_fids: fids,
  text: readRegex,
  embeds: readRegex,
  embedded_cast_author_fids: fids,
  embedded_cast_hashes: hashes,
};
const followFilters: FilterTable = { match: readMatch, fids, target_fids: fids };
const reactionFilters: FilterTable = {
  match: readMatch,
  fids,
  target_fids: fids,
  target_cast_hashes: hashes,
};

const filtersByKind: Readonly<Record<EventKind, FilterTable>> = {
  "cast.created": castFilters,
  "cast.deleted": castFilters,
  "follow.created": followFilters,
  "follow.deleted": followFilters,
  "reaction.created": reactionFilters,
  "reaction.deleted": reactionFilters,
  "user.created": { match: readMatch },
  "user.updated": { match: readMatch, fids },
};

/** All kinds of events with the names of their filters. */
export const eventKinds = Object.entries(filtersByKind).map(([kind, filters]) => ({
  kind: kind as EventKind,
  filters: Object.keys(filters),
}));

/** Returns the kind of a key; `cast_created` and `cast.created` are the same. */
function kindOf(key: string): EventKind | undefined {
  const dotted = key.replace("_", ".");
  return Object.hasOwn(filtersByKind, dotted) ? (dotted as EventKind) : undefined;
}

/** Unknown keys come from the client, so they are truncated. */
const shown = (key: string) => JSON.stringify(key.slice(0, 50));

/**
 * Validates and normalizes a subscription: kinds with a dot, hashes in lower case, no empty lists (which have no effect).
 */
export function readSubscription(value: unknown, name: string): Result<Subscription, Refusal> {
  const given = readObject(value, name);
  if (!given.ok) return given;
  const subscription: Partial<Record<EventKind, JsonObject>> = {};
  for (const key of Object.keys(given.value)) {
    const kind = kindOf(key);
    if (kind === undefined) return badField(`${name} has an unknown key ${shown(key)}`);
    if (subscription[kind] !== undefined) return badField(`${name} names ${kind} twice`);
    const filter = readFilter(given.value[key], `${name}.${kind}`, filtersByKind[kind]);
    if (!filter.ok) return filter;
    subscription[kind] = filter.value;
  }
  return Object.keys(subscription).length > 0
    ? ok(subscription as Subscription)
    : badField(`${name} must name at least one kind of event`);
}

function readFilter(value: unknown, name: string, table: FilterTable): Result<JsonObject, Refusal> {
  const given = readObject(value, name);
  if (!given.ok) return given;
  const filter: Record<string, unknown> = {};
  for (const key of Object.keys(given.value)) {
    const read = ownValue(table, key) as ReadFilter | undefined;
    if (read === undefined) return badField(`${name} has an unknown key ${shown(key)}`);
    const parsed = read(given.value[key], `${name}.${key}`);
    if (!parsed.ok) return parsed;
    if (!Array.isArray(parsed.value) || parsed.value.length > 0) filter[key] = parsed.value;
  }
  return ok(filter);
}
