import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { ok, type Result } from "../../lib/result.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import { checked, Text } from "../../management/request-schema.ts";
import { MAX_BODY_CHARS, MAX_TITLE_CHARS, TargetUrl } from "../send-request.ts";
import type { QuietHours, Timing } from "../store/campaigns/campaign-store.ts";
import { dueIn, zoneNamed } from "./timing.ts";

/** How far ahead a send may be scheduled. */
export const MAX_AHEAD_SECS = 30 * 86_400;
/** How late a send may still start, unless its request says otherwise. */
const LATE_OK_SECS = 3_600;
const MAX_LATE_SECS = 86_400;
/** The zone whose clock is ahead of all others. */
const FIRST_ZONE = "Pacific/Kiritimati";

const clock = /^([01]\d|2[0-3]):([0-5]\d)$/;
const ClockTime = (description: string) =>
  checked<string>({ type: "string", pattern: clock.source, description }, (value) =>
    typeof value === "string" && clock.test(value) ? undefined : "must be a time such as 22:00",
  );
const Whole = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });

/** Fields that decide when and how an owner's send reaches people. Without them it starts at once. */
export const scheduleFields = {
  send_at: Type.Optional(Type.Integer({ minimum: 0, description: "Unix seconds, at most 30 days ahead" })),
  local_time: Type.Optional(
    checked<string>(
      {
        type: "string",
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:(00|15|30|45)$",
        description:
          "Instead of `send_at`: a date and time on each person's own clock, such as `2026-12-01T07:00`, on a quarter of an hour",
      },
      (value) =>
        typeof value === "string" && isLocalTime(value)
          ? undefined
          : "must be a date and time on a quarter of an hour, such as 2026-12-01T07:00",
    ),
  ),
  time_zone: Type.Optional(
    checked<string>(
      {
        type: "string",
        description: "The IANA zone of people whose own is not known, such as `Europe/Berlin`. Default: UTC",
      },
      (value) =>
        typeof value === "string" && zoneNamed(value) !== undefined
          ? undefined
          : "must be an IANA time zone, such as Europe/Berlin",
    ),
  ),
  quiet_hours: Type.Optional(
    Type.Object(
      {
        from: ClockTime("On the person's clock, such as `22:00`"),
        to: ClockTime("Its end, such as `08:00`"),
      },
      {
        additionalProperties: false,
        description: "Held back during these hours of a person's own clock, and sent at their end",
      },
    ),
  ),
  late_ok_secs: Type.Optional(
    Whole(60, MAX_LATE_SECS, "How late it may be sent, after a pause or a stop of the node; default 3600"),
  ),
  variants: Type.Optional(
    Type.Array(
      Type.Object(
        {
          title: Type.Optional(Text({ min: 1, max: MAX_TITLE_CHARS })),
          body: Type.Optional(Text({ min: 1, max: MAX_BODY_CHARS })),
          target_url: Type.Optional(TargetUrl),
        },
        { additionalProperties: false },
      ),
      {
        minItems: 2,
        maxItems: 4,
        description:
          "Texts of a test, each with what differs from `notification`. Every person gets one of them",
      },
    ),
  ),
  holdout_percent: Type.Optional(
    Whole(1, 90, "Percent of the people who are in no variant: they get nothing, or the winner"),
  ),
  winner_after_hours: Type.Optional(
    Whole(1, 72, "When the people of `holdout_percent` get the variant that most people opened"),
  ),
  track_opens: Type.Optional(
    Type.Boolean({
      description:
        "Whether links get a parameter with which the app can report opens, named by the service; default false",
    }),
  ),
} satisfies Record<string, TSchema>;

const fields = Type.Object(scheduleFields);
type Fields = Static<typeof fields>;

/** How a send is scheduled; the texts are those of the request. */
export interface SchedulePlan {
  /** Whether to store it as a schedule; otherwise it is one campaign that starts at once. */
  readonly isScheduled: boolean;
  readonly timing: Timing;
  readonly lateOkSecs: number;
  readonly variants: NonNullable<Fields["variants"]>;
  readonly holdoutPercent: number;
  readonly winnerAfterHours: number | undefined;
  readonly tracksOpens: boolean;
}

/** Validates the fields of a request in combination; a refusal names the field. */
export function planOf(request: Fields, nowSecs: number): Result<SchedulePlan, Refusal> {
  const { send_at, local_time, quiet_hours, variants = [], holdout_percent, winner_after_hours } = request;
  if (send_at !== undefined && local_time !== undefined)
    return badField("send_at and local_time exclude each other");
  const quiet = quiet_hours ? { from: minutesOf(quiet_hours.from), to: minutesOf(quiet_hours.to) } : null;
  if (quiet && quiet.from === quiet.to) return badField("quiet_hours must have a beginning and another end");
  if (quiet && !isOnQuarter(quiet)) return badField("quiet_hours.to must be on a quarter of an hour");
  if (holdout_percent !== undefined && variants.length === 0)
    return badField("holdout_percent needs variants");
  if (winner_after_hours !== undefined && holdout_percent === undefined)
    return badField("winner_after_hours needs holdout_percent: the people who get the winner");
  if (winner_after_hours !== undefined && (local_time !== undefined || quiet !== null))
    return badField("winner_after_hours cannot be combined with local_time or quiet_hours");
  if (winner_after_hours !== undefined && request.track_opens !== true)
    return badField("winner_after_hours needs track_opens");
  const timing: Timing = {
    at: local_time === undefined ? (send_at ?? nowSecs) : null,
    local: local_time ?? null,
    quiet,
    zone: zoneNamed(request.time_zone ?? "UTC") ?? "UTC",
  };
  const first = dueIn({ ...timing, quiet: null }, FIRST_ZONE);
  const field = local_time === undefined ? "send_at" : "local_time";
  const isSoon = send_at === undefined && local_time === undefined;
  if (first < nowSecs)
    return badField(
      local_time === undefined ? "send_at is in the past" : "local_time is in the past in some zones",
    );
  if (first > nowSecs + MAX_AHEAD_SECS) return badField(`${field} is more than 30 days ahead`);
  return ok({
    isScheduled: !isSoon || quiet !== null || variants.length > 0,
    timing,
    lateOkSecs: request.late_ok_secs ?? LATE_OK_SECS,
    variants,
    holdoutPercent: holdout_percent ?? 0,
    winnerAfterHours: winner_after_hours,
    tracksOpens: request.track_opens ?? false,
  });
}

function minutesOf(text: string): number {
  const [, hours, minutes] = clock.exec(text) ?? [];
  return Number(hours) * 60 + Number(minutes);
}

/** People are notified at the end of quiet hours, in waves of a quarter of an hour. */
const isOnQuarter = ({ to }: QuietHours) => to % 15 === 0;

function isLocalTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:(00|15|30|45)$/.test(text)) return false;
  try {
    Temporal.PlainDateTime.from(text, { overflow: "reject" });
    return true;
  } catch {
    return false;
  }
}
