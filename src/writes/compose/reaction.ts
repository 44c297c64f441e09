import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import { type ReactionBody, ReactionType } from "../../protocol/wire/generated/message.ts";
import { type CastLookups, resolveCastOrUrl } from "./fields.ts";

const TYPES: ReadonlyMap<unknown, ReactionType> = new Map([
  ["like", ReactionType.REACTION_TYPE_LIKE],
  ["recast", ReactionType.REACTION_TYPE_RECAST],
]);

/** Builds the body of a reaction, or of its removal, from `reaction_type`, `target` and `target_author_fid`. */
export function composeReaction(lookups: CastLookups, request: JsonObject): Result<ReactionBody, Refusal> {
  const type = TYPES.get(ownValue(request, "reaction_type"));
  if (type === undefined) return badField("reaction_type must be like or recast");
  const names = { field: "target", authorField: "target_author_fid" };
  const target = resolveCastOrUrl(
    lookups,
    ownValue(request, "target"),
    names,
    ownValue(request, "target_author_fid"),
  );
  if (!target.ok) return target;
  return ok({
    type,
    target:
      "castId" in target.value
        ? { $case: "targetCastId", value: target.value.castId }
        : { $case: "targetUrl", value: target.value.url },
  });
}
