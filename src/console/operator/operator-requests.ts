import { Type } from "@sinclair/typebox";
import { MAX_MUTED_HOURS, MAX_NOTE_CHARS } from "../../checks/incident-text.ts";
import { ApiError } from "../../http/errors.ts";
import { jsonBodyDecoder } from "../../http/request/body.ts";
import { integer, optional } from "../../http/request/params.ts";
import { MAX_URL_CHARS } from "../../net/guard.ts";
import type { HookPreset } from "../../notices/report.ts";
import { HOOK_PRESETS } from "../../notices/target.ts";
import { MAX_UNIX_SECS } from "../history/operator-queries.ts";

/** The operation name that the signature of an operator's request contains. */
export type OperatorOp =
  | "console.read"
  | "console.backup"
  | "console.pause"
  | "console.resume"
  | "console.incident"
  | "console.notice"
  | "console.setup"
  | "console.setting"
  | "console.restart"
  | "console.end";

const BEARER = /^Bearer ([\x21-\x7e]{1,256})$/i;
const MAX_REASON_CHARS = 200;

const What = Type.Union([Type.Literal("sends"), Type.Literal("deliveries")]);
export const readSession = jsonBodyDecoder(
  Type.Object({
    code: Type.String({ minLength: 1, maxLength: 64 }),
    public_key: Type.String({ pattern: "^0x[0-9a-f]{64}$" }),
  }),
);
export const readPause = jsonBodyDecoder(
  Type.Object({
    what: What,
    reason: Type.String({ pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$", maxLength: MAX_REASON_CHARS }),
  }),
);
export const readRotation = jsonBodyDecoder(Type.Object({ now: Type.Boolean() }));
const IncidentId = Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{1,32}$" });
export const readIncident = jsonBodyDecoder(
  Type.Union([
    Type.Object({ id: IncidentId, action: Type.Literal("ack") }),
    Type.Object({
      id: IncidentId,
      action: Type.Literal("note"),
      note: Type.String({ maxLength: MAX_NOTE_CHARS }),
    }),
    Type.Object({
      id: IncidentId,
      action: Type.Literal("mute"),
      hours: Type.Integer({ minimum: 0, maximum: MAX_MUTED_HOURS }),
    }),
  ]),
);
const Text = (maxLength: number) => Type.String({ maxLength });
const Terms = {
  label: Text(200),
  severity: Type.Optional(
    Type.Union([Type.Literal("critical"), Type.Literal("warning"), Type.Literal("notice")]),
  ),
  checks: Type.Optional(Type.Array(Text(64), { maxItems: 64 })),
  quiet_hours: Type.Optional(Text(11)),
  zone: Type.Optional(Text(64)),
};
const strict = { additionalProperties: false } as const;
const ChannelId = Type.String({ pattern: "^[0-9A-Za-z]{1,32}$" });
export const readNotice = jsonBodyDecoder(
  Type.Union([
    Type.Object({ action: Type.Literal("key") }),
    Type.Object({ action: Type.Union([Type.Literal("remove"), Type.Literal("test")]), id: ChannelId }),
    Type.Object({ action: Type.Literal("edit"), id: ChannelId, ...Terms }, strict),
    Type.Object({
      action: Type.Literal("add"),
      channel: Type.Union([
        Type.Object(
          {
            ...Terms,
            kind: Type.Literal("push"),
            endpoint: Text(MAX_URL_CHARS),
            keys: Type.Object({ p256dh: Text(128), auth: Text(64) }),
          },
          strict,
        ),
        Type.Object(
          {
            ...Terms,
            kind: Type.Literal("hook"),
            url: Text(MAX_URL_CHARS),
            preset: Type.Union((Object.keys(HOOK_PRESETS) as HookPreset[]).map((name) => Type.Literal(name))),
            to: Type.Optional(Text(200)),
            body: Type.Optional(Text(4096)),
            headers: Type.Optional(Type.Record(Text(64), Text(1024), { maxProperties: 10 })),
          },
          strict,
        ),
      ]),
    }),
  ]),
);
/** Values by key; null removes what was set. */
export const readSettings = jsonBodyDecoder(
  Type.Object({
    values: Type.Record(Type.String({ pattern: "^[a-z0-9_]{1,32}\\.[a-z0-9_]{1,64}$" }), Type.Unknown(), {
      minProperties: 1,
      maxProperties: 16,
    }),
  }),
);
/** Starts a backup, or names the backup concerned. */
export const readBackup = jsonBodyDecoder(
  Type.Union([
    Type.Object({}, { additionalProperties: false }),
    Type.Object({
      action: Type.Union([Type.Literal("check"), Type.Literal("download")]),
      file: Type.String({ pattern: "^[0-9TZ]{16}[a-z-]{0,16}$" }),
    }),
  ]),
);
export const readResume = jsonBodyDecoder(Type.Object({ what: What }));
export const logQuery = { after: optional(integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), 0) };
export const sinceQuery = { at: integer({ min: 0, max: MAX_UNIX_SECS }) };

/** @throws ApiError `unauthorized` if the request does not have the operator's token */
export function tokenOf({ headers }: Request): string {
  const token = BEARER.exec(headers.get("authorization") ?? "")?.[1];
  if (token === undefined) throw new ApiError("unauthorized", "the operator token is missing");
  return token;
}
