/** How the fields of a filter combine where it does not say. */
type Match = "all" | "any";

/**
 * A subscription in which every filter says how its fields combine. The hosted API joins them by "or", this service by
 * "and", so that a filter which does not say so means one thing in requests there and another in records here.
 *
 * What is no object is left as it is, for the service to refuse.
 */
export function withStatedMatch(subscription: unknown, unstated: Match): unknown {
  if (!isObject(subscription)) return subscription;
  const stated = Object.entries(subscription).map(([kind, filter]) => {
    const says = !isObject(filter) || Object.hasOwn(filter, "match") || Object.keys(filter).length === 0;
    return [kind, says ? filter : { ...filter, match: unstated }];
  });
  return Object.fromEntries(stated);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
