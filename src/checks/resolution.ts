import { type Check, durationText, linesOf, sentenceOf, type Thresholds } from "./check.ts";
import type { Incident } from "./incident-store.ts";
import type { OwnerFindings, WebhookStanding } from "./owners/owner-findings.ts";
import {
  MIN_DELIVERIES,
  MIN_SUCCESSES,
  ownerCheckOf,
  percentOf,
  WORKS_AFTER_RUN,
  WORKS_AFTER_SHARE,
} from "./owners/owner-table.ts";
import { checkOf } from "./table.ts";

/** Returns when an open incident of a check resolves, as one sentence; null for a check of another release. */
export function resolutionOf(checkId: string, thresholds: Thresholds): string | null {
  const ofOwner = ownerCheckOf(checkId);
  if (ofOwner) return ofOwner.resolution;
  const check = checkOf(checkId);
  return check ? resolutionOfRow(check, thresholds) : null;
}

const IF_QUIET = "Resolves when it has not happened again for {{ $labels.quiet }}.";
const IF_OVER = "Resolves when it has been over for {{ $labels.for }}.";
const AT_ONCE = "Resolves as soon as it is over.";

function resolutionOfRow(check: Check, thresholds: Thresholds): string {
  const { resolution, quietSecs, resolveForSecs } = check;
  const { resolves } = linesOf(check, thresholds);
  const value = "above" in resolves ? resolves.above : resolves.below;
  const labels = { for: durationText(resolveForSecs), quiet: durationText(quietSecs ?? 0) };
  const usual = quietSecs !== undefined ? IF_QUIET : resolveForSecs === 0 ? AT_ONCE : IF_OVER;
  return sentenceOf({ sentence: resolution ?? usual }, { value, labels });
}

const WHILE_DEACTIVATED = "Resolves once the webhook is enabled and its deliveries succeed again.";
const AFTER_RUN = `${WORKS_AFTER_RUN}: {{ $labels.progress }}.`;
const AFTER_RUN_AND_SHARE = `${WORKS_AFTER_SHARE}: {{ $labels.progress }}, {{ $labels.share }}.`;

/** Context for the progress of an owner's record. */
export interface OwnContext {
  readonly findings: Pick<OwnerFindings, "webhook">;
  readonly nowSecs: number;
  readonly thresholds: Thresholds;
}

/** Returns `resolutionOf` an open incident of an owner's record, with the progress of a failing webhook. */
export async function resolutionOfOwn(
  { checkId, nodeId: subject }: Incident,
  { findings, nowSecs, thresholds }: OwnContext,
): Promise<string | null> {
  const standing = checkId === "webhook_failing" ? await findings.webhook(subject, nowSecs) : undefined;
  return standing ? resolutionOfWebhook(standing) : resolutionOf(checkId, thresholds);
}

function resolutionOfWebhook(standing: WebhookStanding): string {
  const { isDeactivated, failures, deliveredSince, failed, total } = standing;
  if (isDeactivated) return WHILE_DEACTIVATED;
  const done = failures > 0 ? 0 : Math.min(deliveredSince, MIN_SUCCESSES);
  // With fewer deliveries, a share is not meaningful.
  const sentence = total < MIN_DELIVERIES ? AFTER_RUN : AFTER_RUN_AND_SHARE;
  const labels = { progress: `${done} / ${MIN_SUCCESSES}`, share: percentOf(failed / Math.max(1, total)) };
  return sentenceOf({ sentence }, { value: 0, labels });
}

/** The sentences about resolution that are not specific to a row. */
export const RESOLUTIONS: readonly string[] = [
  ...[IF_QUIET, IF_OVER, AT_ONCE],
  ...[WHILE_DEACTIVATED, AFTER_RUN, AFTER_RUN_AND_SHARE],
];
