import { ok, type Result } from "../../lib/result.ts";
import type { JsonObject } from "../../management/fields.ts";
import { type Refusal, refused } from "../../management/refusal.ts";
import { type ReactionBody, ReactionType } from "../../protocol/wire/generated/message.ts";
import { NO_SUCH_CHANNEL, readChannelName } from "./fields.ts";

/** The lookups for composing follows of channels. */
export interface ChannelLookups {
  /** Whether the network has a registrar, whose tokens followers like. */
  readonly hasRegistrar: boolean;
  /** Returns the URI that followers of a registered channel like, by any name of the channel. */
  followUriOf(name: string): string | undefined;
}

/** Why no one can follow a channel: the network has no registrar yet. */
export const NO_REGISTRAR = "not implemented: the channels of this network have no registrar yet";

/** Builds the body of a like that represents a follow of a channel, or of its removal, from `channel_id`. */
export function composeChannelFollow(
  lookups: ChannelLookups,
  request: JsonObject,
): Result<ReactionBody, Refusal> {
  const name = readChannelName(request);
  if (!name.ok) return name;
  if (!lookups.hasRegistrar) return refused("notImplemented", NO_REGISTRAR);
  const uri = lookups.followUriOf(name.value);
  if (uri === undefined) return refused("notFound", NO_SUCH_CHANNEL);
  return ok({
    type: ReactionType.REACTION_TYPE_LIKE,
    target: { $case: "targetUrl", value: uri },
  });
}
