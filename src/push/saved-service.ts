import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { AppService } from "../apps/app-service.ts";
import type { App } from "../apps/app-store.ts";
import { randomBase58 } from "../lib/base58.ts";
import { ok, type Result } from "../lib/result.ts";
import { type JsonObject, ownValue, readObject } from "../management/fields.ts";
import { badField, type Refusal, refused } from "../management/refusal.ts";
import { checked, FidNumber, Name, schemaReader } from "../management/request-schema.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { zoneNamed } from "./schedules/timing.ts";
import type { Audience } from "./store/campaigns/campaign-store.ts";
import { packFids } from "./store/fid-list.ts";
import type { SavedBounds, SavedItem, SavedKind, SavedStore } from "./store/saved-store.ts";

const ID_CHARS = 16;
const MAX_FIDS = 100_000;
/** How much an app may store of each kind. */
const BOUNDS: Readonly<Record<SavedKind, SavedBounds>> = {
  draft: { items: 100, chars: 1024 * 1024 },
  segment: { items: 100, chars: 4 * 1024 * 1024 },
};

const Secs = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, unix seconds` });
const Days = (description: string) => Type.Integer({ minimum: 1, maximum: 30, description });
const Zone = checked<string>({ type: "string" }, (value) =>
  typeof value === "string" && zoneNamed(value) !== undefined ? undefined : "must be an IANA time zone",
);

/** Conditions of a segment. */
const conditions = {
  added_after: Type.Optional(Secs("Added the app at or after this time")),
  added_before: Type.Optional(Secs("Added the app before this time")),
  client_fids: Type.Optional(
    Type.Array(FidNumber, { minItems: 1, maxItems: 100, description: "In one of these client apps" }),
  ),
  following_fid: Type.Optional(Type.Integer({ ...FidNumber, description: "Followers of this fid" })),
  channel_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Members of this channel: authors of casts in it",
    }),
  ),
  opened_within_days: Type.Optional(Days("Opened a notification of the app in the last days")),
  not_opened_within_days: Type.Optional(Days("Opened none in the last days")),
  time_zones: Type.Optional(
    Type.Array(Zone, { minItems: 1, maxItems: 100, description: "In one of these zones" }),
  ),
  fids: Type.Optional(
    Type.Array(FidNumber, { minItems: 1, maxItems: MAX_FIDS, description: "Of these users" }),
  ),
} satisfies Record<string, TSchema>;

const Id = Type.Optional(Type.String({ description: "Replaces the one of this id; absent for a new one" }));

export const SaveSegmentRequest = Type.Object(
  {
    app_id: Type.String({ description: "The app's id" }),
    segment_id: Id,
    name: Name,
    filter: Type.Object(conditions, {
      additionalProperties: false,
      description: "Conditions that all hold, at least one",
    }),
  },
  { $id: "SaveSegmentRequest", additionalProperties: false },
);

/** A draft may be unfinished, so its fields only have the type and the maximum length of those of a send. */
const draftText = (maxLength: number) => Type.Optional(Type.String({ maxLength }));

/** Matches a private key, or a secret of an app or webhook. */
const SECRET = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])|whsec_/i;
/** Text for people. A secret that was typed into the wrong field would otherwise be stored as text. */
const draftWords = (maxLength: number) =>
  Type.Optional(
    checked<string>({ type: "string", maxLength }, (value) => {
      if (typeof value !== "string" || value.length > maxLength)
        return `must be text of at most ${maxLength} characters`;
      return SECRET.test(value.replace(/0x/gi, " "))
        ? "must not be a secret: drafts are stored as text"
        : undefined;
    }),
  );

export const SaveDraftRequest = Type.Object(
  {
    app_id: Type.String({ description: "The app's id" }),
    draft_id: Id,
    name: Name,
    send: Type.Object(
      {
        title: draftWords(256),
        body: draftWords(1_024),
        target_url: draftText(2_048),
        target_fids: Type.Optional(Type.Array(FidNumber, { maxItems: 2_000 })),
        exclude_fids: Type.Optional(Type.Array(FidNumber, { maxItems: 2_000 })),
        following_fid: Type.Optional(FidNumber),
        segment_id: draftText(64),
        send_at: Type.Optional(Secs("When it is to be sent")),
        local_time: draftText(16),
        time_zone: draftText(64),
        quiet_hours: Type.Optional(
          Type.Object({ from: Type.String({ maxLength: 5 }), to: Type.String({ maxLength: 5 }) }, closed()),
        ),
        variants: Type.Optional(
          Type.Array(
            Type.Object(
              { title: draftWords(256), body: draftWords(1_024), target_url: draftText(2_048) },
              closed(),
            ),
            { maxItems: 4 },
          ),
        ),
        holdout_percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
        winner_after_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: 72 })),
        track_opens: Type.Optional(Type.Boolean()),
      },
      {
        ...closed(),
        description: "The fields of the send as far as they are known; unknown ones are refused",
      },
    ),
  },
  { $id: "SaveDraftRequest", ...closed() },
);

function closed() {
  return { additionalProperties: false } as const;
}

const readSegment = schemaReader(SaveSegmentRequest);
const readDraft = schemaReader(SaveDraftRequest);

/** Drafts and segments of apps, for their owner. `fid` is the acting fid. */
export type SavedService = ReturnType<typeof createSavedService>;

export function createSavedService(deps: {
  readonly apps: Pick<AppService, "get">;
  readonly saved: SavedStore;
  readonly clock: Clock;
}) {
  const { apps, saved, clock } = deps;
  const missing = (kind: SavedKind) => refused("notFound", `no such ${kind}`);

  const noCondition = () =>
    badField(`filter must have at least one condition: ${Object.keys(conditions).join(", ")}`);

  function contentOf(kind: SavedKind, body: JsonObject): Result<Pick<SavedItem, "content">, Refusal> {
    if (kind === "draft") {
      const read = readDraft(body);
      return read.ok ? ok({ content: { name: read.value.name, send: read.value.send } }) : read;
    }
    const given = ownValue(body, "filter");
    if (given === undefined) return noCondition();
    const read = readSegment(body);
    if (!read.ok) return read;
    const { name, filter } = read.value;
    if (Object.keys(filter).length === 0) return noCondition();
    const { added_after: after, added_before: before } = filter;
    if (after !== undefined && before !== undefined && after >= before)
      return badField("filter.added_after must be before filter.added_before");
    if (filter.opened_within_days !== undefined && filter.not_opened_within_days !== undefined)
      return badField("filter has both opened_within_days and not_opened_within_days");
    const zones = filter.time_zones?.map(zoneNamed);
    return ok({ content: { name, filter: { ...filter, ...(zones && { time_zones: zones }) } } });
  }

  return {
    async save(fid: number, kind: SavedKind, body: unknown): Promise<Result<SavedItem, Refusal>> {
      const fields = readObject(body, "request body");
      if (!fields.ok) return fields;
      const appId = ownValue(fields.value, "app_id");
      if (typeof appId !== "string" || appId === "") return badField("missing field app_id");
      const app = await apps.get(fid, appId);
      if (!app.ok) return app;
      const id = ownValue(fields.value, `${kind}_id`);
      const before = typeof id === "string" ? await saved.find(id) : undefined;
      if (id !== undefined && (before?.appId !== appId || before.kind !== kind)) return missing(kind);
      const read = contentOf(kind, fields.value);
      if (!read.ok) return read;
      const now = nowSecs(clock);
      const item = {
        itemId: before?.itemId ?? randomBase58(ID_CHARS),
        appId,
        kind,
        content: read.value.content,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      };
      const { items, chars } = BOUNDS[kind];
      switch (await saved.put(item, BOUNDS[kind])) {
        case "stored":
          return ok(item);
        case "taken":
          return missing(kind);
        case "too-many":
          return refused(
            "tooManyRequests",
            `an app may have at most ${items} ${kind}s, of ${chars / 1024 / 1024} MiB together`,
          );
      }
    },

    async list(fid: number, kind: SavedKind, appId: string): Promise<Result<SavedItem[], Refusal>> {
      const app = await apps.get(fid, appId);
      return app.ok ? ok(await saved.list(appId, kind)) : app;
    },

    async delete(fid: number, kind: SavedKind, itemId: string): Promise<Result<undefined, Refusal>> {
      const item = await saved.find(itemId);
      if (item?.kind !== kind) return missing(kind);
      const app = await apps.get(fid, item.appId);
      if (!app.ok) return app;
      return (await saved.delete(item.appId, kind, itemId)) ? ok(undefined) : missing(kind);
    },

    /** Returns the audience with the current conditions of a segment of the app. */
    async withSegment(
      { appId }: Pick<App, "appId">,
      audience: Audience,
      segmentId: string | null,
    ): Promise<Result<Audience, Refusal>> {
      if (segmentId === null) return ok(audience);
      const item = await saved.find(segmentId);
      if (item?.kind !== "segment" || item.appId !== appId) return missing("segment");
      const { fids, ...filter } = item.content.filter as Static<typeof SaveSegmentRequest>["filter"];
      return ok({ ...audience, segment: { ...filter, ...(fids && { fids: packFids(fids) }) } });
    },
  };
}
