import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { isoTime } from "../../lib/iso-time.ts";
import { ToolError } from "../node-call.ts";
import {
  CastRecord,
  castRecord,
  type NativeCast,
  type NativeUser,
  UserRecord,
  userRecord,
} from "../records.ts";
import { Fid, type ToolContext, tool } from "../tool.ts";

const MAX_EMBEDS = 4;
const MAX_TEXT_CHARS = 10_000;
const QUEUED = 202;

const Step = Type.Union([Type.Literal("preview"), Type.Literal("written"), Type.Literal("queued")], {
  description: "Nothing is written by a preview. Queued: on its way to the network.",
});
const none = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** What a write shows beforehand, and its result. */
const outcome = {
  step: Step,
  as_user: none(UserRecord),
  text: none(Type.String({ description: "Of the cast, as it will be read" })),
  mentions: Type.Array(UserRecord),
  embeds: Type.Array(Type.String()),
  parent_url: none(Type.String({ description: "Where the cast is posted, such as the URL of a channel" })),
  cast: none(CastRecord),
  user: none(UserRecord),
  confirm: none(Type.String({ description: "For the same call, once the person has agreed" })),
  confirm_expires: none(Type.String()),
  hashes: Type.Array(Type.String(), { description: "Of the messages; none if nothing had to change" }),
};

const common = {
  signer_uuid: Type.String({
    minLength: 1,
    maxLength: 64,
    description: "The approved managed signer of the user to write as",
  }),
  confirm: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "The token of the preview that the person saw" }),
  ),
};

const TWO_STEPS =
  "Without confirm it writes nothing and returns a preview: show it to the person. Call again with confirm only when the person has agreed.";

const Target = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Hash of a cast, or its URL at a client",
});
const Undo = Type.Optional(Type.Boolean({ default: false, description: "Take it back" }));

export const writeTools = [
  tool({
    name: "publish_cast",
    title: "Publish a cast",
    description: `Publishes a cast, also as a reply or in a channel. @name and @!fid are mentions. ${TWO_STEPS}`,
    write: { isDestructive: false },
    input: {
      ...common,
      text: Type.String({ maxLength: MAX_TEXT_CHARS }),
      embeds: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          maxItems: MAX_EMBEDS,
          description: "URLs to show below the text",
        }),
      ),
      reply_to: Type.Optional(Target),
      channel: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "Id of a channel" })),
    },
    output: outcome,
    run: ({ confirm, signer_uuid, text, embeds = [], reply_to, channel }, context) =>
      write(context, {
        tool: "publish_cast",
        operation: "publishCast",
        request: ["POST", "/cast"],
        fields: {
          signer_uuid,
          text,
          embeds: embeds.map((url) => ({ url })),
          ...(reply_to !== undefined && { parent: reply_to }),
          ...(channel !== undefined && { channel_id: channel }),
        },
        confirm,
      }),
  }),
  tool({
    name: "delete_cast",
    title: "Delete a cast",
    description: `Deletes a cast of the signer's user, for good. ${TWO_STEPS}`,
    write: { isDestructive: true },
    input: { ...common, hash: Type.String({ minLength: 1, maxLength: 64, description: "Hash of the cast" }) },
    output: outcome,
    run: ({ confirm, signer_uuid, hash }, context) =>
      write(context, {
        tool: "delete_cast",
        operation: "deleteCast",
        request: ["DELETE", "/cast"],
        fields: { signer_uuid, target_hash: hash },
        confirm,
      }),
  }),
  tool({
    name: "react",
    title: "Like or recast",
    description: `Likes or recasts a cast, or takes that back with undo. ${TWO_STEPS}`,
    write: { isDestructive: false },
    input: {
      ...common,
      kind: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
      cast: Target,
      undo: Undo,
    },
    output: outcome,
    run: ({ confirm, signer_uuid, kind, cast, undo = false }, context) =>
      write(context, {
        tool: "react",
        operation: undo ? "deleteReaction" : "publishReaction",
        request: [undo ? "DELETE" : "POST", "/reaction"],
        fields: { signer_uuid, reaction_type: kind, target: cast },
        confirm,
      }),
  }),
  tool({
    name: "follow",
    title: "Follow a user",
    description: `Follows a user, or takes that back with undo. ${TWO_STEPS}`,
    write: { isDestructive: false },
    input: { ...common, fid: Fid, undo: Undo },
    output: outcome,
    run: ({ confirm, signer_uuid, fid, undo = false }, context) =>
      write(context, {
        tool: "follow",
        operation: undo ? "unfollowUser" : "followUser",
        request: [undo ? "DELETE" : "POST", "/user/follow"],
        fields: { signer_uuid, target_fids: [fid] },
        confirm,
      }),
  }),
];

