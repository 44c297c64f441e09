import type { Schemas } from "../../data/call.ts";
import {
  type Draft,
  draftOf,
  type FieldSpec,
  type Problems,
  problemsOf,
  valuesOf,
  withoutNulls,
} from "../../parts/fields.ts";

import * as msg from "../../text/en/manage/apps.ts";
import { formatCount } from "../../text/format.ts";
import type { ScheduleDraft } from "./send/schedule-fields.tsx";

type CsvValue = string | number | boolean | null | undefined;

/** Prefixes that spreadsheets interpret as a formula, also after white space that they skip. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u;

/**
 * Returns a cell of a CSV file (RFC 4180). A text that looks like a formula gets a leading apostrophe, so that opening the file runs
 * nothing; numbers are unchanged.
 */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a CSV file with a header line. Lines end with CR LF. */
export function csvFile(headings: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [headings, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

export type ListedCampaign = Schemas["NotificationCampaign"];
/** A campaign without the number of its parts. */
export type Campaign = Omit<ListedCampaign, "parts">;
export type CampaignDetails = Schemas["NotificationCampaignDetails"];
export type CampaignHost = Schemas["CampaignHost"];
export type Reasons = CampaignHost["errors"];

/** Reports whether its figures may still change. */
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
 * Returns the figures of a response. While the campaign runs, no figure falls below one that was shown before: a run that resumes after a
 * restart of the node recounts the tokens that it does not attempt.
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

/** Reasons for not being a recipient, because the send was meant for others. */
const OUTSIDE_REASONS = ["not_in_segment", "not_following", "excluded"] as const;

/**
 * Describes the outcome of a campaign in plain words, omitting empty parts; undefined while no outcome is known. It counts tokens, of
 * which a person has one per client, but excludes people outside of its audience.
 *
 * @param campaign its reasons.
 */
export function outcomeOf(
  { delivered, failed, notAttempted, settled, total }: Progress,
  { errors, not_attempted: reasons }: Pick<CampaignDetails, "errors" | "not_attempted">,
): string | undefined {
  if (settled === 0) return undefined;
  const named = OUTSIDE_REASONS.reduce((sum, reason) => sum + (reasons[reason] ?? 0), 0);
  const outside = Math.min(notAttempted, named);
  const rateLimited = Math.min(failed, errors.rate_limited ?? 0);
  const others = [
    rateLimited > 0 && msg.rateLimited(formatCount(rateLimited)),
    failed > rateLimited && msg.failedOnes(formatCount(failed - rateLimited)),
    notAttempted > outside && msg.skippedOnes(formatCount(notAttempted - outside)),
    outside > 0 && msg.outsideOnes(formatCount(outside)),
  ].filter((part) => part !== false);
  const all = (total ?? settled) - outside;
  return [msg.deliveredOf(formatCount(delivered), formatCount(all)), ...others].join("; ");
}

/** Returns a draft that sends the notification once more: to everyone as a new one, or with its id to those who could not get it. */
export function draftOfCampaign(
  { notification, retryable_fids }: CampaignDetails,
  to: "everyone" | "retryable",
): SendDraft {
  const { title, body, target_url, uuid } = notification;
  const draft = { title, body, target_url, exclude_fids: "", following_fid: "" };
  if (to === "everyone") return { ...draft, audience: "everyone", target_fids: "" };
  return { ...draft, audience: "some", target_fids: retryable_fids.join(", "), uuid };
}

const REASONS: Readonly<Record<string, string>> = {
  rate_limited: msg.theClientAskedToSendLater,
  invalid_token: msg.theClientNoLongerKnowsThe,
  missing_from_response: msg.theClientsResponseDoesNotName,
  timeout: msg.theClientTimedOut,
  dns: msg.theClientsHostNameDidNot,
  connect: msg.theClientRefusedTheConnection,
  tls: msg.theClientsCertificateWasRejected,
  reset: msg.theClientClosedTheConnection,
  host_down: msg.theClientWasUnreachableForHalf,
  refused_url: msg.theUrlIsNotOnA,
  redirect: msg.theClientRedirectsRedirectsAreNot,
  malformed_http: msg.theClientsResponseIsNotHttp,
  malformed_response: msg.theClientsResponseIsNoResult,
  failed_no_webhook_url: msg.theClientKnowsNoWebhookUrl,
  failed_unknown: msg.theClientGivesNoReason,
  failed_other: msg.theClientGivesNoReason,
  response_too_large: msg.theClientsResponseIsTooLarge,
  failed_domain_mismatch: msg.theClientKnowsAnotherDomain,
  failed_target_url_mismatch: msg.theClientRefusesTheTargetUrl,
  excluded: msg.excludedByTheListOfFids,
  not_in_segment: msg.theyAreNotInTheSegment,
  not_following: msg.theyDoNotFollowTheFid,
  duplicate: msg.theyAlreadyHaveThisNotification,
  claimed_by_another: msg.anotherCampaignWasSendingItTo,
};

/** Returns the meaning of an API reason; its name if there are no other words. */
export function reasonText(reason: string): string {
  const [, status] = /^http_(\d{3})$/.exec(reason) ?? [];
  if (status !== undefined) return msg.theClientRespondedWith(status);
  return (Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? reason;
}

const HEADER = ["host", "delivered", "failed", "not_attempted", "reasons"] as const;

const OPENS = ["client_fid", "delivered", "opened", "verified", "turned_off"] as const;

/** The opens by client app, one line each. */
export function opensCsv(clients: readonly Readonly<Record<(typeof OPENS)[number], number>>[]): string {
  return csvFile(
    OPENS,
    clients.map((client) => OPENS.map((name) => client[name])),
  );
}

/** The results by client host, one line each (RFC 4180). */
export function campaignCsv(hosts: readonly CampaignHost[]): string {
  const rows = hosts.map(({ host, success_count, failure_count, not_attempted_count, errors }) => [
    host,
    success_count,
    failure_count,
    not_attempted_count,
    Object.entries(errors)
      .map(([reason, count]) => `${reason} ${count}`)
      .join("; "),
  ]);
  return csvFile(HEADER, rows);
}

/** The notification as its owner enters it. */
export const NOTIFICATION_FIELDS = [
  { name: "title", label: msg.title, isRequired: true, maxChars: 32 },
  { name: "body", label: msg.text, isRequired: true, maxChars: 128, rows: 3 },
  {
    name: "target_url",
    label: msg.opens,
    kind: "url",
    isRequired: true,
    maxChars: 256,
    hint: msg.aPageOfYourApp,
  },
] as const satisfies readonly FieldSpec[];

/** The recipients. */
export const AUDIENCE_FIELDS = [
  {
    name: "target_fids",
    label: msg.theirFids,
    kind: "fids",
    rows: 3,
    hint: msg.numbersSeparatedBySpacesOrCommas,
  },
  { name: "exclude_fids", label: msg.withoutTheseFids, kind: "fids" },
  { name: "following_fid", label: msg.onlyFollowersOf, kind: "fid", hint: msg.anFid },
] as const satisfies readonly FieldSpec[];

const FIELDS = [...NOTIFICATION_FIELDS, ...AUDIENCE_FIELDS] as const;

/** A send as in the form. */
export type SendDraft = Draft<typeof FIELDS> & {
  readonly audience: "everyone" | "some";
  /** Set if a notification is sent again: those who have it do not get it twice. */
  readonly uuid?: string | undefined;
  /** Absent if a notification is sent at once, as in earlier versions. */
  readonly schedule?: ScheduleDraft | undefined;
};
export type SendProblems = Problems<typeof FIELDS>;

export const emptyDraft = (appUrl: string): SendDraft => ({
  ...draftOf(FIELDS, { target_url: appUrl }),
  audience: "everyone",
});

/** Returns the name under which the tab stores the draft of an app. */
export const draftName = (appId: string) => `notification ${appId}`;

/** Returns what the node would refuse, as sentences by field. The node decides; this only reports it earlier. */
export function sendProblems(draft: SendDraft, appUrl: string): SendProblems {
  const { target_url, target_fids, audience } = draft;
  const { target_fids: fidsProblem, ...problems } = problemsOf(FIELDS, draft);
  const { host } = new URL(appUrl);
  const isElsewhere = problems.target_url === undefined && new URL(target_url).host !== host;
  const noTargets = target_fids.trim() === "" ? msg.nameAtLeastOneFid : undefined;
  const targets = audience === "some" ? (fidsProblem ?? noTargets) : undefined;
  return {
    ...problems,
    ...(isElsewhere && { target_url: msg.clientsOpenItOnTheHost(host) }),
    ...(targets !== undefined && { target_fids: targets }),
  };
}

/** Returns the notification of the request. */
export const notificationOf = (draft: SendDraft) => ({
  ...valuesOf(NOTIFICATION_FIELDS, draft),
  ...(draft.uuid !== undefined && { uuid: draft.uuid }),
});

/** Returns the filters of the request; undefined while one of them is invalid. */
export function audienceOf(draft: SendDraft, problems: SendProblems) {
  if (AUDIENCE_FIELDS.some(({ name }) => problems[name] !== undefined)) return undefined;
  const { target_fids, exclude_fids, following_fid } = valuesOf(AUDIENCE_FIELDS, draft);
  return withoutNulls({
    target_fids: draft.audience === "some" && target_fids.length > 0 ? target_fids : null,
    exclude_fids: exclude_fids.length > 0 ? exclude_fids : null,
    following_fid,
  });
}
