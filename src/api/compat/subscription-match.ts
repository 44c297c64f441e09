/** How the fields of a filter combine by default. */
type Match = "all" | "any";

/**
 * Returns a subscription in which every filter states how its fields combine. The hosted API combines them with "or",
 * this service with "and". Without this step a filter without `match` would mean one thing in compat requests and
 * another in the records of this service.
 *
 * A value that is not an object is returned unchanged, and the service rejects it.
 */
export function withExplicitMatch(subscription: unknown, defaultMatch: Match): unknown {
  if (!isObject(subscription)) return subscription;
  const stated = Object.entries(subscription).map(([kind, filter]) => {
    const isExplicit =
      !isObject(filter) || Object.hasOwn(filter, "match") || Object.keys(filter).length === 0;
    return [kind, isExplicit ? filter : { ...filter, match: defaultMatch }];
  });
  return Object.fromEntries(stated);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
