import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import {
  BansRequest,
  MAX_BANS_PER_REQUEST,
  type Moderation,
  type ModerationActor,
  moderationEntries,
  readBans,
} from "../../../moderation/moderation-service.ts";
import { type Ban, MODERATION_BOUNDS } from "../../../moderation/moderation-store.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../../../read/cursor.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import type { ApiDeps } from "../../deps.ts";
import { Fid, Next, object, UnixSecs } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { signed, signedRead } = topic({ tag: "Blocks", surface: "native" });

const BAN_SHAPE = ["int", "int"] as const;
export const bansCursor = cursorCodec("ban/list", BAN_SHAPE);

/** Returns a page of an owner's bans. */
export async function pageOfBans(
  moderation: Pick<Moderation, "bans">,
  ownerFid: number,
  { limit, after }: { readonly limit: number; readonly after: Key<typeof BAN_SHAPE> | undefined },
): Promise<Page<Ban>> {
  const rows = await moderation.bans(ownerFid, {
    limit: limit + 1,
    after: after && { bannedAt: after[0], fid: after[1] },
  });
  return cutPage(rows, limit, ({ bannedAt, fid }) => bansCursor.encode([bannedAt, fid]));
}

/**
 * Bans the users of a request or lifts their bans, and records the first of them in the audit log.
 *
 * @throws ApiError `badRequest` naming the field, `conflict` beyond the bound
 */
export async function changeBans(
  { moderation, reads: { clock } }: Pick<ApiDeps, "moderation" | "reads">,
  actor: ModerationActor,
  action: "ban.add" | "ban.remove",
  body: unknown,
): Promise<number> {
  const { ownerFid, apiKeyId } = actor;
  const fids = unwrapOrThrow(readBans(body, action === "ban.add" ? ownerFid : undefined));
  const entries = moderationEntries(actor, action, fids, clock);
  if (action === "ban.remove") await moderation.unban(ownerFid, fids, entries);
  else if (!(await moderation.ban(ownerFid, fids, { keyId: apiKeyId, nowSecs: nowSecs(clock) }, entries)))
    throw new ApiError("conflict", `an owner bans at most ${MODERATION_BOUNDS.bans} users`);
  return fids.length;
}

const BansResponse = object({
  bans: Type.Array(object({ fid: Fid, banned_at: UnixSecs("When it started") })),
  next: Next,
});
const Changed = object({ changed: Type.Integer({ minimum: 1, description: "The fids of the request" }) });

const fids = {
  type: "fids",
  isRequired: true,
  help: `the users; at most ${MAX_BANS_PER_REQUEST} at a time`,
} as const;
/** Enough for a thousand fids with 20 digits. */
const MAX_BODY_BYTES = 32 * 1024;
const shared = {
  path: "/moderation/bans",
  session: { access: "operate" },
  maxBodyBytes: MAX_BODY_BYTES,
  body: BansRequest,
  response: Changed,
} as const;

/** An owner's bans, for signatures and sessions. API keys manage them under the paths of the hosted API. */
export const appBanOperations = [
  signed({
    ...shared,
    id: "addAppBans",
    method: "POST",
    op: "ban.add",
    command: { usage: "bans add", help: "ban users from the app of the fid", flags: { fids } },
    summary: "Ban users from the app of an owner",
    description:
      "Reads under the owner's API keys leave out banned users; sends skip them, and so do webhooks and streams that exclude bans. A user who " +
      "is banned already stays so.",
    errors: ["conflict"],
    run: async (deps, { body, ...request }) => ({
      changed: await changeBans(deps, actorOf(request), "ban.add", body),
    }),
  }),
  signed({
    ...shared,
    id: "removeAppBans",
    method: "DELETE",
    op: "ban.remove",
    command: { usage: "bans remove", help: "lift bans of users", flags: { fids } },
    summary: "Lift bans of users",
    description: "A user who is not banned stays so.",
    run: async (deps, { body, ...request }) => ({
      changed: await changeBans(deps, actorOf(request), "ban.remove", body),
    }),
  }),
  signedRead({
    id: "listAppBans",
    path: "/moderation/bans",
    op: "ban.read",
    command: { usage: "bans list", help: "list the users that the app of the fid bans, newest ban first" },
    summary: "Users that the app of an owner bans, newest ban first",
    query: page(),
    response: BansResponse,
    async run({ moderation }, { fid, query }) {
      const after = decodeCursor(bansCursor, query.cursor);
      const { rows, cursor } = await pageOfBans(moderation, fid, { limit: query.limit, after });
      return { bans: rows.map((row) => ({ fid: row.fid, banned_at: row.bannedAt })), next: { cursor } };
    },
  }),
];

function actorOf({ fid, apiKeyId, requestId, address }: Omit<ModerationActor, "ownerFid"> & { fid: number }) {
  return { ownerFid: fid, apiKeyId, requestId, address };
}
