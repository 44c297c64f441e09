import type { AudienceChange, AudienceCounts, ClientTokens, DayChanges } from "./token-store.ts";

/** A day with the number of enabled tokens at its end. */
export interface AudienceDay extends DayChanges {
  readonly enabled: number;
}

/**
 * Returns each day from `fromDay` or the first one that was counted until today, with the number of enabled tokens at its end:
 * that of now without the changes of later days.
 */
export function growthOf(
  { days, enabled, firstDay }: Pick<AudienceCounts, "days" | "enabled" | "firstDay">,
  { fromDay, today }: { readonly fromDay: number; readonly today: number },
): AudienceDay[] {
  const changes = new Map(days.map((day) => [day.day, day]));
  // The state's clock may be ahead of this machine's; the number of days stays as asked for.
  const last = Math.max(today, days.at(-1)?.day ?? today);
  const first = Math.max(last - (today - fromDay), Math.min(firstDay ?? last, last));
  const growth: AudienceDay[] = [];
  let atEnd = enabled;
  for (let day = last; day >= first; day--) {
    const { added = 0, removed = 0, disabled = 0, invalidated = 0 } = changes.get(day) ?? {};
    growth.push({ day, enabled: atEnd, added, removed, disabled, invalidated });
    atEnd -= added - removed - disabled - invalidated;
  }
  return growth.reverse();
}

/** A stored count of tokens by client app, host and state, of one app. */
export interface ClientCountRow {
  readonly client_fid: number;
  readonly host: string;
  readonly enabled: number;
  readonly disabled: number;
  readonly no_token: number;
}

export function toClientTokens(row: ClientCountRow): ClientTokens {
  return {
    clientFid: row.client_fid,
    host: row.host === "" ? null : row.host,
    enabled: row.enabled,
    disabled: row.disabled,
    withoutToken: row.no_token,
  };
}

/** Groups rows in the order of their days. */
export function toDayChanges(
  rows: readonly { readonly day: number; readonly change: AudienceChange; readonly count: number }[],
): DayChanges[] {
  const days = new Map<number, { day: number } & Record<AudienceChange, number>>();
  for (const { day, change, count } of rows) {
    const of = days.get(day) ?? { day, added: 0, removed: 0, disabled: 0, invalidated: 0 };
    of[change] += count;
    days.set(day, of);
  }
  return [...days.values()];
}
