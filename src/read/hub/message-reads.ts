import { ok, type Result } from "../../lib/result.ts";
import { ReactionType, UserDataType } from "../../protocol/wire/generated/message.ts";
import { type ReadContext, readOne } from "./context.ts";
import { invalidParam, notFound, type Refusal } from "./refusal.ts";
import {
  findCast,
  findLink,
  findReaction,
  findUserData,
  findVerification,
  hashError,
  type Target,
  targetError,
} from "./single-messages.ts";
import type { StoredMessage } from "./stored-message.ts";

type Found = Result<StoredMessage, Refusal>;

/** Reads of one live message. */
export interface MessageReads {
  cast(query: { fid: number; hash: Uint8Array }): Found;
  reaction(query: { fid: number; reactionType: number; target: Target | undefined }): Found;
  link(query: { fid: number; linkType: string; targetFid: number | undefined }): Found;
  /** Finds a message of an empty value, too. */
  userData(query: { fid: number; userDataType: number }): Found;
  verification(query: { fid: number; address: Uint8Array }): Found;
}

const REACTION_TYPES: readonly number[] = [
  ReactionType.REACTION_TYPE_LIKE,
  ReactionType.REACTION_TYPE_RECAST,
];
const USER_DATA_TYPES = new Set(
  Object.values(UserDataType).filter((type) => typeof type === "number" && type > 0),
);

export function createMessageReads(context: ReadContext): MessageReads {
  return {
    cast: ({ fid, hash }) =>
      readOne(context, fid, "all", () => hashError(hash) ?? found(findCast(context, fid, hash), "cast")),
    reaction: ({ fid, reactionType, target }) =>
      readOne(context, fid, "all", () => {
        if (!REACTION_TYPES.includes(reactionType)) return invalidParam("reaction_type is required");
        if (target === undefined) return invalidParam("a target is required");
        return targetError(target, "") ?? found(findReaction(context, fid, reactionType, target), "reaction");
      }),
    link: ({ fid, linkType, targetFid }) =>
      readOne(context, fid, "all", () =>
        targetFid === undefined
          ? invalidParam("target_fid is required")
          : found(findLink(context, fid, linkType, targetFid), "link"),
      ),
    userData: ({ fid, userDataType }) =>
      readOne(context, fid, "profile", () =>
        USER_DATA_TYPES.has(userDataType)
          ? found(findUserData(context, fid, userDataType), "user data")
          : invalidParam("Invalid user data type"),
      ),
    verification: ({ fid, address }) =>
      readOne(context, fid, "profile", () => found(findVerification(context, fid, address), "verification")),
  };
}

function found(message: StoredMessage | undefined, what: string): Found {
  return message === undefined ? notFound(what) : ok(message);
}