type Outcome = Static<TObject<typeof outcome>> & {
  truncated: boolean;
  content_is_untrusted: true;
};

interface WriteRequest {
  readonly tool: string;
  /** The write operation of the API. */
  readonly operation: string;
  readonly request: readonly ["POST" | "DELETE", string];
  readonly fields: Readonly<Record<string, unknown>>;
  readonly confirm: string | undefined;
}

/** A message body in the form of the hub API, as far as previews read it. */
interface PreviewedMessage {
  readonly type: string;
  readonly castAddBody?: {
    readonly text: string;
    readonly mentions: readonly number[];
    readonly embeds: readonly { readonly url?: string }[];
    readonly parentCastId: { readonly hash: string } | null;
    readonly parentUrl: string | null;
  };
  readonly castRemoveBody?: { readonly targetHash: string };
  readonly reactionBody?: { readonly targetCastId?: { readonly hash: string }; readonly targetUrl?: string };
  readonly linkBody?: { readonly targetFid: number };
}

/**
 * Previews a write, or makes one that was previewed. The token covers the arguments and the messages that they stand for: if a name
 * belongs to another user by then, the write has to be previewed again. A repeated call is the same write, because of its idempotency
 * key.
 */
async function write(context: ToolContext, asked: WriteRequest): Promise<Outcome> {
  const { writes } = context;
  if (writes === undefined) throw new ToolError("this caller may not write");
  const { tool: name, operation, request, fields, confirm } = asked;
  const preview = (await writes.send("POST", "/message/preview", { ...fields, operation })).body as {
    readonly fid: number;
    readonly messages: readonly (PreviewedMessage | null)[];
    readonly digest: string;
  };
  const [message] = preview.messages;
  if (!message)
    throw new ToolError("there is nothing to write: the user is not registered, or is the signer's own");
  const shown = [name, operation, fields, preview.fid, preview.digest];
  if (confirm === undefined) {
    const facts = await factsOf(context, preview.fid, message, fields.text);
    const { token, expiresAt } = await writes.tokens.issue(shown);
    return { ...facts, step: "preview", confirm: token, confirm_expires: isoTime(expiresAt), hashes: [] };
  }
  const checked = await writes.tokens.check(confirm, shown);
  if ("refusal" in checked) throw new ToolError(checked.refusal);
  const [method, path] = request;
  const { status, headers } = await writes.send(method, path, { ...fields, idem: checked.idem });
  // The previewed facts are not read again: a failed read would hide that the write has succeeded.
  return {
    ...NOTHING_SHOWN,
    step: status === QUEUED ? "queued" : "written",
    hashes: headers.get(writes.hashHeader)?.split(",") ?? [],
  };
}

const NOTHING_SHOWN = {
  as_user: null,
  text: null,
  mentions: [],
  embeds: [],
  parent_url: null,
  cast: null,
  user: null,
  confirm: null,
  confirm_expires: null,
  truncated: false,
  content_is_untrusted: true,
} as const satisfies Partial<Outcome>;

/** Reads the users and the cast that a write affects. Leaves out what the node does not have. */
async function factsOf(context: ToolContext, fid: number, message: PreviewedMessage, text: unknown) {
  const { castAddBody: cast, reactionBody: reaction, castRemoveBody: removed, linkBody: link } = message;
  const removedHash = removed && `0x${Buffer.from(removed.targetHash, "base64").toString("hex")}`;
  const castHash = cast?.parentCastId?.hash ?? reaction?.targetCastId?.hash ?? removedHash;
  const targetFid = link?.targetFid;
  const fids = [
    ...new Set([fid, ...(cast?.mentions ?? []), ...(targetFid === undefined ? [] : [targetFid])]),
  ];
  const users = new Map(
    (await context.get<{ users: readonly NativeUser[] }>("/user/bulk", { fids: fids.join(",") })).users.map(
      (user) => [user.fid, userRecord(user, context)],
    ),
  );
  const writer = users.get(fid);
  if (writer === undefined) throw new ToolError("the node does not know the signer's user");
  const { casts } =
    castHash === undefined
      ? { casts: [] }
      : await context.get<{ casts: readonly NativeCast[] }>("/cast/bulk", { hashes: castHash });
  return {
    as_user: writer,
    text: cast && typeof text === "string" ? text : null,
    mentions: fids.filter((one) => cast?.mentions.includes(one)).flatMap((one) => users.get(one) ?? []),
    embeds: (cast?.embeds ?? []).flatMap(({ url }) => url ?? []),
    parent_url: cast?.parentUrl ?? reaction?.targetUrl ?? null,
    cast: casts[0] ? castRecord(casts[0], context) : null,
    user: (targetFid === undefined ? undefined : users.get(targetFid)) ?? null,
    truncated: false,
    content_is_untrusted: true as const,
  };
}
