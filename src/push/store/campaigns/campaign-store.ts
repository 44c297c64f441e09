import type { FidList } from "../fid-list.ts";
import type { TokenPosition } from "../tokens/token-store.ts";

/** A notification as clients receive it. */
export interface Notification {
  /** A client shows only one notification with the same id to a user. */
  readonly notificationId: string;
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
}

/** Recipients of a notification. */
export interface Audience {
  /** Empty for every user with an enabled token. */
  readonly targetFids: readonly number[];
  readonly excludeFids: readonly number[];
  /** Only followers of this fid; null for no such condition. */
  readonly followingFid: number | null;
  /** The minimum score of a recipient, if scores decide on sends; absent for no such condition. */
  readonly minimumScore?: number;
  readonly segment?: SegmentFilter;
  /** The part of the people that this campaign reaches, if the schedule has several times or texts. */
  readonly share?: AudienceShare;
  /** Whether links identify the campaign, so that the app can report opens. */
  readonly tracksOpens?: true;
}

/** Conditions of a segment, all of which must hold. The names are those of the request that stores it; its list is packed. */
export interface SegmentFilter {
  /** Unix seconds. */
  readonly added_after?: number;
  readonly added_before?: number;
  readonly client_fids?: readonly number[];
  readonly following_fid?: number;
  readonly channel_id?: string;
  readonly opened_within_days?: number;
  readonly not_opened_within_days?: number;
  readonly time_zones?: readonly string[];
  readonly fids?: FidList;
}

/** The part of each day, in minutes since midnight, during which no one is notified. It may span midnight. */
export interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/** When a scheduled send reaches a person. One of `at` and `local` is set. */
export interface Timing {
  /** Unix seconds. */
  readonly at: number | null;
  /** `YYYY-MM-DDTHH:MM` on the person's clock. */
  readonly local: string | null;
  readonly quiet: QuietHours | null;
  /** The IANA zone for people whose own is unknown. */
  readonly zone: string;
}

/** People of a schedule by the hash of their fid, from `from` (inclusive) to `to` (exclusive), and by their wave. */
export interface AudienceShare {
  readonly scheduleId: string;
  readonly from: number;
  readonly to: number;
  readonly wave?: { readonly place: number; readonly waves: readonly number[]; readonly timing: Timing };
}

/** `aborted`: its app was deleted, or it was interrupted for too long. */
export type CampaignStatus = "queued" | "running" | "completed" | "aborted";

/** Number of tokens by outcome. */
export interface OutcomeCounts {
  readonly success: number;
  readonly failure: number;
  readonly notAttempted: number;
}

/** Limit of unfinished campaigns of one app, including queued ones. */
export const MAX_UNFINISHED = 100;

/** How long campaigns are stored. */
export const CAMPAIGN_RETENTION_SECS = 30 * 86_400;

/** One send of a notification. */
export interface Campaign {
  /** Order of creation. */
  readonly seq: number;
  /** UUID. */
  readonly campaignId: string;
  readonly appId: string;
  readonly notification: Notification;
  readonly status: CampaignStatus;
  readonly counts: OutcomeCounts;
  /** Tokens of its audience before filters; null until a run has counted them. */
  readonly audienceCount: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The `seq` of the schedule that it belongs to. */
  readonly schedule: number | null;
}

/** The sums of all campaigns of a schedule so far. */
export interface ScheduleSums
  extends Pick<Campaign, "status" | "counts" | "audienceCount" | "startedAt" | "endedAt"> {
  readonly schedule: number;
  readonly parts: number;
}

export interface NewCampaign extends Pick<Campaign, "campaignId" | "appId" | "notification" | "createdAt"> {
  readonly audience: Audience;
  /** Minimum time for which the notification's ledger is stored. */
  readonly ledgerSecs: number;
}

/** A campaign of a schedule, for its whole audience or a share. */
export interface NewPart extends Omit<NewCampaign, "audience"> {
  readonly share?: AudienceShare | undefined;
}

/** A run of a campaign by one node. All writes of the run contain it. */
export interface CampaignRun {
  /** The campaign's `seq`. */
  readonly seq: number;
  /** Incremented by each `take`; a run with an earlier epoch cannot write. */
  readonly epoch: number;
  /** Key of the notification in the ledger. */
  readonly ledgerKey: number;
}

/** A campaign that this node has taken. */
export interface CampaignWork
  extends CampaignRun,
    Pick<Campaign, "campaignId" | "appId" | "notification" | "createdAt"> {
  readonly audience: Audience;
  /** Number of runs of the campaign on all nodes, including this one. */
  readonly runs: number;
  /** Whether its previous runner ended without finishing it. */
  readonly isTakenOver: boolean;
  /** When the ledger of its notification expires, by the state's clock. */
  readonly ledgerEndsAt: number;
  /** Whether an earlier run may have sent it and the ledger of its recipients may have expired. */
  readonly isLedgerExpired: boolean;
}

/** `taken`: another run has the campaign, or it has ended. `undone`: a crash of the database undid what the run had written. */
export type RunLoss = "taken" | "undone";

/** The run must stop, and its last write is not stored. */
export class RunLost extends Error {
  override name = "RunLost";

