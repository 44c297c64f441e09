import type { UsageRow } from "./api-key-store.ts";

/** How long the usage of a day is kept. */
export const USAGE_DAYS = 400;

/** A row of the table `api_key_usage`, in every database of the state. */
export interface UsageTableRow {
  readonly api_key_id: string;
  readonly day: number;
  readonly route: string;
  readonly requests: number;
  readonly units: number;
  readonly writes: number;
  readonly errors: number;
  readonly limited: number;
}

export function toUsageRow({ api_key_id: apiKeyId, day, route, ...counts }: UsageTableRow): UsageRow {
  return { apiKeyId, day, route, counts };
}
