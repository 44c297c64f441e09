import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { parseBody, rawBody } from "../../../http/body.ts";
import { ApiError } from "../../../http/errors.ts";
import { keyCallerOf } from "../../../http/exchange.ts";
import { aliasOf } from "../../../http/operation.ts";
import { type JsonObject, ownValue } from "../../../management/fields.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { SEEN_TYPES, type SeenStore, type SeenType } from "../../../writes/seen/seen-store.ts";
import { type ManagedWriteDeps, readSignedWrite, userOfSigner } from "./managed-write.ts";
import { done, OperationResponse, signerBody, writeOperation } from "./schemas.ts";

const SeenRequest = signerBody({
  type: Type.Optional(Type.Union(SEEN_TYPES.map((type) => Type.Literal(type)))),
});

export interface SeenRouteDeps extends ManagedWriteDeps {
  readonly seen: Pick<SeenStore, "mark">;
}

/** `/notifications/seen`: marks the notifications of the signer's user as seen, for the owner of the key. */
export function seenRoutes(deps: SeenRouteDeps): AnyElysia {
  const mark = async ({ request }: { readonly request: Request }) => {
    const body = parseBody(rawBody(request));
    if (request.headers.has("authorization") && !hasSigner(body))
      throw new ApiError("notImplemented", NO_BEARER);
    const { fields, signerUuid } = readSignedWrite(body);
    const types = readTypes(ownValue(fields, "type"));
    const { fid } = await userOfSigner(request, deps, signerUuid);
    await deps.seen.mark(keyCallerOf(request).ownerFid, fid, types, nowSecs(deps.clock));
    return done("the notifications are marked as seen");
  };
  const hook = writeOperation({
    operationId: "markNotificationsSeen",
    summary: "Mark notifications as seen",
    description:
      "Those of the signer's user until now, of one type or of all. `GET /notifications` with a key of the same owner says so. It is no message of the protocol.",
    tags: ["Notifications"],
    body: SeenRequest,
    response: OperationResponse,
    errors: ["notFound"],
  });
  return new Elysia({ name: "seen-notifications" })
    .post("/notifications/seen", mark, hook)
    .post("/notifications/mark_seen", mark, aliasOf("/notifications/seen", hook));
}

const NO_BEARER = "bearer tokens are those of another service; name a signer_uuid of this one";

const hasSigner = (body: unknown) =>
  typeof body === "object" && body !== null && ownValue(body as JsonObject, "signer_uuid") !== undefined;

function readTypes(value: unknown): readonly SeenType[] {
  if (value === undefined || value === null) return SEEN_TYPES;
  const type = SEEN_TYPES.find((known) => known === value);
  if (type === undefined) throw new ApiError("badRequest", `type must be one of ${SEEN_TYPES.join(", ")}`);
  return [type];
}
