import type { SendDraft } from "../apps/send-draft.ts";

/** A campaign of the native dialect. Times are unix seconds. */
export interface Campaign {
  readonly campaign_id: string;
  readonly app_id: string;
  readonly status: "queued" | "running" | "completed" | "aborted";
  readonly notification: {
    readonly uuid: string;
    readonly title: string;
    readonly body: string;
    readonly target_url: string;
  };
  readonly success_count: number;
  readonly failure_count: number;
  readonly not_attempted_count: number;
  readonly audience_count: number | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
}

export type Reasons = Readonly<Record<string, number>>;

export interface CampaignHost {
  readonly host: string;
  readonly success_count: number;
  readonly failure_count: number;
  readonly not_attempted_count: number;
  readonly errors: Reasons;
}

export interface CampaignDetails extends Campaign {
  readonly tokens_per_second: number | null;
  readonly client_hosts: readonly CampaignHost[];
  readonly client_host_count: number;
  readonly errors: Reasons;
  readonly not_attempted: Reasons;
  readonly retryable_fids: readonly number[];
}

/** Whether its figures may still change. */
export const isUnderWay = ({ status }: Pick<Campaign, "status">) =>
  status === "queued" || status === "running";

/** The figures of a campaign while its page is open. */
export interface Progress {
  readonly delivered: number;
  readonly failed: number;
  readonly notAttempted: number;
  readonly settled: number;
  /** Null until the node has counted the audience. */
  readonly total: number | null;
  readonly remaining: number | null;
}

/**
 * The figures of a response. While the campaign runs none is below one that was shown before: a run that goes on after a restart of the
 * node counts the tokens again that it does not attempt.
 */
export function progressOf(campaign: Campaign, shown?: Progress): Progress {
  const floor = isUnderWay(campaign) ? shown : undefined;
  const delivered = Math.max(campaign.success_count, floor?.delivered ?? 0);
  const failed = Math.max(campaign.failure_count, floor?.failed ?? 0);
  const notAttempted = Math.max(campaign.not_attempted_count, floor?.notAttempted ?? 0);
  const settled = delivered + failed + notAttempted;
  const counted = campaign.audience_count;
  const total = counted === null ? null : Math.max(counted, settled);
  return {
    delivered,
    failed,
    notAttempted,
    settled,
    total,
    remaining: total === null ? null : total - settled,
  };
}

/** A draft that sends the notification once more: to everyone as a new one, or with its id to those who could not get it. */
export function draftOf(
  { notification, retryable_fids }: CampaignDetails,
  to: "everyone" | "retryable",
): SendDraft {
  const { title, body, target_url, uuid } = notification;
  const isRetry = to === "retryable";
  return {
    title,
    body,
    targetUrl: target_url,
    audience: isRetry ? "some" : "everyone",
    targetFids: isRetry ? retryable_fids.join(", ") : "",
    excludeFids: "",
    followingFid: "",
    uuid: isRetry ? uuid : undefined,
  };
}

const REASONS: Readonly<Record<string, string>> = {
  rate_limited: "the client wants them later",
  invalid_token: "the client does not know the token any more",
  missing_from_response: "the client did not name the token in its answer",
  timeout: "the client did not answer in time",
  dns: "the client's name did not resolve",
  connect: "the client refused the connection",
  tls: "the client's certificate was refused",
  reset: "the client closed the connection",
  host_down: "the client did not answer for half a minute",
  refused_url: "the URL is not on a public host",
  redirect: "the client redirects, which is not followed",
  excluded: "left out by the list of fids",
  not_following: "they do not follow the fid",
  duplicate: "they have this notification already",
  claimed_by_another: "another campaign was sending it to them",
};

/** What a reason of the API means, for those who do not know its name. */
export const reasonText = (reason: string): string | undefined => REASONS[reason];
