import { type Static, Type } from "@sinclair/typebox";
import { optional, text } from "../../../http/request/params.ts";
import { SendCampaignRequest } from "../../../push/schedules/campaign-request.ts";
import {
  type HeldReason,
  type Schedule,
  type WaveState,
  WINNER,
} from "../../../push/store/schedules/schedule-store.ts";
import { cursorCodec, cutPage } from "../../../read/cursor.ts";
import type { CommandFlag } from "../../command.ts";
import { Count, Next, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { sendFlags } from "../apps/audience.ts";
import { presentQueued, QueuedCampaign } from "../apps/send.ts";

const { signed, signedRead } = topic({ tag: "Mini apps", surface: "native" });

const STATES: readonly WaveState[] = ["due", "sent", "held", "missed", "cancelled"];
const REASONS: readonly HeldReason[] = ["custody_moved", "app_deleted", "app_url_changed"];

const NotificationSchedule = object(
  {
    schedule_id: Type.String({ format: "uuid", description: "Also the notification id for all clients" }),
    app_id: Type.String(),
    state: Type.Unsafe<WaveState>({
      type: "string",
      enum: [...STATES],
      description:
        "`due` while something is to be sent. Otherwise `held`, `missed` or `cancelled` if something was not sent, else `sent`",
    }),
    body_hash: Type.String({ description: "keccak256 of the body that was signed" }),
    signed_by: Type.String({ description: "The custody address that signed it" }),
    texts: Type.Array(object({ title: Type.String(), body: Type.String(), target_url: Type.String() }), {
      description: "One, or the variants",
    }),
    local_time: nullable(Type.String({ description: "On each person's clock" })),
    time_zone: Type.String({ description: "The zone of people whose own is not known" }),
    quiet_hours: nullable(object({ from: Type.String(), to: Type.String() })),
    holdout_percent: Count,
    late_ok_secs: Count,
    tracks_opens: Type.Boolean(),
    created_at: UnixSecs("When it was accepted"),
    first_at: UnixSecs("When its first campaign is due"),
    last_at: UnixSecs("When its last campaign is due"),
    waves: Type.Array(
      object({
        due_at: UnixSecs("When it is due"),
        variant: nullable(
          Type.Integer({ minimum: 0, description: "Its place in `texts`; null for the winner" }),
        ),
        state: Type.Unsafe<WaveState>({ type: "string", enum: [...STATES] }),
        held_because: nullable(Type.Unsafe<HeldReason>({ type: "string", enum: [...REASONS] })),
        campaign_id: nullable(Type.String({ format: "uuid" })),
      }),
      { description: "A campaign for each time and text" },
    ),
  },
  { $id: "NotificationSchedule" },
);

const ScheduledCampaign = object(
  { status: Type.Literal("scheduled"), schedule: NotificationSchedule },
  { $id: "ScheduledCampaign", description: "The send is stored, and continues at its time" },
);

const scheduleCursor = cursorCodec("app-schedules", ["int"]);

const scheduleFlags: Readonly<Record<string, CommandFlag | false>> = {
  send_at: {
    type: "timeAhead",
    help: 'when it is sent, such as 07:00 (the next one) or "in 2 h" (default: now)',
  },
  local_time: {
    type: "text",
    valueName: "<date>T<time>",
    help: "when it is sent, on the clock of each person: 2026-12-01T07:00",
  },
  time_zone: {
    type: "text",
    valueName: "<zone>",
    help: "zone of people whose own is not known (default: UTC)",
  },
  from: {
    type: "text",
    within: "quiet_hours",
    flag: "quiet-from",
    valueName: "<time>",
    help: "hold it back from this time of the person's clock: 22:00",
  },
  to: {
    type: "text",
    within: "quiet_hours",
    flag: "quiet-to",
    valueName: "<time>",
    help: "the end of that: 08:00",
  },
  late_ok_secs: { type: "whole", help: "how late it may be sent (default: 3600)" },
  track_opens: { type: "boolean", help: "add a parameter to the link, by which the app can report opens" },
  variants: false,
  holdout_percent: false,
  winner_after_hours: false,
};

export const scheduleOperations = [
  signed({
    id: "sendCampaign",
    method: "POST",
    path: "/frame/app/campaign",
    op: "app.send",
    command: {
      usage: "app send <app_id>",
      help: "send a notification to users of a mini app, at once or later; prints its campaign or schedule",
      flags: { ...sendFlags({ isRequired: true }), ...scheduleFlags },
    },
    summary: "Send a notification as the owner of a mini app",
    description:
      "Needs no send secret. The campaign is stored and continues, even across a restart of the node; `/frame/app/campaign` " +
      "returns its progress. With a time, quiet hours or variants it is stored as a schedule, whose campaigns are made when they " +
      "are due, each exactly once. A change of a schedule is a new one: cancel the old one.",
    body: SendCampaignRequest,
    response: Type.Union([QueuedCampaign, ScheduledCampaign]),
    status: 202,
    errors: ["forbidden", "notFound", "tooManyRequests"],
    run: async ({ push: { schedules } }, { body, rawBody, ...owner }) => {
      const started = unwrapOrThrow(await schedules.send(owner, body, rawBody));
      return "schedule" in started
        ? { status: "scheduled" as const, schedule: presentSchedule(started.schedule) }
        : presentQueued(started.campaignId);
    },
  }),
  signedRead({
    id: "listSchedules",
    path: "/frame/app/schedule",
    op: "app.read",
    command: {
      usage: "app schedules <app_id>",
      help: "list the scheduled sends of a mini app, newest first",
    },
    summary: "Scheduled sends of a mini app",
    description: "Newest first. A schedule is retained for 30 days after its last campaign was decided on.",
    query: {
      app_id: text({ description: "The app's id" }),
      schedule_id: optional(text({ description: "Only this one" })),
      ...page(),
    },
    response: object({ schedules: Type.Array(NotificationSchedule), next: Next }),
    errors: ["forbidden", "notFound"],
    run: async ({ push: { schedules } }, { fid, query }) => {
      const [before] = decodeCursor(scheduleCursor, query.cursor) ?? [];
      const { app_id: appId, schedule_id: id, limit } = query;
      if (id !== undefined) {
        const found = unwrapOrThrow(await schedules.get(fid, id.toLowerCase()));
        return { schedules: found.appId === appId ? [presentSchedule(found)] : [], next: { cursor: null } };
      }
      const found = unwrapOrThrow(await schedules.list(fid, { appId, before, max: limit + 1 }));
      const { rows, cursor } = cutPage(found, limit, (last) => scheduleCursor.encode([last.seq]));
      return { schedules: rows.map(presentSchedule), next: { cursor } };
    },
  }),
  signed({
    id: "cancelSchedule",
    method: "DELETE",
    path: "/frame/app/schedule",
    op: "app.send",
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "app unschedule <schedule_id>", help: "cancel what a scheduled send has not sent yet" },
    summary: "Cancel a scheduled send",
    description: "Cancels the campaigns that are not stored yet. 400 when none is left.",
    query: { schedule_id: text({ description: "From the response of the send" }) },
    response: object({ schedule: NotificationSchedule }),
    errors: ["forbidden", "notFound"],
    run: async ({ push: { schedules } }, { fid, query }) => ({
      schedule: presentSchedule(unwrapOrThrow(await schedules.cancel(fid, query.schedule_id.toLowerCase()))),
    }),
  }),
];

