import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { text } from "../../../http/request/params.ts";
import { SaveDraftRequest, SaveSegmentRequest } from "../../../push/saved-service.ts";
import type { SavedItem, SavedKind } from "../../../push/store/saved-store.ts";
import { object, UnixSecs } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";

const { signed, signedRead } = topic({ tag: "Mini apps", surface: "native" });

const common = {
  app_id: Type.String(),
  name: Type.String(),
  created_at: UnixSecs("When it was stored"),
  updated_at: UnixSecs("When it was changed last"),
};

const NotificationDraft = object(
  { draft_id: Type.String(), ...common, send: SaveDraftRequest.properties.send },
  { $id: "NotificationDraft" },
);

const AudienceSegment = object(
  { segment_id: Type.String(), ...common, filter: SaveSegmentRequest.properties.filter },
  { $id: "AudienceSegment" },
);

const Deleted = object({ deleted: Type.Literal(true) });

function presentDraft({ itemId, appId, content, createdAt, updatedAt }: SavedItem) {
  return {
    draft_id: itemId,
    app_id: appId,
    created_at: createdAt,
    updated_at: updatedAt,
    ...(content as Pick<Static<typeof NotificationDraft>, "name" | "send">),
  };
}

function presentSegment({ itemId, appId, content, createdAt, updatedAt }: SavedItem) {
  return {
    segment_id: itemId,
    app_id: appId,
    created_at: createdAt,
    updated_at: updatedAt,
    ...(content as Pick<Static<typeof AudienceSegment>, "name" | "filter">),
  };
}

/** Returns the common parts of the requests that store, list and delete one kind. */
function requestsOf<const K extends SavedKind>(kind: K) {
  const path = `/frame/app/${kind}` as const;
  const query = { app_id: text({ description: "The app's id" }) };
  const id = text({ description: `Of the ${kind}` });
  return {
    save: { method: "POST", path, op: "app.draft", session: { access: "operate" } },
    list: { path, op: "app.read", query },
    remove: {
      method: "DELETE",
      path,
      op: "app.draft",
      session: { access: "operate" },
      maxBodyBytes: ID_ONLY_BYTES,
      response: Deleted,
    },
    id,
  } as const;
}

const draft = requestsOf("draft");
const segment = requestsOf("segment");
const listOf = <T extends TSchema>(schema: T) => Type.Array(schema, { description: "Oldest first" });
const errors = ["forbidden", "notFound"] as const;

export const savedOperations = [
  signed({
    ...draft.save,
    id: "saveDraft",
    summary: "Save a draft of a send",
    description:
      "A draft may be unfinished. An app has 100 at most. Sending it needs a signature of its own.",
    body: SaveDraftRequest,
    response: object({ draft: NotificationDraft }),
    errors,
    run: async ({ push: { saved } }, { fid, body }) => ({
      draft: presentDraft(unwrapOrThrow(await saved.save(fid, "draft", body))),
    }),
  }),
  signedRead({
    ...draft.list,
    id: "listDrafts",
    command: { usage: "app drafts <app_id>", help: "list the drafts of sends of a mini app" },
    summary: "Drafts of sends",
    response: object({ drafts: listOf(NotificationDraft) }),
    errors,
    run: async ({ push: { saved } }, { fid, query }) => ({
      drafts: unwrapOrThrow(await saved.list(fid, "draft", query.app_id)).map(presentDraft),
    }),
  }),
  signed({
    ...draft.remove,
    id: "deleteDraft",
    command: { usage: "app delete-draft <draft_id>", help: "delete a draft" },
    summary: "Delete a draft",
    query: { draft_id: draft.id },
    errors,
    run: async ({ push: { saved } }, { fid, query }) => {
      unwrapOrThrow(await saved.delete(fid, "draft", query.draft_id));
      return { deleted: true as const };
    },
  }),
  signed({
    ...segment.save,
    id: "saveSegment",
    command: {
      usage: "app save-segment <app_id>",
      help: "save conditions under which people of a mini app get a notification",
      flags: {
        segment_id: { type: "text", valueName: "<segment_id>", help: "replaces this one" },
        name: { type: "text", help: "1 to 128 characters", isRequired: true },
        added_after: { type: "time", within: "filter", help: "added the app at or after this time" },
        added_before: { type: "time", within: "filter", help: "added the app before this time" },
        client_fids: { type: "fids", within: "filter", help: "in one of these client apps" },
        following_fid: { type: "fid", within: "filter", help: "followers of this fid" },
        channel_id: {
          type: "text",
          within: "filter",
          valueName: "<channel>",
          help: "members of this channel",
        },
        opened_within_days: { type: "whole", within: "filter", help: "opened a notification in these days" },
        not_opened_within_days: { type: "whole", within: "filter", help: "opened none in these days" },
        fids: { type: "fids", within: "filter", help: "of these users" },
        time_zones: false,
      },
    },
    summary: "Save a segment",
    description:
      "Conditions on the people of an app. A send that names the segment takes the conditions as they are then, and decides who " +
      "meets them when it is sent. An app has 100 at most.",
    body: SaveSegmentRequest,
    response: object({ segment: AudienceSegment }),
    errors,
    run: async ({ push: { saved } }, { fid, body }) => ({
      segment: presentSegment(unwrapOrThrow(await saved.save(fid, "segment", body))),
    }),
  }),
  signedRead({
    ...segment.list,
    id: "listSegments",
    command: { usage: "app segments <app_id>", help: "list the saved segments of a mini app" },
    summary: "Saved segments",
    response: object({ segments: listOf(AudienceSegment) }),
    errors,
    run: async ({ push: { saved } }, { fid, query }) => ({
      segments: unwrapOrThrow(await saved.list(fid, "segment", query.app_id)).map(presentSegment),
    }),
  }),
  signed({
    ...segment.remove,
    id: "deleteSegment",
    command: { usage: "app delete-segment <segment_id>", help: "delete a saved segment" },
    summary: "Delete a segment",
    description: "Sends that were scheduled with it keep its conditions.",
    query: { segment_id: segment.id },
    errors,
    run: async ({ push: { saved } }, { fid, query }) => {
      unwrapOrThrow(await saved.delete(fid, "segment", query.segment_id));
      return { deleted: true as const };
    },
  }),
];
