import { type Check, durationText, linesOf, sentenceOf, type Thresholds } from "./check.ts";
import { MAX_SHARE, MIN_DELIVERIES, SHARE_SECS, type WebhookStanding } from "./owners/owner-findings.ts";
import { MIN_SUCCESSES, ownerCheckOf } from "./owners/owner-table.ts";
import { checkOf } from "./table.ts";

/** When an open incident of a check resolves, as one sentence; null for a check of another release. */
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
const RUN = `Resolves after ${MIN_SUCCESSES} successes in a row, or one and a day without a failure`;
const AFTER_RUN = `${RUN}: {{ $labels.progress }}.`;
const AFTER_RUN_AND_SHARE = `${RUN}, and at most ${percentOf(MAX_SHARE)} failed within ${SHARE_SECS / 60} min: {{ $labels.progress }}, {{ $labels.share }}.`;

/** When the incident of a failing webhook resolves, with how far it is. */
export function resolutionOfWebhook(standing: WebhookStanding): string {
  const { isDeactivated, failures, deliveredSince, failed, total } = standing;
  if (isDeactivated) return WHILE_DEACTIVATED;
  const done = failures > 0 ? 0 : Math.min(deliveredSince, MIN_SUCCESSES);
  // Fewer deliveries say nothing about a share.
  const sentence = total < MIN_DELIVERIES ? AFTER_RUN : AFTER_RUN_AND_SHARE;
  const labels = { progress: `${done} / ${MIN_SUCCESSES}`, share: percentOf(failed / Math.max(1, total)) };
  return sentenceOf({ sentence }, { value: 0, labels });
}

function percentOf(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** The sentences that say when something resolves and that no row has as its own. */
export const RESOLUTIONS: readonly string[] = [
  ...[IF_QUIET, IF_OVER, AT_ONCE],
  ...[WHILE_DEACTIVATED, AFTER_RUN, AFTER_RUN_AND_SHARE],
];
