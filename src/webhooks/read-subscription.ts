import { ok, type Result } from "../lib/result.ts";
import { type JsonObject, readObject } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import type { Subscription } from "./subscription.ts";
import { eventKinds, SubscriptionSchema } from "./subscription-schema.ts";

const readNormal = schemaReader(SubscriptionSchema);
const knownKinds: ReadonlySet<string> = new Set(eventKinds.map(({ kind }) => kind));

/**
 * Validates and normalizes a subscription: kinds with a dot (`cast_created` and `cast.created` are the same), hashes in
 * lower case, no empty lists (which have no effect).
 */
export function readSubscription(value: unknown, name: string): Result<Subscription, Refusal> {
  const given = readObject(value, name);
  if (!given.ok) return given;
  const dotted = new Map<string, unknown>();
  for (const [key, filter] of Object.entries(given.value)) {
    const withDot = key.replace("_", ".");
    const kind = knownKinds.has(withDot) ? withDot : key;
    if (dotted.has(kind)) return badField(`${name} names ${kind} twice`);
    dotted.set(kind, filter);
  }
  if (dotted.size === 0) return badField(`${name} must name at least one kind of event`);
  const subscription = readNormal(Object.fromEntries(dotted), name);
  if (!subscription.ok) return subscription;
  const filters = Object.entries(subscription.value as Readonly<Record<string, JsonObject>>);
  return ok(Object.fromEntries(filters.map(([kind, filter]) => [kind, normalize(filter)])) as Subscription);
}

function normalize(filter: JsonObject): JsonObject {
  const fields = Object.entries(filter).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return Object.fromEntries(
    fields.map(([key, value]) => [
      key,
      key.endsWith("_hashes") ? (value as string[]).map((hash) => hash.toLowerCase()) : value,
    ]),
  );
}
