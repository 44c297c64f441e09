import type { Check } from "../check.ts";

/** A check of an owner's records. Its incidents concern a record and belong to the owner. */
export interface OwnerCheck
  extends Pick<Check, "id" | "title" | "severity" | "isPublic" | "sentence" | "remedy"> {
  /** When it resolves. */
  readonly resolution: string;
  /** Whether it is sent only once, without reminders and without its resolution. */
  readonly isSentOnce: boolean;
  /**
   * Returns the page of its record.
   *
   * @param subject the subject of the incident.
   */
  readonly path: (subject: string) => string;
}

/** Number of consecutive successes after which a webhook counts as working. */
export const MIN_SUCCESSES = 10;
/** Seconds over which the share of failures is computed, and the minimum number of deliveries for a meaningful share. */
export const SHARE_SECS = 1800;
export const MIN_DELIVERIES = 50;
/** One in five. */
export const MAX_SHARE = 0.2;

/** When a failing webhook counts as working: always, and if enough was delivered for a meaningful share. */
export const WORKS_AFTER_RUN = `Resolves after ${MIN_SUCCESSES} successes in a row, or one and a day without a failure`;
export const WORKS_AFTER_SHARE = `${WORKS_AFTER_RUN}, and at most ${percentOf(MAX_SHARE)} failed within ${SHARE_SECS / 60} min`;

export function percentOf(share: number): string {
  return `${Math.round(share * 100)} %`;
}

const common = { isPublic: false, isSentOnce: false } as const;
const webhookPath = (id: string) => `/console/manage/webhooks/${id}`;

/** Returns the page of a scheduled send, whose subject is `<app id>/<schedule id>`. */
function sendPath(subject: string): string {
  const [appId, scheduleId] = subject.split("/");
  return `/console/manage/apps/${appId}/schedules/${scheduleId}`;
}

/**
 * The checks of owners' records, in the order of lists. Rows are added but never renamed. Sentences contain only ids, hosts,
 * prefixes and fids: text written by an owner could address people in the operator's chat.
 */
export const OWNER_CHECKS = [
  {
    ...common,
    id: "webhook_failing",
    title: "Webhook failing",
    severity: "warning",
    sentence:
      "Deliveries of webhook {{ $labels.webhook }} to {{ $labels.host }} fail: {{ $labels.failed }} of the last {{ $labels.total }} when this opened. Last failure: {{ $labels.last }}.",
    resolution: `${WORKS_AFTER_SHARE}.`,
    remedy: "The attempts of its last deliveries say why. Retry the failed ones once the receiver responds.",
    path: webhookPath,
  },
  {
    ...common,
    id: "webhook_disabled",
    title: "Webhook disabled",
    severity: "warning",
    sentence:
      "The node has disabled the webhook {{ $labels.webhook }} at {{ $labels.host }}: its receiver takes no deliveries. Last failure: {{ $labels.last }}.",
    resolution: "Resolves once the webhook is enabled.",
    remedy: "Enable it once the receiver responds, and replay what it missed.",
    path: webhookPath,
  },
  {
    ...common,
    id: "api_key_expires",
    title: "API key expires",
    severity: "notice",
    isSentOnce: true,
    sentence: "The API key {{ $labels.prefix }} expires in less than seven days.",
    resolution: "Resolves once the key has a later expiry or is deleted.",
    remedy: "Set a later expiry, or replace it with another one.",
    path: (id) => `/console/manage/keys/${id}`,
  },
  {
    ...common,
    id: "signer_expires",
    title: "Signer expires",
    severity: "notice",
    isSentOnce: true,
    sentence: "A managed signer of fid {{ $labels.fid }} expires in less than seven days unless it is used.",
    resolution: "Resolves once the signer is used or removed.",
    remedy: "Each message it signs renews it. Otherwise the user must approve another one.",
    path: () => "/console/manage/signers",
  },
  {
    ...common,
    id: "send_held",
    title: "Scheduled send held",
    severity: "warning",
    isSentOnce: true,
    sentence:
      "A scheduled send was not sent: the custody address, the app or its URL has changed since it was signed.",
    resolution: "Resolves after a day.",
    remedy: "Schedule it again with a new signature.",
    path: sendPath,
  },
  {
    ...common,
    id: "send_missed",
    title: "Scheduled send missed",
    severity: "warning",
    isSentOnce: true,
    sentence: "A scheduled send was not sent: it could not begin in time.",
    resolution: "Resolves after a day.",
    remedy: "Send it now, or schedule it again.",
    path: sendPath,
  },
] as const satisfies readonly OwnerCheck[];

export type OwnerCheckId = (typeof OWNER_CHECKS)[number]["id"];

const byId = new Map<string, OwnerCheck>(OWNER_CHECKS.map((check) => [check.id, check]));

/** Returns the row with an id; undefined for a check of nodes, or of another release. */
export function ownerCheckOf(id: string): OwnerCheck | undefined {
  return byId.get(id);
}