  constructor(readonly why: RunLoss) {
    super(`the run of the campaign is lost: ${why}`);
  }
}

/** Limits of concurrent campaigns on a node, in total and per app. Others wait, and the oldest runs first. */
export interface RunLimits {
  readonly maxRunning: number;
  readonly maxRunningOfApp: number;
}

/** Returns the limits of a node; a node without slots for calls runs no campaigns. */
export function runLimitsOf(send: { readonly send_concurrency: number }): RunLimits {
  return { maxRunning: send.send_concurrency === 0 ? 0 : 32, maxRunningOfApp: 8 };
}

/** What a node already runs, and its limits. */
export interface CampaignRoom extends RunLimits {
  readonly running: readonly Pick<CampaignWork, "seq" | "appId">[];
}

/** Campaigns waiting for a node to run them. */
export interface WaitingCampaigns {
  readonly count: number;
  /** When the oldest was created; null if there is none. */
  readonly oldestCreatedAt: number | null;
}

export type OutcomeKind = "success" | "failure" | "not_attempted";

/** Number of tokens of one client host with one outcome and reason (empty for a success). */
export interface OutcomeCount {
  readonly host: string;
  readonly kind: OutcomeKind;
  readonly reason: string;
  readonly count: number;
}

/** Counts of a campaign by client host and by reason. */
export interface CampaignBreakdown {
  /** Hosts with the most tokens, all reasons of each. */
  readonly byHost: readonly OutcomeCount[];
  readonly hostCount: number;
  /** Over all hosts. */
  readonly byReason: readonly Omit<OutcomeCount, "host">[];
}

/** Number of attempted tokens of one client app, and of successes among them. */
export interface ClientCount {
  /** 0 for clients whose signing keys have no fid. */
  readonly clientFid: number;
  readonly tokens: number;
  readonly successes: number;
}

/** Counts of a campaign over all hosts. */
export interface CampaignTotals {
  readonly byReason: CampaignBreakdown["byReason"];
  /** By the client's fid. */
  readonly byClient: readonly ClientCount[];
}

/** People of one client app who left within a day of a campaign. */
export interface Departures {
  /** The campaign's `seq`. */
  readonly campaign: number;
  readonly clientFid: number;
  readonly people: number;
}

/**
 * The notification campaigns. Every method is atomic, even against concurrent calls of other processes. Times are unix seconds and come
 * from the caller; the ledger and the delays of runs use the state's clock, which is unaffected by jumps of the machine's clock.
 */
export interface CampaignStore {
  /** Stores a campaign as queued, unless its app has `maxUnfinished` unfinished ones. */
  create(campaign: NewCampaign, maxUnfinished: number): Promise<"created" | "too-many">;
  find(campaignId: string): Promise<Campaign | undefined>;
  /** Returns those before `before` (a `seq`), newest first. If `isGrouped`, only the first campaign of each schedule. */
  list(page: {
    readonly appId: string;
    readonly before: number;
    readonly max: number;
    readonly isGrouped?: boolean;
  }): Promise<Campaign[]>;
  sums(schedules: readonly number[]): Promise<ScheduleSums[]>;
  /**
   * Takes campaigns for this node, oldest first, as far as there is room: those without a runner, those whose runner is no longer alive,
   * and those of this node that are not in `room.running` because the response of an earlier call was lost. It resets the counts of
   * tokens that an earlier run did not attempt, because the next run counts them again.
   */
  take(room: CampaignRoom, nowSecs: number): Promise<CampaignWork[]>;
  /** Stores how many tokens the audience has before filters. Does nothing if the run is over. */
  setAudienceCount(run: CampaignRun, tokens: number): Promise<void>;
  /** Ends a run so that any node may take its campaign after `delayMs`. Does nothing if the run is over. */
  release(run: CampaignRun, delayMs: number): Promise<void>;
  /**
   * Ends the run and its campaign if the database still has all writes of the run. A repeated call changes nothing. When a campaign is
   * completed, its audience becomes the sum of its counts, because tokens may have been added and removed while it ran.
   *
   * @returns otherwise, why nothing was changed; `take` returns a campaign of this node whose run was undone
   */
  end(run: CampaignRun, status: "completed" | "aborted", nowSecs: number): Promise<"ended" | RunLoss>;
  /** Returns which of the campaigns have ended or do not exist. */
  ended(campaignIds: readonly string[]): Promise<string[]>;
  waiting(): Promise<WaitingCampaigns>;
  breakdown(campaignId: string, maxHosts: number): Promise<CampaignBreakdown>;
  totals(campaignId: string, maxClients: number): Promise<CampaignTotals>;
  /** Returns how many people left within a day of a campaign (its `seq`). */
  departures(campaigns: readonly number[]): Promise<Departures[]>;
  /** Returns which of the tokens, ordered by fid, already got the notification; the others may be sent to. */
  sentBefore<Token extends TokenPosition>(
    notification: { readonly appId: string; readonly notificationId: string },
    tokens: readonly Token[],
  ): Promise<Token[]>;
  /** Returns fids above `after` with a rate-limited token, ascending. */
  retryableFids(campaignId: string, after: number, max: number): Promise<number[]>;
}
