import { flag, optionalFlag } from "../../../http/request/word-params.ts";
import type { CastRulesRequest } from "../../../read/queries/channels/cast-rules.ts";

/** The parameters of lists of casts in registered channels. */

export const HIDDEN =
  "Leaves out what moderators of registered channels have hidden, and casts of users who are banned there.";

export const moderationParams = () => ({
  members_only: optionalFlag({
    description:
      "In registered channels, only casts of those who are owner, moderator or member now; without it, as the channel's settings say",
  }),
  should_moderate: flag(false, {
    description: "In registered channels, only casts that the owner or a moderator likes",
  }),
});

export interface ModerationQuery {
  readonly members_only: boolean | undefined;
  readonly should_moderate: boolean;
}

export function rulesOf({ members_only, should_moderate }: ModerationQuery): CastRulesRequest {
  return { membersOnly: members_only, shouldModerate: should_moderate };
}
