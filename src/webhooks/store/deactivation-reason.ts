import type { FailureRule } from "./delivery-queue.ts";

/** Why the node deactivated a webhook whose receiver wants no more deliveries. For the owner. */
export const GONE = "the receiver answered 410 Gone";

/** Why the node deactivated a webhook with a run of `failures` failed deliveries. For the owner. */
export function failureRunReason(failures: number, { runSecs }: FailureRule): string {
  const hours = Math.round(runSecs / 3600);
  return `${failures} deliveries in a row failed, over ${hours === 1 ? "1 hour" : `${hours} hours`} or more`;
}
