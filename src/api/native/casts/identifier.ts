import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import type { Hash } from "../../../read/hydrate/casts.ts";
import { castOfUrl, parseCastUrl } from "../../../read/queries/casts/cast-of-url.ts";

const HASH = /^0x[0-9a-f]{40}$/i;

/**
 * Returns a function that finds the cast of an identifier. Throws `badRequest` if the identifier is neither a hash
 * nor a cast's URL.
 */
export function castFinder(
  identifier: string,
  type: "hash" | "url",
): (db: IndexDatabase) => Hash | undefined {
  if (type === "hash") {
    if (!HASH.test(identifier)) throw new ApiError("badRequest", "identifier must be 0x and 40 hex digits");
    return () => identifier.toLowerCase() as Hash;
  }
  const url = parseCastUrl(identifier);
  if (!url) throw new ApiError("badRequest", "identifier must be the URL of a cast");
  return (db) => castOfUrl(db, url);
}
