import { ok, type Result } from "../../lib/result.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import type { LinkBody } from "../../protocol/wire/generated/message.ts";
import { readFid } from "./fields.ts";

const MAX_TARGETS = 100;

export type LinkType = "follow" | "block" | "mute";

/** Returns the body of a link, or of its removal. It has no display time, so the message's own is shown. */
export function linkBody(type: LinkType, targetFid: number): LinkBody {
  return { type, target: { $case: "targetFid", value: targetFid } };
}

/** Reads `target_fids` of a follow: 1 to 100 fids, without duplicates, in the order sent. */
export function readTargetFids(value: unknown): Result<number[], Refusal> {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_TARGETS) {
    return badField(`target_fids must be an array of 1 to ${MAX_TARGETS} fids`);
  }
  const fids = new Set<number>();
  for (const entry of value) {
    const fid = readFid(entry, "every entry of target_fids");
    if (!fid.ok) return fid;
    fids.add(fid.value);
  }
  return ok([...fids]);
}

/** Reads the target of a block or a mute: a registered fid other than the own one. */
export function readTargetFid(
  value: unknown,
  name: string,
  { ownFid, isRegistered }: { readonly ownFid: number; readonly isRegistered: (fid: number) => boolean },
): Result<number, Refusal> {
  const fid = readFid(value, name);
  if (!fid.ok) return fid;
  if (fid.value === ownFid) return badField(`${name} is the own fid`);
  return isRegistered(fid.value) ? fid : refused("notFound", `${name} is not a registered fid`);
}
