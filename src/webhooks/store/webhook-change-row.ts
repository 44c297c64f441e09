import type { SubscriptionChanges } from "./delivery-publications.ts";

/** A row of the change feed with its webhook, in every database of the state; null columns for a deleted webhook. */
export interface ChangeRow {
  readonly version: number;
  readonly webhook_id: string;
  readonly owner_fid: number | null;
  /** 0 or 1 in SQLite. */
  readonly active: number | boolean | null;
  readonly subscription: string | null;
  readonly created_at: number | null;
}

/** A reader that reads the changes less often has to read all webhooks again. */
export const TOMBSTONE_SECS = 86_400;

/** @param rows the changes after `sinceVersion`, in the order of their versions. */
export function toChanges(rows: readonly ChangeRow[], sinceVersion: number): SubscriptionChanges {
  return {
    version: rows.at(-1)?.version ?? sinceVersion,
    changed: rows.flatMap(({ webhook_id, owner_fid, active, subscription, created_at }) =>
      subscription === null
        ? []
        : [
            {
              webhookId: webhook_id,
              ownerFid: owner_fid ?? 0,
              active: Boolean(active),
              subscription: JSON.parse(subscription),
              createdAt: created_at ?? 0,
            },
          ],
    ),
    deleted: rows.filter(({ subscription }) => subscription === null).map(({ webhook_id }) => webhook_id),
  };
}
