import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import { type ReactionBody, ReactionType } from "../../protocol/wire/generated/message.ts";

/** What follows of channels are composed with. */
export interface ChannelLookups {
  /** Whether the network has a registrar, whose tokens followers like. */
  readonly hasRegistrar: boolean;
  /** Returns the URI that followers of a registered channel like, by any name of the channel. */
  followUriOf(name: string): string | undefined;
}

/** Longer names are those of no channel. */
const MAX_NAME_CHARS = 1024;

/** Why no one can follow a channel: the network has no registrar yet. */
export const NO_REGISTRAR = "not implemented: the channels of this network have no registrar yet";

/** Makes the body of the like that is a follow of a channel, or of its removal, from `channel_id`. */
export function composeChannelFollow(
  lookups: ChannelLookups,
  request: JsonObject,
): Result<ReactionBody, Refusal> {
  const name = ownValue(request, "channel_id");
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_CHARS)
    return badField(`channel_id must be a text of at most ${MAX_NAME_CHARS} characters`);
  if (!lookups.hasRegistrar) return refused("notImplemented", NO_REGISTRAR);
  const uri = lookups.followUriOf(name);
  if (uri === undefined) return refused("notFound", "no registered channel has this name");
  return ok({
    type: ReactionType.REACTION_TYPE_LIKE,
    target: { $case: "targetUrl", value: uri },
  });
}
