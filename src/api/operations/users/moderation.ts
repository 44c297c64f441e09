import { type Static, Type } from "@sinclair/typebox";
import { callerOf, exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { fid } from "../../../http/request/params.ts";
import { requireKey } from "../../../http/route-terms.ts";
import { BansRequest, type ModerationActor } from "../../../moderation/moderation-service.ts";
import { MODERATION_BOUNDS } from "../../../moderation/moderation-store.ts";
import { cutPage, type Page } from "../../../read/cursor.ts";
import { presentBans, presentMutes } from "../../../read/present/compat/relations.ts";
import { type DatedUser, mutes } from "../../../read/queries/users/links.ts";
import { visiblePage } from "../../../read/rules/visible-page.ts";
import { runQuery } from "../../../read/run-query.ts";
import { compatPage } from "../../dialects/compat.ts";
import { CompatUser, IsoTime } from "../../dialects/compat-objects.ts";
import { type Assignable, Next, object } from "../../dialects/fields.ts";
import { type Call, documentedOnly, unserved } from "../../op.ts";
import { decodeCursor } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { NO_NATIVE_WRITES } from "../unserved.ts";
import { bansCursor, changeBans, pageOfBans } from "./app-bans.ts";

const { op } = topic({ tag: "Blocks", surface: "compat" });

const BanResult = object({ success: Type.Literal(true), message: Type.Null() });

const BansResponse = object({
  bans: Type.Array(
    object({ object: Type.Literal("ban"), banned: CompatUser, banned_at: IsoTime("When it started") }),
  ),
  next: Next,
});

const MutesResponse = object({
  mutes: Type.Array(
    object({ object: Type.Literal("mute"), muted: CompatUser, muted_at: IsoTime("When it started") }),
  ),
  next: Next,
});

const BANS =
  "Reads under any API key of the same owner leave out banned users, with and without a viewer. A ban is not a message of the protocol.";
const SCOPE = "Needs an API key with the scope `moderate`.";

const ban = { path: "/ban", tag: "Blocks" } as const;
const publishBans = { ...ban, id: "publishBans", method: "POST", summary: "Ban users from an app" } as const;
const deleteBans = { ...ban, id: "deleteBans", method: "DELETE", summary: "Unban users" } as const;

const write = {
  security: "apiKey",
  access: requireKey("moderate"),
  body: documentedOnly(BansRequest),
  isRaw: true,
  response: BanResult,
  errors: ["forbidden", "conflict", "tooManyRequests", "unavailable"],
} as const;

export const moderationOperations = [
  op({
    ...publishBans,
    ...write,
    description: `${BANS} A user who is banned already stays so. Beyond ${MODERATION_BOUNDS.bans} bans it is 409. ${SCOPE}`,
    async run(deps, call) {
      await changeBans(deps, actorOf(call), "ban.add", parseBody(rawBody(call.request)));
      return { success: true, message: null };
    },
  }),
  unserved({ ...publishBans, surface: "native", ...NO_NATIVE_WRITES }),
  op({
    ...deleteBans,
    ...write,
    description: `${SCOPE} A user who is not banned stays so.`,
    async run(deps, call) {
      await changeBans(deps, actorOf(call), "ban.remove", parseBody(rawBody(call.request)));
      return { success: true, message: null };
    },
  }),
  unserved({ ...deleteBans, surface: "native", ...NO_NATIVE_WRITES }),
  op({
    id: "getBans",
    path: "/ban/list",
    price: perRows(2),
    cache: "sharedWithoutKey",
    summary: "Users that the app of the API key has banned, newest ban first",
    description: "Empty without a key.",
    query: compatPage(),
    response: BansResponse,
    async run({ reads, moderation }, { request, query }) {
      const after = decodeCursor(bansCursor, query.cursor);
      const caller = callerOf(request);
      const { rows, cursor } =
        caller.kind === "apiKey"
          ? await pageOfBans(moderation, caller.ownerFid, { limit: query.limit, after })
          : { rows: [], cursor: null };
      const dated = rows.map((row) => ({ fid: row.fid, at: row.bannedAt }));
      return runQuery(
        reads,
        () => ({ rows: dated, cursor }),
        (page) => ({ fids: page.rows.map((row) => row.fid), viewerFid: query.viewer_fid }),
        presentBans,
      );
    },
  }),
  op({
    id: "getMutes",
    path: "/mute/list",
    cache: "sharedWithoutKey",
    summary: "Users that a user mutes, newest mute first",
    description: "Public mutes, and under an API key those that the user has made in the app of its owner.",
    query: { fid: fid(), ...compatPage() },
    response: MutesResponse,
    async run({ reads, moderation }, { request, query }) {
      const after = decodeCursor(mutes.cursor, query.cursor);
      const caller = callerOf(request);
      const own = caller.kind === "apiKey" ? await moderation.mutes(caller.ownerFid, query.fid) : [];
      const ownRows = own.map(({ mutedFid, mutedAt }) => ({ fid: mutedFid, at: mutedAt }));
      return runQuery(
        reads,
        (db) =>
          mergedMutes(ownRows, { limit: query.limit, after }, (page) =>
            mutes(db, { fid: query.fid, ...page }),
          ),
        (page) => ({ fids: page.rows.map((row) => row.fid), viewerFid: query.viewer_fid }),
        presentMutes,
      );
    },
  }),
];

type Position = readonly [at: number, fid: number];

/** Merges a user's private mutes, which are few, with a list of public ones. A user in both is shown once, as the private one. */
function mergedMutes(
  own: readonly DatedUser[],
  { limit, after }: { readonly limit: number; readonly after: Position | undefined },
  readLinks: (page: { readonly limit: number; readonly after: Position | undefined }) => Page<DatedUser>,
): Page<DatedUser> {
  const isOwn = new Set(own.map(({ fid: muted }) => muted));
  const { cursor } = mutes;
  const links = visiblePage(
    { limit: limit + 1, after, cursor },
    isOwn.size === 0 ? undefined : (rows) => rows.filter(({ fid: muted }) => !isOwn.has(muted)),
    readLinks,
  );
  const order = (a: DatedUser, b: DatedUser) => b.at - a.at || b.fid - a.fid;
  const rest = own.filter((row) => !after || order({ at: after[0], fid: after[1] }, row) < 0);
  return cutPage([...rest, ...links.rows].sort(order).slice(0, limit + 1), limit, (last) =>
    cursor.encode([last.at, last.fid]),
  );
}

/** Returns the owner of the request's API key. */
function actorOf({ request }: Call): ModerationActor {
  const { ownerFid, apiKeyId } = keyCallerOf(request);
  const { requestId, client } = exchangeOf(request);
  return { ownerFid, apiKeyId, requestId, address: client().address };
}

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentBans>, Static<typeof BansResponse>> &
  Assignable<ReturnType<typeof presentMutes>, Static<typeof MutesResponse>>;
