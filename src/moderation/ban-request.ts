import { Type } from "@sinclair/typebox";
import { ok, type Result } from "../lib/result.ts";
import { ownValue, readObject } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { FidNumber } from "../management/request-schema.ts";

/** The most fids of one request. */
export const MAX_BANS_PER_REQUEST = 1_000;

export const BansRequest = Type.Object(
  { fids: Type.Array(FidNumber, { minItems: 1, maxItems: MAX_BANS_PER_REQUEST, uniqueItems: true }) },
  { $id: "BansRequest" },
);

/** Reads the fids of a request. Those who are not registered count, too. @param ownFid one that is refused. */
export function readBans(value: unknown, ownFid: number | undefined): Result<readonly number[], Refusal> {
  const body = readObject(value, "request body");
  if (!body.ok) return body;
  const given = ownValue(body.value, "fids");
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_BANS_PER_REQUEST)
    return badField(`fids must be an array of 1 to ${MAX_BANS_PER_REQUEST} fids`);
  const fids = new Set<number>();
  for (const entry of given) {
    if (!Number.isSafeInteger(entry) || entry <= 0) return badField("every entry of fids must be an fid");
    if (entry === ownFid) return badField("fids must not contain the owner of the bans");
    fids.add(entry);
  }
  return fids.size === given.length ? ok([...fids]) : badField("fids must be distinct");
}
