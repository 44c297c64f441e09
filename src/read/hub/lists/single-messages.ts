import { storedLinkType } from "../../../db/index/messages/columns.ts";
import { findUrlId } from "../../../db/index/project/cast-references/named-ids.ts";
import { statement } from "../../../db/index/statement.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { Store } from "../../../protocol/message/merge-rules.ts";
import { ReactionType, UserDataType } from "../../../protocol/wire/generated/message.ts";
import { type ReadContext, readOne } from "../context.ts";
import { invalidParam, notFound, type Refusal, refuse } from "../refusal.ts";
import {
  type MessageDb,
  type StoredMessage,
  storedCasts,
  storedLinks,
  storedOthers,
  storedReactions,
  storedUserData,
} from "../stored-message.ts";

/** Finds live messages by what makes them unique. */

const castByHash = storedCasts.where<[fid: number, hash: Uint8Array]>(
  "hub.cast",
  "substr(t.hash, 1, 6) = substr(?2, 1, 6) AND t.hash = ?2 AND t.fid = ?1",
);
const reactionBySlot = storedReactions.where<
  [fid: number, targetFid: number, targetId: number, type: number]
>("hub.reaction", "t.fid = ? AND t.target_fid = ? AND t.target_id = ? AND t.type = ?");
const linkBySlot = storedLinks.where<[fid: number, type: number | string, targetFid: number]>(
  "hub.link",
  "t.fid = ? AND t.type = ? AND t.target_fid = ?",
);
const userDataBySlot = storedUserData.where<[fid: number, type: number]>(
  "hub.user-data",
  "t.fid = ? AND t.type = ?",
);
const addBySlot = storedOthers.where<[fid: number, store: number, slot: Uint8Array]>(
  "hub.add-by-slot",
  "t.fid = ? AND t.store = ? AND t.slot = ? AND t.kind = 0",
);
// While rows move to a new id of their cast, both ids name it.
const castIds = statement<{ id: number }, [hash: Uint8Array, fid: number]>(
  "hub.cast-ids",
  `SELECT id FROM casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND fid = ?2
   UNION ALL
   SELECT id FROM missing_casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND fid = ?2`,
);

/** A cast, live or not, or a URL. */
export type Target = { readonly fid: number; readonly hash: Uint8Array } | { readonly url: string };

/** Returns the ids by which rows name a target: none, one, or two for a cast whose rows are being moved. */
export function idsOfTarget({ db }: MessageDb, target: Target): number[] {
  if (!("url" in target)) return db.all(castIds, target.hash, target.fid).map(({ id }) => id);
  const id = findUrlId(db, target.url);
  return id === undefined ? [] : [id];
}

const HASH_BYTES = 20;

/** Returns the refusal of a hash whose length is not that of a message hash. */
function hashError(hash: Uint8Array): ReturnType<typeof refuse> | undefined {
  return hash.length === HASH_BYTES ? undefined : invalidParam(`a hash has ${HASH_BYTES} bytes`);
}

/** Returns the refusal of a request without a target, with `missing` as its text, or with a hash of the wrong length. */
export function targetError(
  target: Target | undefined,
  missing: string,
): ReturnType<typeof refuse> | undefined {
  if (target === undefined) return refuse("not_found", missing);
  return "url" in target ? undefined : hashError(target.hash);
}

function findCast(on: MessageDb, fid: number, hash: Uint8Array): StoredMessage | undefined {
  const row = on.db.get(castByHash, fid, hash);
  return row && storedCasts.message(on, row);
}

function findReaction(on: MessageDb, fid: number, type: number, target: Target): StoredMessage | undefined {
  const targetFid = "url" in target ? 0 : target.fid;
  for (const id of idsOfTarget(on, target)) {
    const row = on.db.get(reactionBySlot, fid, targetFid, id, type);
    if (row) return storedReactions.message(on, row);
  }
  return undefined;
}

function findLink(on: MessageDb, fid: number, type: string, targetFid: number): StoredMessage | undefined {
  const row = on.db.get(linkBySlot, fid, storedLinkType(type), targetFid);
  return row && storedLinks.message(on, row);
}

function findUserData(on: MessageDb, fid: number, type: number): StoredMessage | undefined {
  const row = on.db.get(userDataBySlot, fid, type);
  return row && storedUserData.message(on, row);
}

function findVerification(on: MessageDb, fid: number, address: Uint8Array): StoredMessage | undefined {
  const row = on.db.get(addBySlot, fid, Store.Verifications, address);
  return row && storedOthers.message(on, row);
}

type Found = Result<StoredMessage, Refusal>;

/** Reads of a single live message. */
export interface MessageReads {
  cast(query: { fid: number; hash: Uint8Array }): Found;
  reaction(query: { fid: number; reactionType: number; target: Target | undefined }): Found;
  link(query: { fid: number; linkType: string; targetFid: number | undefined }): Found;
  /** Finds messages with an empty value too. */
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
