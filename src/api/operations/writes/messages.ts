import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { keyCallerOf } from "../../../http/exchange.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { badRequest, hash } from "../../../http/request/params.ts";
import { requireKey } from "../../../http/route-terms.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { messageFromJson } from "../../../protocol/message/signed-message.ts";
import { Hash, nullable, object } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";
import { executeWrite } from "./write.ts";

const { op } = topic({ tag: "Casts", surface: "compat" });

const BINARY_TYPES: ReadonlySet<string> = new Set(["application/octet-stream", "application/x-protobuf"]);

const State = Type.Union([Type.Literal("merged"), Type.Literal("queued"), Type.Literal("refused")]);

const PublishedMessage = object(
  {
    success: Type.Literal(true),
    hash: Hash,
    state: Type.Union([Type.Literal("merged"), Type.Literal("queued")]),
  },
  { $id: "PublishedMessage" },
);

const MessageStatus = object(
  {
    hash: Hash,
    fid: Type.Integer({ description: "The author" }),
    type: Type.Integer({ description: "The number of the message's type" }),
    state: State,
    reason: nullable(Type.String({ description: "Why the network has refused it" })),
    created_at: Type.String({ format: "date-time" }),
    updated_at: Type.String({ format: "date-time" }),
  },
  { $id: "MessageStatus" },
);

const PUBLISH = `The body is one message of the protocol that its author has signed: \`Message.toJSON\` of the official libraries (bytes in base64, enums by name or number), or with \`content-type: application/octet-stream\` its bytes. \`dataBytes\` is what was signed; \`data\` beside it is not read. Any fid and any key, gasless keys included.

200: the message is merged and synced, and every read of this node shows it. 202: it is on its way, and is submitted again, byte for byte, until the network takes or refuses it; \`GET /message\` says which. What is answered with 4xx, 502 or 503 is not in the network and never will be. A message that the network has already is a success.

With \`Idempotency-Key\` a repetition gets the first response, for a day. \`x-error-code\` names the cause of an error.`;

export const messageOperations = [
  op({
    id: "publishMessage",
    method: "POST",
    path: "/message",
    summary: "Publish a signed message",
    description: PUBLISH,
    security: "apiKey",
    access: requireKey("write"),
    body: Type.Unsafe<unknown>(Type.Object({}, { additionalProperties: true })),
    // Decoded according to its content type.
    isRaw: true,
    response: { 200: PublishedMessage, 202: PublishedMessage },
    errors: ["forbidden", "conflict", "tooManyRequests", "badGateway", "unavailable"],
    async run(deps, call) {
      const { message, idem } = signedMessageOf(call.request);
      const content = { signed: [message] };
      const [outcome] = await executeWrite(call, deps, { signerUuid: null, content, bodyIdem: idem });
      const state = outcome?.state === "queued" ? "queued" : "merged";
      return { success: true, hash: `0x${outcome?.hash}`, state };
    },
  }),
  op({
    id: "getMessage",
    path: "/message",
    summary: "What became of a write",
    description:
      "Of the owner of the key, for seven days: every message that got a 202, and those that were published with an idempotency key or on a node that follows another.",
    query: { hash: hash({ description: "The message's hash" }) },
    security: "apiKey",
    access: requireKey("write"),
    response: MessageStatus,
    errors: ["forbidden", "notFound"],
    run: async ({ writes }, { request, query, set }) => {
      const { ownerFid } = keyCallerOf(request);
      const found = await writes?.find(ownerFid, Uint8Array.fromHex(query.hash.slice(2)));
      if (!found) throw new ApiError("notFound", "no write of this owner has this hash");
      set.headers["cache-control"] = "no-store";
      return {
        hash: `0x${found.hash.toHex()}`,
        fid: found.fid,
        type: found.type,
        state: found.state,
        reason: found.reason,
        created_at: isoTime(found.createdAt),
        updated_at: isoTime(found.updatedAt),
      };
    },
  }),
];

/** @throws ApiError `badRequest` */
function signedMessageOf(request: Request): { readonly message: Uint8Array; readonly idem: unknown } {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  const body = rawBody(request);
  if (BINARY_TYPES.has(type)) {
    if (body.byteLength === 0) throw badRequest("missing request body");
    return { message: body, idem: undefined };
  }
  const json = parseBody(body);
  const message = messageFromJson(json);
  if (!message.ok) throw badRequest(message.error);
  const idem: unknown = Object.hasOwn(json as object, "idem") ? (json as { idem: unknown }).idem : undefined;
  return { message: message.value, idem };
}
