import {
  bytes,
  index,
  json,
  nullable,
  sequence,
  table,
  text,
  unique,
  uuid,
  whole,
} from "../../../db/state/table.ts";
import type { Audience, NewPart, Notification, Timing } from "../campaigns/campaign-store.ts";

/**
 * `due`: to be sent; `sent`: its campaign is stored; `held`: its owner must act; `missed`: it was too late. All states but `due` are
 * final.
 */
export type WaveState = "due" | "sent" | "held" | "missed" | "cancelled";

/** A scheduled send, as signed by its owner's custody address. Times are unix seconds. */
export const schedules = table(
  "schedules",
  {
    seq: sequence(),
    /** Also the notification id for all clients. */
    schedule_id: unique(text()),
    app_id: text(),
    owner_fid: whole(),
    /** The address that signed it. */
    custody: bytes(),
    /** keccak256 of the body that was signed. */
    body_hash: bytes(),
    content: json<ScheduleContent>(),
    created_at: whole(),
    last_due_at: whole(),
    /** When its last wave was decided. */
    ended_at: nullable(whole()),
  },
  {
    indexes: [
      index("schedules_by_app", ["app_id", "seq"]),
      index("schedules_open", ["app_id"], { where: "ended_at IS NULL" }),
      index("schedules_by_end", ["ended_at"]),
    ],
  },
);

/** A campaign of a schedule: what it sends at one time, with one text. */
export const scheduleWaves = table(
  "schedule_waves",
  {
    /** The schedule's `seq`. */
    schedule: whole(),
    wave: whole(),
    due_at_ms: whole(),
    /** Its index in the texts; -1 for the text that did best. */
    variant: whole(),
    state: text<WaveState>(),
    /** Why it is `held`. */
    reason: nullable(text<HeldReason>()),
    /** The boot that sent it. */
    claimed_by: nullable(uuid()),
    campaign_id: nullable(text()),
  },
  {
    key: ["schedule", "wave"],
    indexes: [
      index("schedule_waves_due", ["due_at_ms"], { where: "state = 'due'" }),
      index("schedule_waves_not_sent", ["due_at_ms"], { where: "state IN ('held', 'missed')" }),
    ],
    cleared: ["claimed_by"],
  },
);

/** `custody_moved`: the fid now has another owner than the one who signed; `app_url_changed`: the app has moved to another host. */
export type HeldReason = "custody_moved" | "app_deleted" | "app_url_changed";

/** The variant of a wave that sends the text that did best. */
export const WINNER = -1;

/** The texts, audience and time of a schedule. */
export interface ScheduleContent {
  /** One text, or the variants of a test. */
  readonly texts: readonly Omit<Notification, "notificationId">[];
  readonly audience: Audience;
  readonly timing: Timing;
  /** When its campaigns are due over all zones, ascending. Stored, because a later release may know other zones. */
  readonly times: readonly number[];
  /** Percentage of the people who are in no variant. */
  readonly holdoutPercent: number;
  /** How late a wave may be sent. */
  readonly lateOkSecs: number;
}

export interface NewWave {
  readonly wave: number;
  readonly dueAt: number;
  readonly variant: number;
}

export interface NewSchedule {
  readonly scheduleId: string;
  readonly appId: string;
  readonly ownerFid: number;
  readonly custody: Uint8Array;
  readonly bodyHash: Uint8Array;
  readonly content: ScheduleContent;
  readonly createdAt: number;
  /** Ascending by time. */
  readonly waves: readonly NewWave[];
}

/** A wave as its owner sees it. */
export interface Wave extends NewWave {
  readonly state: WaveState;
  readonly reason: HeldReason | null;
  readonly campaignId: string | null;
}

/** A schedule as it is read: without the fids that it names, which may be a hundred thousand. */
export interface Schedule extends Omit<NewSchedule, "content"> {
  readonly content: Omit<ScheduleContent, "audience"> & {
    readonly audience: Omit<Audience, "targetFids" | "excludeFids" | "segment">;
  };
  /** Order of creation. */
  readonly seq: number;
  readonly waves: readonly Wave[];
  readonly endedAt: number | null;
}

/** A wave that is due. */
export interface DueWave extends Omit<Schedule, "waves" | "endedAt">, NewWave {
  readonly lastDueAt: number;
}

/**
 * `taken`: another node has decided on it, or it was cancelled; `early`: it is not due by `StateClock.dueMs`; `late`: it is now recorded
 * as missed; `too-many`: the app has too many unfinished campaigns.
 */
export type FireOutcome = "sent" | "taken" | "early" | "late" | "too-many";

/**
 * Stores schedules. Every method is atomic, even against concurrent calls of other processes. The state's clock decides what is due or
 * late.
 */
export interface ScheduleStore {
  /** Stores a schedule, unless its app already has `maxOpen` schedules with due waves. */
  create(schedule: NewSchedule, maxOpen: number): Promise<"created" | "too-many">;
  find(scheduleId: string): Promise<Schedule | undefined>;
  /** Returns those before `before` (a `seq`), newest first. */
  list(page: { readonly appId: string; readonly before: number; readonly max: number }): Promise<Schedule[]>;
  /** Cancels the due waves of a schedule. Returns their number. */
  cancel(scheduleId: string): Promise<number>;
  /**
   * Returns waves that seem due, oldest first.
   *
   * @param nowSecs the time of this node; only `fire` decides
   * @param exceptApps ids of apps whose waves are left out
   */
  due(nowSecs: number, max: number, exceptApps?: readonly string[]): Promise<DueWave[]>;
  /**
   * Takes a wave and stores its campaign, in one transaction. A wave is taken only once: a second call, on any node, finds it `taken`, so
   * a process that is killed before or after this neither loses nor repeats the send.
   */
  fire(
    wave: Pick<DueWave, "seq" | "wave">,
    campaign: NewPart,
    limits: { readonly lateOkSecs: number; readonly maxUnfinished: number },
  ): Promise<FireOutcome>;
  /** Records that a due wave is not sent. */
  hold(wave: Pick<DueWave, "seq" | "wave">, reason: HeldReason): Promise<void>;
}
