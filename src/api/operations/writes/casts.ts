import { Type } from "@sinclair/typebox";
import { mapOk, ok, type Result } from "../../../lib/result.ts";
import { ownValue } from "../../../management/fields.ts";
import { type Refusal, refused } from "../../../management/refusal.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { composeCast } from "../../../writes/compose/cast.ts";
import { readCastHash } from "../../../writes/compose/fields.ts";
import { castLookups, hasRemovedCast } from "../../../writes/compose/index-lookups.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import { Fid, Hash, object } from "../../dialects/fields.ts";
import { CastIdInBody, type ComposeRequest, managedWrite, signerBody } from "./managed-write.ts";

const CastRequest = signerBody({
  text: Type.Optional(
    Type.String({
      description:
        "At most 10,000 bytes without its mentions; above 1,024 the user needs Pro. `@name` with a live name, or `@!fid`, is a mention; at most 10 are.",
    }),
  ),
  embeds: Type.Optional(
    Type.Array(
      Type.Union([
        object({ url: Type.String({ description: "Absolute, at most 256 bytes" }) }),
        object({ cast_id: CastIdInBody }),
      ]),
      { maxItems: 4 },
    ),
  ),
  parent: Type.Optional(
    Type.String({ description: "Hash or URL of the cast that is replied to, or another absolute URL" }),
  ),
  parent_author_fid: Type.Optional(
    Type.Integer({ description: "Needed for a cast that this node does not have" }),
  ),
  channel_id: Type.Optional(Type.String({ description: "The channel to post to" })),
});

const PublishedCast = object(
  {
    success: Type.Literal(true),
    cast: object({ hash: Hash, author: object({ fid: Fid }), text: Type.String() }),
  },
  { $id: "PublishedCast" },
);

const CastDeletion = signerBody({
  target_hash: Type.String({ description: "40 hex digits, with or without `0x`" }),
});

const CAST_ADD = MessageType.MESSAGE_TYPE_CAST_ADD;

/** How to compose the messages of these writes. */
export const castCompositions = {
  publishCast: {
    type: CAST_ADD,
    compose: ({ db, fields }: ComposeRequest) =>
      mapOk(composeCast(castLookups(db), fields), ({ body }) => [
        { type: CAST_ADD, body: { $case: "castAddBody" as const, value: body } },
      ]),
  },
  deleteCast: { type: MessageType.MESSAGE_TYPE_CAST_REMOVE, compose: composeCastRemove },
};

export const castWriteOperations = [
  ...managedWrite({
    id: "publishCast",
    method: "POST",
    path: "/cast",
    tag: "Casts",
    summary: "Publish a cast",
    description:
      "By a managed signer. Identical casts of one user within one second are one cast. `text` of the response is that of the request.",
    body: CastRequest,
    response: PublishedCast,
    errors: ["notFound"],
    ...castCompositions.publishCast,
    present({ fields, fid, outcomes }) {
      const text = ownValue(fields, "text");
      const cast = {
        hash: `0x${outcomes[0]?.hash}`,
        author: { fid },
        text: typeof text === "string" ? text : "",
      };
      return { success: true, cast };
    },
  }),
  ...managedWrite({
    id: "deleteCast",
    method: "DELETE",
    path: "/cast",
    tag: "Casts",
    summary: "Delete a cast",
    description: "Of the signer's user. A cast that is deleted already makes no message.",
    body: CastDeletion,
    errors: ["notFound"],
    ...castCompositions.deleteCast,
    present: "the cast is deleted",
  }),
];

function composeCastRemove({
  db,
  fields,
  fid,
  isStale,
}: ComposeRequest): Result<readonly UnsignedBody[], Refusal> {
  const targetHash = readCastHash(ownValue(fields, "target_hash"), "target_hash");
  if (!targetHash.ok) return targetHash;
  const author = castLookups(db).authorOf(targetHash.value);
  if (author !== undefined && author !== fid) {
    return refused("forbidden", "target_hash is a cast of another user");
  }
  if (author === undefined && !isStale && !hasRemovedCast(db, fid, targetHash.value)) {
    return refused("notFound", "target_hash is an unknown cast");
  }
  return ok([
    {
      type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
      body: { $case: "castRemoveBody", value: { targetHash: targetHash.value } },
    },
  ]);
}
