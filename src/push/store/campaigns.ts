import type { TokenPosition } from "../../db/state/stores.ts";

/**
 * Sent notifications: their records, and who has which of them. Times are unix seconds and come from the caller;
 * claims and the ledger expire by the state's clock, which no jump of the machine's clock moves.
 */

/** What clients are sent. */
export interface Notification {
  /** Under this id a client shows a notification to a user once. */
  readonly notificationId: string;
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
}

/** Whom a notification is for. */
export interface Audience {
  /** Empty for everybody who has an enabled token. */
  readonly targetFids: readonly number[];
  readonly excludeFids: readonly number[];
  /** Only those who follow this fid; null for no such condition. */
  readonly followingFid: number | null;
}

/** `aborted`: it ended before its audience did, since its app is gone or it was interrupted for too long. */
export type CampaignStatus = "queued" | "running" | "completed" | "aborted";

/** Tokens by what became of them. */
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
  /** How long the notification's ledger is kept at least. */
  readonly ledgerSecs: number;
}

/** A campaign that is to be carried out. */
export interface CampaignWork extends Pick<Campaign, "seq" | "campaignId" | "appId" | "notification"> {
  readonly audience: Audience;
  /** Names the notification in the ledger. */
  readonly ledgerKey: number;
  /** Whether the ledger may have forgotten who has the notification. */
  readonly isLedgerOver: boolean;
  readonly createdAt: number;
}

export type OutcomeKind = "success" | "failure" | "not_attempted";

/** So many tokens of one client host had one outcome, for one reason (empty for a success). */
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

/** So many tokens of one client app a campaign sent to, or tried to, and so many of them took it. */
export interface ClientCount {
  /** 0 for clients whose signing keys name none. */
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

export interface CampaignStore {
  /** Stores a campaign as queued, unless its app has `maxUnderWay` that have not ended. */
  create(campaign: NewCampaign, maxUnderWay: number): Promise<"created" | "too-many">;
  find(campaignId: string): Promise<Campaign | undefined>;
  /** Newest first, those before `before` (a `seq`). */
  list(page: { readonly appId: string; readonly before: number; readonly max: number }): Promise<Campaign[]>;
  /** All that have not ended, oldest first. */
  underWay(): Promise<Pick<Campaign, "campaignId" | "appId" | "createdAt">[]>;
  /**
   * Takes a campaign up, for the first time or again after a crash. What an earlier run counted as not attempted is
   * forgotten, because the next run meets those tokens again. Undefined for one that has ended.
   */
  start(campaignId: string, nowSecs: number): Promise<CampaignWork | undefined>;
  end(campaignId: string, status: "completed" | "aborted", nowSecs: number): Promise<void>;
  breakdown(campaignId: string, maxHosts: number): Promise<CampaignBreakdown>;
  totals(campaignId: string, maxClients: number): Promise<CampaignTotals>;
  /** Fids with a rate-limited token above `after`, ascending. */
  retryableFids(campaignId: string, after: number, max: number): Promise<number[]>;
}

/** What a claim says of a token. */
export interface Claimed<Token extends TokenPosition> {
  /** They are this campaign's to send to until the lease ends. */
  readonly taken: readonly Token[];
  /** This campaign has counted them before. */
  readonly counted: readonly Token[];
  /** Another campaign sent them the notification, or is about to. */
  readonly refused: readonly Token[];
}

/** What became of a token that was claimed. */
export interface Settlement extends TokenPosition {
  readonly kind: "success" | "failure";
  /** Empty for a success. */
  readonly reason: string;
  /** Its fid may be sent the same notification later. */
  readonly isRetryable: boolean;
}

/**
 * Who has which notification: the record that makes a notification reach a token once. A claim is decided atomically,
 * whichever campaigns, threads or processes ask at the same time.
 */
export interface DeliveryLedger {
  /** Claims tokens for `leaseSecs`, or prolongs the claims that the campaign has. */
  claim<Token extends TokenPosition>(
    campaign: Pick<CampaignWork, "seq" | "ledgerKey">,
    tokens: readonly Token[],
    leaseSecs: number,
  ): Promise<Claimed<Token>>;
  /**
   * Records what became of claimed tokens of one host, in one transaction with the counts: success is kept for
   * `keptSecs`, everything else gives the claim up. Repeated, it changes nothing.
   */
  settle(
    campaign: Pick<CampaignWork, "seq" | "ledgerKey">,
    host: string,
    settlements: readonly Settlement[],
    keptSecs: number,
  ): Promise<void>;
  countNotAttempted(
    campaign: Pick<CampaignWork, "seq">,
    host: string,
    reasons: Readonly<Record<string, number>>,
  ): Promise<void>;
}
