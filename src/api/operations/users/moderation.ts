import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { callerOf, exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { fid } from "../../../http/request/params.ts";
import { requireKey } from "../../../http/route-terms.ts";
import type { Result } from "../../../lib/result.ts";
import { ok } from "../../../lib/result.ts";
import { type JsonObject, ownValue, readObject } from "../../../management/fields.ts";
import { badField, type Refusal } from "../../../management/refusal.ts";
import { MODERATION_BOUNDS } from "../../../moderation/moderation-store.ts";
import { cursorCodec, cutPage, type Page } from "../../../read/cursor.ts";
import { presentBans, presentMutes } from "../../../read/present/compat/relations.ts";
import { type DatedUser, linkTargets, targetCursors } from "../../../read/queries/users/links.ts";
import { visiblePage } from "../../../read/rules/visible-page.ts";
import { runQuery } from "../../../read/run-query.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { readFid } from "../../../writes/compose/fields.ts";
import type { ApiDeps } from "../../deps.ts";
import { compatPage } from "../../dialects/compat.ts";
import { CompatUser, IsoTime } from "../../dialects/compat-objects.ts";
import { type Assignable, closed, Fid, Next } from "../../dialects/fields.ts";
import { type Call, documentedOnly, unserved } from "../../op.ts";
import { decodeCursor, unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { NO_NATIVE_WRITES } from "../unserved.ts";

const { op } = topic({ tag: "Blocks", surface: "compat" });

const MAX_FIDS = 1_000;
/** Entries of the audit log for one request. */
const MAX_AUDITED = 20;

const BansRequest = Type.Object({
  fids: Type.Array(Fid, { minItems: 1, maxItems: MAX_FIDS, uniqueItems: true }),
});

const BanResult = Type.Object({ success: Type.Literal(true), message: Type.Null() }, closed);

const BansResponse = Type.Object(
  {
    bans: Type.Array(
      Type.Object(
        { object: Type.Literal("ban"), banned: CompatUser, banned_at: IsoTime("When it started") },
        closed,
      ),
    ),
    next: Next,
  },
  closed,
);

const MutesResponse = Type.Object(
  {
    mutes: Type.Array(
      Type.Object(
        { object: Type.Literal("mute"), muted: CompatUser, muted_at: IsoTime("When it started") },
        closed,
      ),
    ),
    next: Next,
  },
  closed,
);

const BANS =
  "Reads under any API key of the same owner leave out banned users, with and without a viewer. A ban is not a message of the protocol.";
const SCOPE = "Needs an API key with the scope `write`.";

const bansCursor = cursorCodec("ban/list", ["int", "int"]);

const ban = { path: "/ban", tag: "Blocks" } as const;
const publishBans = { ...ban, id: "publishBans", method: "POST", summary: "Ban users from an app" } as const;
const deleteBans = { ...ban, id: "deleteBans", method: "DELETE", summary: "Unban users" } as const;

const write = {
  security: "apiKey",
  access: requireKey("write"),
  body: documentedOnly(BansRequest),
  isRaw: true,
  response: BanResult,
  errors: ["forbidden", "conflict", "tooManyRequests", "unavailable"],
} as const;

export const moderationOperations = [
  op({
    ...publishBans,
    ...write,
    description: `${BANS} A user who is banned already stays so. At most ${MODERATION_BOUNDS.bans} an owner, else 409. ${SCOPE}`,
    async run(deps, call) {
      const { ownerFid, apiKeyId } = keyCallerOf(call.request);
      const fids = unwrapOrThrow(readFids(bodyOf(call), ownerFid));
      const by = { keyId: apiKeyId, nowSecs: nowSecs(deps.reads.clock) };
      if (!(await deps.moderation.ban(ownerFid, fids, by)))
        throw new ApiError("conflict", `an owner bans at most ${MODERATION_BOUNDS.bans} users`);
      await record(deps, call, "ban.add", fids);
      return { success: true, message: null };
    },
  }),
  unserved({ ...publishBans, surface: "native", when: NO_NATIVE_WRITES }),
  op({
    ...deleteBans,
    ...write,
    description: `${SCOPE} A user who is not banned stays so.`,
    async run(deps, call) {
      const { ownerFid } = keyCallerOf(call.request);
      const fids = unwrapOrThrow(readFids(bodyOf(call), undefined));
      await deps.moderation.unban(ownerFid, fids);
      await record(deps, call, "ban.remove", fids);
      return { success: true, message: null };
    },
  }),
  unserved({ ...deleteBans, surface: "native", when: NO_NATIVE_WRITES }),
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
      const rows =
        caller.kind === "apiKey"
          ? await moderation.bans(caller.ownerFid, {
              limit: query.limit + 1,
              after: after && { bannedAt: after[0], fid: after[1] },
            })
          : [];
      const dated = rows.map((row) => ({ fid: row.fid, at: row.bannedAt }));
      return runQuery(
        reads,
        () => cutPage(dated, query.limit, ({ at, fid: last }) => bansCursor.encode([at, last])),
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
      const after = decodeCursor(targetCursors.mute, query.cursor);
      const caller = callerOf(request);
      const own = caller.kind === "apiKey" ? await moderation.mutes(caller.ownerFid, query.fid) : [];
      const ownRows = own.map(({ mutedFid, mutedAt }) => ({ fid: mutedFid, at: mutedAt }));
      return runQuery(
        reads,
        (db) =>
          mergedMutes(ownRows, { limit: query.limit, after }, (page) =>
            linkTargets(db, "mute", { fid: query.fid, ...page }),
          ),
        (page) => ({ fids: page.rows.map((row) => row.fid), viewerFid: query.viewer_fid }),
        presentMutes,
      );
    },
  }),
];

