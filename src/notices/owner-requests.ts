import { Type } from "@sinclair/typebox";
import { OWNER_CHECKS } from "../checks/owners/owner-table.ts";
import { Text } from "../management/request-schema.ts";
import { MAX_URL_CHARS } from "../net/guard.ts";
import type { HookPreset } from "./report.ts";
import { HOOK_PRESETS } from "./target.ts";

const CHANNEL_ID = "^[0-9A-Za-z]{1,32}$";

const SEVERITY = Type.Union([Type.Literal("critical"), Type.Literal("warning"), Type.Literal("notice")], {
  description: "The lowest severity that it gets. Default: `notice`, which is all",
});

const terms = {
  label: Text({ min: 1, max: 60, description: "Its name in lists" }),
  severity: Type.Optional(SEVERITY),
  checks: Type.Optional(
    Type.Array(Text({ max: 64 }), {
      maxItems: OWNER_CHECKS.length,
      description: `Only these checks: ${OWNER_CHECKS.map(({ id }) => `\`${id}\``).join(", ")}. Empty: all`,
    }),
  ),
  quiet_hours: Type.Optional(
    Text({
      max: 11,
      description: "Hours without notices but critical ones, as `22:00-07:00`; the rest waits. Empty: none",
    }),
  ),
  zone: Type.Optional(Text({ max: 64, description: "The time zone of these hours. Default: `UTC`" })),
};

const hook = Type.Object({
  url: Text({ min: 1, max: MAX_URL_CHARS, description: "An https URL, called with POST" }),
  preset: Type.Optional(
    Type.Union(
      (Object.keys(HOOK_PRESETS) as HookPreset[]).map((name) => Type.Literal(name)),
      { description: "The form of the body. Default: `json`, signed like webhooks" },
    ),
  ),
  to: Type.Optional(Text({ max: 200, description: "Of `telegram`: the id of the chat" })),
  body: Type.Optional(
    Text({
      max: 4096,
      description:
        "JSON in place of the preset's, with `{{title}}`, `{{text}}`, `{{severity}}`, `{{state}}`, `{{url}}`, `{{incident}}` in its texts",
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Text({ max: 1024 }), {
      maxProperties: 10,
      description: "Sent with each call, such as `authorization`",
    }),
  ),
});

const push = Type.Object({
  endpoint: Text({ min: 1, max: MAX_URL_CHARS, description: "The URL of the browser's push service" }),
  keys: Type.Object({
    p256dh: Text({ min: 1, max: 128, description: "base64url" }),
    auth: Text({ min: 1, max: 64, description: "base64url" }),
  }),
});

/** The body of a request that adds a channel: a hook or a browser. */
export const CreateNoticeChannelRequest = Type.Object(
  { ...terms, hook: Type.Optional(hook), push: Type.Optional(push) },
  { $id: "CreateNoticeChannelRequest" },
);

/** The body of a request that changes a channel. */
export const UpdateNoticeChannelRequest = Type.Object(
  { channel_id: Type.String({ pattern: CHANNEL_ID }), ...terms },
  { $id: "UpdateNoticeChannelRequest" },
);

export const TestNoticeChannelRequest = Type.Object(
  { channel_id: Type.String({ pattern: CHANNEL_ID }) },
  { $id: "TestNoticeChannelRequest" },
);

export const AcknowledgeIncidentRequest = Type.Object(
  { incident_id: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{1,32}$" }) },
  { $id: "AcknowledgeIncidentRequest" },
);
