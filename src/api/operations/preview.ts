import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../http/errors.ts";
import { parseBody, rawBody } from "../../http/request/body.ts";
import { requireKey } from "../../http/route-terms.ts";
import { ownValue } from "../../management/fields.ts";
import { MessageData } from "../../protocol/wire/generated/message.ts";
import type { UnsignedBody } from "../../writes/rpc.ts";
import { Fid, object } from "../dialects/fields.ts";
import { topic } from "../topic.ts";
import { bodyJson } from "./hub/message-json.ts";
import { MESSAGE_TYPES, nameOf } from "./hub/names.ts";
import { castCompositions } from "./writes/casts.ts";
import { linkCompositions } from "./writes/links.ts";
import { type Composition, composeWriteBy, readSignedWrite } from "./writes/managed-write.ts";
import { reactionCompositions } from "./writes/reactions.ts";

const { op } = topic({ tag: "Casts", surface: "compat" });

const COMPOSITIONS: Readonly<Record<string, Composition>> = {
  ...castCompositions,
  ...reactionCompositions,
  ...linkCompositions,
};
const NAMES = Object.keys(COMPOSITIONS);

const PreviewRequest = Type.Object(
  {
    operation: Type.Union(
      NAMES.map((name) => Type.Literal(name)),
      { description: "The write that the other fields are meant for" },
    ),
    signer_uuid: Type.String({ description: "The managed signer" }),
  },
  { additionalProperties: true, description: "The body of the write, and its name as `operation`" },
);

const WritePreview = object(
  {
    fid: Fid,
    messages: Type.Array(
      Type.Union([
        Type.Object(
          { type: Type.String() },
          { additionalProperties: true, description: "As `data` of a message of `/v1`" },
        ),
        Type.Null(),
      ]),
      { description: "Null for a part that can make no message, such as a follow of an unregistered user" },
    ),
    digest: Type.String({
      pattern: "^[0-9a-f]{64}$",
      description:
        "SHA-256 of the user and the messages: another one says that the write would be another one now",
    }),
  },
  { $id: "WritePreview" },
);

const DESCRIPTION =
  "Makes the messages of a write as the write does, with the same refusals, and signs, sends and stores nothing: mentions, channel and parent " +
  "are resolved. What only the network knows, such as the storage of the user, is not checked.";

export const previewOperations = [
  op({
    id: "previewWrite",
    method: "POST",
    path: "/message/preview",
    summary: "What a write would publish",
    description: DESCRIPTION,
    security: "apiKey",
    access: requireKey("write"),
    body: Type.Unsafe<unknown>(PreviewRequest),
    // An invalid field is refused after an unknown signer, as in the actual write.
    isRaw: true,
    response: WritePreview,
    errors: ["forbidden", "notFound", "unavailable"],
    async run(deps, { request, set }) {
      const { fields, signerUuid } = readSignedWrite(parseBody(rawBody(request)));
      const name = ownValue(fields, "operation");
      const composition =
        typeof name === "string" && Object.hasOwn(COMPOSITIONS, name) ? COMPOSITIONS[name] : undefined;
      if (composition === undefined)
        throw new ApiError("badRequest", `operation must be one of ${NAMES.join(", ")}`);
      const { fid, bodies } = await composeWriteBy(deps, request, { ...composition, fields, signerUuid });
      set.headers["cache-control"] = "no-store";
      return present(fid, bodies);
    },
  }),
];

function present(fid: number, bodies: readonly (UnsignedBody | null)[]): Static<typeof WritePreview> {
  const digest = createHash("sha256");
  const messages = bodies.map((message) => {
    const bytes = message ? bytesOf(fid, message) : new Uint8Array();
    digest.update(`${bytes.length}:`).update(bytes);
    return message && { type: `${nameOf(MESSAGE_TYPES, message.type)}`, ...bodyJson(message.body) };
  });
  return { fid, messages, digest: digest.digest("hex") };
}

/** Returns what would be signed, except for time and network. */
function bytesOf(fid: number, { type, body }: UnsignedBody): Uint8Array {
  return MessageData.encode({ type, fid, timestamp: 0, network: 0, body }).finish();
}