/** The most important states for the owner, in order. */
const NEWS: readonly WaveState[] = ["due", "held", "missed", "cancelled", "sent"];

const timeOfDay = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;

export function presentSchedule(schedule: Schedule): Static<typeof NotificationSchedule> {
  const { content, waves } = schedule;
  const { timing, texts } = content;
  const dues = waves.map(({ dueAt }) => dueAt);
  return {
    schedule_id: schedule.scheduleId,
    app_id: schedule.appId,
    state: NEWS.find((state) => waves.some((wave) => wave.state === state)) ?? "sent",
    body_hash: `0x${Buffer.from(schedule.bodyHash).toString("hex")}`,
    signed_by: `0x${Buffer.from(schedule.custody).toString("hex")}`,
    texts: texts.map(({ title, body, targetUrl }) => ({ title, body, target_url: targetUrl })),
    local_time: timing.local,
    time_zone: timing.zone,
    quiet_hours: timing.quiet && { from: timeOfDay(timing.quiet.from), to: timeOfDay(timing.quiet.to) },
    holdout_percent: content.holdoutPercent,
    late_ok_secs: content.lateOkSecs,
    tracks_opens: content.audience.tracksOpens ?? false,
    created_at: schedule.createdAt,
    first_at: Math.min(...dues),
    last_at: Math.max(...dues),
    waves: waves.map(({ dueAt, variant, state, reason, campaignId }) => ({
      due_at: dueAt,
      variant: variant === WINNER ? null : variant,
      state,
      held_because: reason,
      campaign_id: campaignId,
    })),
  };
}
