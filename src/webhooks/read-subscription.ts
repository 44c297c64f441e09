import { ok, type Result } from "../lib/result.ts";
import { type JsonObject, readObject } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import { filtersOf, type Subscription } from "./subscription.ts";
import { eventKinds, SubscriptionSchema } from "./subscription-schema.ts";

const readNormal = schemaReader(SubscriptionSchema);
const kindsBySpelling = new Map<string, string>(
  eventKinds.map(({ kind }) => [kind.replaceAll(".", "_"), kind]),
);
const PROTOCOL_ID = /^0x[0-9a-f]{64}$/i;

/**
 * Validates and normalizes a subscription: kinds with dots (`cast_created` and `cast.created` are the same), lowercase hashes, no empty
 * lists (which have no effect).
 *
 * @param options.acceptsScores whether this node uses scores, so that a filter by score has an effect; default: false
 */
export function readSubscription(
  value: unknown,
  name: string,
  { acceptsScores }: { readonly acceptsScores: boolean } = { acceptsScores: false },
): Result<Subscription, Refusal> {
  const given = readObject(value, name);
  if (!given.ok) return given;
  const dotted = new Map<string, unknown>();
  for (const [key, filter] of Object.entries(given.value)) {
    const kind = kindsBySpelling.get(key) ?? key;
    if (dotted.has(kind)) return badField(`${name} names ${kind} twice`);
    dotted.set(kind, filter);
  }
  if (!dotted.keys().some((kind) => kind !== "exclude"))
    return badField(`${name} must name at least one kind of event`);
  const subscription = readNormal(Object.fromEntries(dotted), name);
  if (!subscription.ok) return subscription;
  const scored = filtersOf(subscription.value).find(
    ([, filter]) => filter.minimum_author_score !== undefined,
  );
  if (scored && !acceptsScores)
    return badField(
      `${name}.${scored[0]}.minimum_author_score has no effect on this node: scores.enforce does not list webhooks`,
    );
  const filters = Object.entries(subscription.value as Readonly<Record<string, JsonObject>>);
  return ok(Object.fromEntries(filters.map(([kind, filter]) => [kind, normalize(filter)])) as Subscription);
}

function normalize(filter: JsonObject): JsonObject {
  const fields = Object.entries(filter).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return Object.fromEntries(
    fields.map(([key, value]) => {
      if (key.endsWith("_hashes")) return [key, (value as string[]).map((hash) => hash.toLowerCase())];
      return [key, key === "channel_ids" ? (value as string[]).map(normalChannelId) : value];
    }),
  );
}

/** Returns a channel's protocol id in lowercase. A name is compared byte for byte, so it stays unchanged. */
export function normalChannelId(id: string): string {
  return PROTOCOL_ID.test(id) ? id.toLowerCase() : id;
}
