/** How a field of a response differs from the recorded one. */
export type DifferenceKind = "missing" | "added" | "type" | "null" | "value" | "row missing" | "row added";

/** A field that differs. Items of a list share a name: `users[].fid`. */
export interface Difference {
  readonly field: string;
  readonly kind: DifferenceKind;
  /** Undefined if there is none. */
  readonly there: unknown;
  readonly here: unknown;
}

const MAX_DEPTH = 24;
const MAX_DIFFERENCES = 2_000;
/** Their values are specific to one server. */
const OPAQUE = new Set(["cursor", "request_id"]);

/**
 * Returns the fields in which a response differs from a recorded one. List items are matched by identity (hash, fid, id), so that a row
 * that only one side has does not shift the others.
 */
export function differences(there: unknown, here: unknown): Difference[] {
  const found: Difference[] = [];
  const push = (difference: Difference) => {
    if (found.length < MAX_DIFFERENCES) found.push(difference);
  };

  function compare(field: string, one: unknown, other: unknown, depth: number): void {
    if (depth > MAX_DEPTH) return;
    const [kind, otherKind] = [kindOf(one), kindOf(other)];
    const add = (what: DifferenceKind) => push({ field, kind: what, there: one, here: other });
    if (kind !== otherKind) add(kind === "null" || otherKind === "null" ? "null" : "type");
    else if (Array.isArray(one) && Array.isArray(other)) compareLists(`${field}[]`, one, other, depth);
    else if (kind === "object") compareObjects(field, one as Fields, other as Fields, depth);
    else if (one !== other && !OPAQUE.has(field.slice(field.lastIndexOf(".") + 1))) add("value");
  }

  function compareObjects(field: string, one: Fields, other: Fields, depth: number): void {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const inner = field === "" ? name : `${field}.${name}`;
      const [hasThere, hasHere] = [Object.hasOwn(one, name), Object.hasOwn(other, name)];
      if (hasThere && hasHere) compare(inner, one[name], other[name], depth + 1);
      else
        push({
          field: inner,
          kind: hasThere ? "missing" : "added",
          there: one[name],
          here: other[name],
        });
    }
  }

  function compareLists(
    field: string,
    one: readonly unknown[],
    other: readonly unknown[],
    depth: number,
  ): void {
    const [there, here] = [byIdentity(one), byIdentity(other)];
    for (const [key, item] of there) {
      if (here.has(key)) compare(field, item, here.get(key), depth + 1);
      else push({ field, kind: "row missing", there: key, here: undefined });
    }
    for (const key of here.keys())
      if (!there.has(key)) push({ field, kind: "row added", there: undefined, here: key });
  }

  compare("", there, here, 0);
  return found;
}

type Fields = Readonly<Record<string, unknown>>;

const kindOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Returns items by identity, or by position if that is unknown or not unique. */
function byIdentity(items: readonly unknown[]): ReadonlyMap<string, unknown> {
  const named = new Map(items.map((item) => [identityOf(item), item] as const));
  if (named.size === items.length && !named.has(undefined)) return named as ReadonlyMap<string, unknown>;
  return new Map(items.map((item, at) => [`#${at}`, item]));
}

function identityOf(item: unknown): string | undefined {
  if (typeof item === "string" || typeof item === "number") return String(item);
  if (typeof item !== "object" || item === null) return undefined;
  const { hash, fid, id, user, cast, channel } = item as Fields;
  const own = [hash, fid, id].find((value) => typeof value === "string" || typeof value === "number");
  if (own !== undefined) return String(own);
  const inner = [cast, user, channel].find((value) => typeof value === "object" && value !== null);
  return inner === undefined ? undefined : identityOf(inner);
}
