import { Type } from "@sinclair/typebox";
import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { ApiError } from "../../../http/errors.ts";
import { callerOf, keyCallerOf } from "../../../http/exchange.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { type JsonObject, ownValue } from "../../../management/fields.ts";
import type { SeenUntil } from "../../../read/queries/notifications/notifications.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { SEEN_TYPES, type SeenStore, type SeenType } from "../../../writes/store/seen-store.ts";
import { done, keyedWrite, readSignedWrite, signerBody, userOfSigner } from "../writes/managed-write.ts";

// A quote notifies only as a mention.
const KIND_OF: Readonly<Record<SeenType, NotificationKind | undefined>> = {
  follows: NotificationKind.Follow,
  recasts: NotificationKind.Recast,
  likes: NotificationKind.Like,
  mentions: NotificationKind.Mention,
  replies: NotificationKind.Reply,
  quotes: undefined,
};

const SeenRequest = signerBody({
  type: Type.Optional(Type.Union(SEEN_TYPES.map((type) => Type.Literal(type)))),
});

const NO_BEARER = "bearer tokens are those of another service; name a signer_uuid of this one";

const hasSigner = (body: unknown) =>
  typeof body === "object" && body !== null && ownValue(body as JsonObject, "signer_uuid") !== undefined;

export const seenOperations = keyedWrite({
  id: "markNotificationsSeen",
  method: "POST",
  path: "/notifications/seen",
  aliases: ["/notifications/mark_seen"],
  tag: "Notifications",
  summary: "Mark notifications as seen",
  description:
    "Those of the signer's user until now, of one type or of all. `GET /notifications` with a key of the same owner says so. The mark is not a message of the protocol.",
  body: SeenRequest,
  errors: ["notFound"],
  async run({ signers, publish, reads }, { request }) {
    const body = parseBody(rawBody(request));
    if (request.headers.has("authorization") && !hasSigner(body))
      throw new ApiError("notImplemented", NO_BEARER);
    const { fields, signerUuid } = readSignedWrite(body);
    const types = readTypes(ownValue(fields, "type"));
    const { fid } = await userOfSigner(request, { signers }, signerUuid);
    await publish.seen.mark(keyCallerOf(request).ownerFid, fid, types, nowSecs(reads.clock));
    return done("the notifications are marked as seen");
  },
});

/** Returns what the owner of the request's API key has marked as seen by a user; nothing without a key. */
export async function seenBy(
  request: Request,
  store: Pick<SeenStore, "find">,
  fid: number,
): Promise<SeenUntil> {
  const caller = callerOf(request);
  if (caller.kind !== "apiKey") return {};
  const times = await store.find(caller.ownerFid, fid);
  const seen: SeenUntil = {};
  for (const [type, until] of Object.entries(times)) {
    const kind = KIND_OF[type as SeenType];
    if (kind !== undefined) seen[kind] = until;
  }
  return seen;
}

function readTypes(value: unknown): readonly SeenType[] {
  if (value === undefined || value === null) return SEEN_TYPES;
  const type = SEEN_TYPES.find((known) => known === value);
  if (type === undefined) throw new ApiError("badRequest", `type must be one of ${SEEN_TYPES.join(", ")}`);
  return [type];
}
