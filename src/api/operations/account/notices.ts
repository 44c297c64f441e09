import { type Static, Type } from "@sinclair/typebox";
import { OWNER_CHECKS } from "../../../checks/owners/owner-table.ts";
import { ApiError } from "../../../http/errors.ts";
import { optional, text } from "../../../http/request/params.ts";
import { checksOf } from "../../../notices/channels.ts";
import type { OwnerNotices, OwnIncident } from "../../../notices/owner-notices.ts";
import {
  AcknowledgeIncidentRequest,
  CreateNoticeChannelRequest,
  TestNoticeChannelRequest,
  UpdateNoticeChannelRequest,
} from "../../../notices/owner-requests.ts";
import type { ChannelReport } from "../../../notices/report.ts";
import type { CommandFlag } from "../../command.ts";
import type { ApiDeps } from "../../deps.ts";
import { nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { Deleted, idToDelete } from "./records.ts";

const { signed, signedRead } = topic({ tag: "Notices", surface: "native" });

const OFF = "404 while the console of the node is off.";
const isOff = ({ notices }: ApiDeps) => notices === undefined;

const Severity = Type.Union([Type.Literal("critical"), Type.Literal("warning"), Type.Literal("notice")]);

const NoticeChannel = object(
  {
    channel_id: Type.String(),
    kind: Type.Union([Type.Literal("hook"), Type.Literal("push")]),
    label: Type.String(),
    host: Type.String({ description: "The host that it calls" }),
    severity: Severity,
    checks: Type.Array(Type.String(), { description: "Empty: all" }),
    quiet_hours: nullable(Type.String({ description: "As `22:00-07:00 Europe/Berlin`" })),
    created_at: UnixSecs("Creation"),
    last_at: nullable(UnixSecs("The last call")),
    last_error: nullable(Type.String({ description: "Why it was not taken; null where it was" })),
  },
  { $id: "NoticeChannel" },
);

const Incident = object(
  {
    incident_id: Type.String(),
    check: Type.String({ description: OWNER_CHECKS.map(({ id }) => `\`${id}\``).join(", ") }),
    title: Type.String(),
    severity: Severity,
    state: Type.Union([Type.Literal("open"), Type.Literal("acknowledged"), Type.Literal("resolved")]),
    sentence: Type.String(),
    resolution: nullable(
      Type.String({ description: "When it resolves, with how far it is; null for a resolved one" }),
    ),
    remedy: Type.String(),
    path: Type.String({ description: "The page of what it is about, at this node" }),
    opened_at: UnixSecs("When it opened"),
    resolved_at: nullable(UnixSecs("When it was resolved")),
  },
  { $id: "OwnIncident" },
);

const One = object({ channel: NoticeChannel });

const termFlags = {
  severity: {
    type: "text",
    choices: ["critical", "warning", "notice"],
    help: "the lowest severity that it gets; notice, the default, is all",
  },
  checks: { type: "texts", help: "these checks only, as webhook_failing,send_held; all if empty" },
} as const satisfies Readonly<Record<string, CommandFlag>>;

/** The incidents of an owner, and the channels that get notices of them. */
export const noticeOperations = [
  signed({
    id: "createNoticeChannel",
    method: "POST",
    path: "/notice_channel",
    op: "notice_channel.create",
    isOff,
    command: {
      usage: "notice-channel create",
      help: "have a URL called when an incident of a record of the fid opens; prints the secret that verifies the calls",
      flags: {
        label: { type: "text", help: "its name in lists", isRequired: true },
        url: {
          type: "text",
          within: "hook",
          flag: "hook-url",
          help: "https",
          valueName: "<url>",
          isRequired: true,
        },
        preset: { type: "text", within: "hook", help: "json, slack, discord, ntfy or telegram" },
        to: { type: "text", within: "hook", help: "of telegram: the id of the chat", valueName: "<id>" },
        ...termFlags,
      },
    },
    summary: "Add a channel of notices",
    description: `Notices of incidents of the fid's own records: a webhook that fails, an API key or a signer that expires, a send that was held. A channel is a hook or a browser. Once an hour has had 20 notices, the rest is one. \`secret\` verifies the signatures of a hook and is shown once. ${OFF}`,
    body: CreateNoticeChannelRequest,
    response: object({
      channel: NoticeChannel,
      secret: nullable(Type.String({ description: "Null for a browser" })),
    }),
    errors: ["notFound"],
    run: async (deps, { body, ...actor }) => {
      const { channel, secret } = unwrapOrThrow(await noticesOf(deps).create(actor, body));
      return { channel: presentChannel(channel), secret };
    },
  }),
  signedRead({
    id: "listNoticeChannels",
    path: "/notice_channel/list",
    op: "notice_channel.read",
    isOff,
    command: { usage: "notice-channel list", help: "list the channels of the fid, with their last result" },
    summary: "Channels of notices of the signing fid",
    description: `\`push_key\` is the node's key for \`PushManager.subscribe\`. ${OFF}`,
    response: object({
      channels: Type.Array(NoticeChannel),
      checks: Type.Array(object({ check: Type.String(), title: Type.String() }), {
        description: "What a channel can be narrowed to",
      }),
      push_key: nullable(Type.String({ description: "Null where the node sends nothing to browsers" })),
    }),
    errors: ["notFound"],
    run: async (deps, owner) => {
      const { channels, pushKey } = await noticesOf(deps).list(owner);
      return { channels: channels.map(presentChannel), checks: [...checksOf(owner.fid)], push_key: pushKey };
    },
  }),
  signed({
    id: "updateNoticeChannel",
    method: "PUT",
    path: "/notice_channel",
    op: "notice_channel.update",
    isOff,
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "notice-channel update <channel_id> <label>",
      help: "change which incidents a channel gets, and when",
      flags: termFlags,
    },
    summary: "Change a channel of notices",
    description: `Its label and quiet hours, and which incidents it gets; where it leads stays. ${OFF}`,
    body: UpdateNoticeChannelRequest,
    response: One,
    errors: ["notFound"],
    run: async (deps, { body, ...actor }) => ({
      channel: presentChannel(unwrapOrThrow(await noticesOf(deps).update(actor, body))),
    }),
  }),
  signed({
    id: "deleteNoticeChannel",
    method: "DELETE",
    path: "/notice_channel",
    op: "notice_channel.delete",
    isOff,
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "notice-channel delete <channel_id>", help: "delete a channel with what waits for it" },
    summary: "Delete a channel of notices",
    description: `The id may also come as \`channel_id\` in a JSON body. ${OFF}`,
    query: { channel_id: optional(text({ maxChars: 64, description: "The channel's id" })) },
    response: Deleted,
    errors: ["notFound"],
    run: async (deps, { query, rawBody, ...actor }) => {
      const id = idToDelete("channel_id", query.channel_id, rawBody);
      unwrapOrThrow(await noticesOf(deps).delete(actor, id));
      return { deleted: true };
    },
  }),
  signed({
    id: "testNoticeChannel",
    method: "POST",
    path: "/notice_channel/test",
    op: "notice_channel.test",
    isOff,
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "notice-channel test <channel_id>", help: "send a test; the list has its result" },
    summary: "Send a test to a channel of notices",
    description: `Whatever its severity and quiet hours. The list of channels has the result. ${OFF}`,
    body: TestNoticeChannelRequest,
    response: object({ sent: Type.Literal(true) }),
    errors: ["notFound"],
    run: async (deps, { body, ...actor }) => {
      unwrapOrThrow(await noticesOf(deps).test(actor, body));
      return { sent: true as const };
    },
  }),
  signedRead({
    id: "listOwnIncidents",
    path: "/notice_channel/incidents",
    op: "notice_channel.read",
    isOff,
    command: { usage: "notice-channel incidents", help: "list the incidents of the fid's own records" },
    summary: "Incidents of the records of the signing fid",
    description: `Of the last 90 days, at most 100, newest first. ${OFF}`,
    response: object({ incidents: Type.Array(Incident) }),
    errors: ["notFound"],
    run: async (deps, { fid }) => ({
      incidents: (await noticesOf(deps).incidents(fid)).map(presentIncident),
    }),
  }),
  signed({
    id: "acknowledgeOwnIncident",
    method: "POST",
    path: "/notice_channel/incidents/acknowledge",
    op: "notice_channel.acknowledge",
    isOff,
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "notice-channel acknowledge <incident_id>",
      help: "end the reminders of an incident; it stays open",
    },
    summary: "Acknowledge an incident of a record of the fid",
    description: `Ends its reminders; it stays open until it is resolved. ${OFF}`,
    body: AcknowledgeIncidentRequest,
    response: object({ acknowledged: Type.Literal(true) }),
    errors: ["notFound"],
    run: async (deps, { body, ...actor }) => {
      unwrapOrThrow(await noticesOf(deps).acknowledge(actor, body));
      return { acknowledged: true as const };
    },
  }),
];

function noticesOf({ notices }: ApiDeps): OwnerNotices {
  if (!notices) throw new ApiError("notFound", "the console of this node is off");
  return notices;
}

function presentChannel({ id, checks, ...channel }: ChannelReport): Static<typeof NoticeChannel> {
  return { channel_id: id, ...channel, checks: [...checks] };
}

function presentIncident(incident: OwnIncident): Static<typeof Incident> {
  const { id, check, title, severity, state, sentence, resolution } = incident;
  const { remedy, path, opened_at, resolved_at } = incident;
  return {
    ...{ incident_id: id, check, title, severity, state, sentence, resolution },
    ...{ remedy, path, opened_at, resolved_at },
  };
}
