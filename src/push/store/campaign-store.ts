/** A notification as clients get it. */
export interface Notification {
  /** A client shows one notification of an id to a user. */
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
}

/** `aborted`: its app was deleted, or it was interrupted for too long. */
export type CampaignStatus = "queued" | "running" | "completed" | "aborted";

/** Number of tokens by outcome. */
export interface OutcomeCounts {
  readonly success: number;
  readonly failure: number;
  readonly notAttempted: number;
}

/** One send. */
export interface Campaign {
  /** Order of creation. */
  readonly seq: number;
  /** UUID. */
  readonly campaignId: string;
  readonly appId: string;
  readonly notification: Notification;
  readonly status: CampaignStatus;
  readonly counts: OutcomeCounts;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface NewCampaign extends Pick<Campaign, "campaignId" | "appId" | "notification" | "createdAt"> {
  readonly audience: Audience;
  /** Minimum time that the notification's ledger is stored. */
  readonly ledgerSecs: number;
}

/** A campaign that is to be run. */
export interface CampaignWork extends Pick<Campaign, "seq" | "campaignId" | "appId" | "notification"> {
  readonly audience: Audience;
  /** Key of the notification in the ledger. */
  readonly ledgerKey: number;
  /** Whether the ledger may have expired, so that it is unknown which tokens got the notification. */
  readonly isLedgerExpired: boolean;
  readonly createdAt: number;
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

/**
 * The notification campaigns. Every method is atomic, also against concurrent calls of other processes. Times are unix
 * seconds and come from the caller; the ledger expires by the state's clock, which is unaffected by jumps of the
 * machine's clock.
 */
export interface CampaignStore {
  /** Stores a campaign as queued, unless its app has `maxUnfinished` unfinished ones. */
  create(campaign: NewCampaign, maxUnfinished: number): Promise<"created" | "too-many">;
  find(campaignId: string): Promise<Campaign | undefined>;
  /** Newest first, those before `before` (a `seq`). */
  list(page: { readonly appId: string; readonly before: number; readonly max: number }): Promise<Campaign[]>;
  /** Returns all unfinished campaigns, oldest first. */
  listUnfinished(): Promise<Pick<Campaign, "campaignId" | "appId" | "createdAt">[]>;
  /**
   * Starts a campaign, for the first time or again after a crash. It resets the counts of tokens that an earlier run did
   * not attempt, because the next run counts them again. Undefined for a finished campaign.
   */
  start(campaignId: string, nowSecs: number): Promise<CampaignWork | undefined>;
  end(campaignId: string, status: "completed" | "aborted", nowSecs: number): Promise<void>;
  breakdown(campaignId: string, maxHosts: number): Promise<CampaignBreakdown>;
  totals(campaignId: string, maxClients: number): Promise<CampaignTotals>;
  /** Returns fids above `after` with a rate-limited token, ascending. */
  retryableFids(campaignId: string, after: number, max: number): Promise<number[]>;
}