type Position = readonly [at: number, fid: number];

/** Merges the private mutes of a user, which are few, with a list of public ones. A user of both is shown once, as the private one. */
function mergedMutes(
  own: readonly DatedUser[],
  { limit, after }: { readonly limit: number; readonly after: Position | undefined },
  readLinks: (page: { readonly limit: number; readonly after: Position | undefined }) => Page<DatedUser>,
): Page<DatedUser> {
  const isOwn = new Set(own.map(({ fid: muted }) => muted));
  const cursor = targetCursors.mute;
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

function bodyOf({ request }: Call): JsonObject {
  return unwrapOrThrow(readObject(parseBody(rawBody(request)), "request body"));
}

/** Reads the fids of a request. @param ownFid one that is refused. */
function readFids(body: JsonObject, ownFid: number | undefined): Result<number[], Refusal> {
  const value = ownValue(body, "fids");
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_FIDS)
    return badField(`fids must be an array of 1 to ${MAX_FIDS} fids`);
  const fids = new Set<number>();
  for (const entry of value) {
    const read = readFid(entry, "every entry of fids");
    if (!read.ok) return read;
    if (read.value === ownFid) return badField("fids must not contain the owner of the API key");
    fids.add(read.value);
  }
  return fids.size === value.length ? ok([...fids]) : badField("fids must be distinct");
}

/** Records the first users of a change of bans. */
async function record(deps: ApiDeps, { request }: Call, action: string, fids: readonly number[]) {
  const { ownerFid, apiKeyId } = keyCallerOf(request);
  const { requestId, client } = exchangeOf(request);
  await deps.audit.append(
    fids.slice(0, MAX_AUDITED).map((userFid) => ({
      atMs: deps.reads.clock.nowMs(),
      ownerFid,
      action,
      apiKeyId,
      signerUuid: null,
      userFid,
      hash: null,
      outcome: "ok",
      requestId,
      address: client().address,
    })),
  );
}

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentBans>, Static<typeof BansResponse>> &
  Assignable<ReturnType<typeof presentMutes>, Static<typeof MutesResponse>>;
