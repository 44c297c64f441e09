import type { Severity } from "../checks/check.ts";
import type { Incident } from "../checks/incident-store.ts";
import { ownerCheckOf } from "../checks/owners/owner-table.ts";
import { checkOf } from "../checks/table.ts";
import { oneLine } from "../lib/text.ts";

/** What happened to an incident. `digest`: several notices combined. */
export type NoticeState = "open" | "reminder" | "resolved" | "test" | "digest";

/** The content that a channel receives. */
export interface Notice {
  /** Empty for a digest and for a test. */
  readonly incident: string;
  readonly check: string;
  readonly state: NoticeState;
  readonly severity: Severity;
  /** A single line each. */
  readonly title: string;
  readonly text: string;
  /** Null for an incident of the state that nodes share. */
  readonly node: string | null;
  /** Unix seconds. */
  readonly at: number;
  /** Page with the details. */
  readonly path: string;
}

const MAX_TITLE_CHARS = 120;
const MAX_TEXT_CHARS = 900;
const MINUTE = 60;
const HOUR = 3600;
/** Maximum number of titles in a digest. */
const MAX_LISTED = 10;

/** Returns the notice for the current state of an incident. */
export function noticeOf(
  incident: Incident,
  state: Exclude<NoticeState, "test" | "digest">,
  nowSecs: number,
): Notice {
  const { incidentId, checkId, nodeId, ownerFid, severity, sentence, openedAt, resolvedAt } = incident;
  const ofOwner = ownerCheckOf(checkId);
  const check = ofOwner ?? checkOf(checkId);
  const title = check?.title ?? checkId;
  const words = {
    open: [`${title} (${severity})`, check ? `${sentence} ${check.remedy}` : sentence],
    reminder: [`Still open: ${title} (${severity})`, `Since ${lengthOf(nowSecs - openedAt)}: ${sentence}`],
    resolved: [
      `Resolved: ${title}`,
      `It lasted ${lengthOf((resolvedAt ?? nowSecs) - openedAt)}. ${sentence}`,
    ],
  }[state];
  return {
    incident: incidentId,
    check: checkId,
    state,
    severity,
    title: oneLine(words[0] ?? "", MAX_TITLE_CHARS),
    text: oneLine(words[1] ?? "", MAX_TEXT_CHARS),
    node: (ownerFid === OPERATOR && nodeId) || null,
    at: nowSecs,
    path: ofOwner?.path(nodeId) ?? (check?.isPublic ? `/console/status#${incidentId}` : pageOf(ownerFid)),
  };
}

/** Owner fid of the operator's channels. No user has it. */
export const OPERATOR = 0;

/**
 * Reports whether an owner's channel belongs to a custody address. A channel without one does: it is the operator's, or older than the
 * column.
 */
export const isOfCustody = (own: Uint8Array | null, custody: Uint8Array | null) =>
  own === null || (custody !== null && Buffer.compare(own, custody) === 0);

/** Returns the page with the channels of an owner or of the operator. */
const pageOf = (ownerFid: number) =>
  ownerFid === OPERATOR ? "/console/operator" : "/console/manage/notices";

/** Returns the notice by which an owner or the operator can see that a channel works. */
export function testNotice(service: string, ownerFid: number, nowSecs: number): Notice {
  return {
    incident: "",
    check: "",
    state: "test",
    severity: "notice",
    title: "A test",
    text: `Notices of ${service} arrive here.`,
    node: null,
    at: nowSecs,
    path: pageOf(ownerFid),
  };
}

/**
 * Combines several notices into one.
 *
 * @param notices oldest first, at least one.
 */
export function digestOf(notices: readonly Notice[], ownerFid: number, nowSecs: number): Notice {
  const severities = ["critical", "warning", "notice"] as const;
  const severity = severities.find((one) => notices.some((notice) => notice.severity === one)) ?? "notice";
  const more = notices.length - MAX_LISTED;
  const listed = notices.slice(-MAX_LISTED).map(({ title }) => title);
  return {
    incident: "",
    check: "",
    state: "digest",
    severity,
    title: `${notices.length} changes of incidents`,
    text: oneLine(`${listed.join("; ")}${more > 0 ? `; ${more} more` : ""}.`, MAX_TEXT_CHARS),
    node: null,
    at: nowSecs,
    path: pageOf(ownerFid),
  };
}

function lengthOf(secs: number): string {
  if (secs < 2 * MINUTE) return `${Math.max(0, Math.round(secs))} s`;
  return secs < 2 * HOUR ? `${Math.round(secs / MINUTE)} min` : `${Math.round(secs / HOUR)} h`;
}
