import { type Static, Type } from "@sinclair/typebox";
import type { UsageCounts, UsageRow } from "../../../api-keys/api-key-store.ts";
import { badRequest } from "../../../http/params.ts";
import { Count, closed } from "../../shared/schemas.ts";

/** The longest time range of one request. */
export const MAX_USAGE_DAYS = 92;

const SECS_PER_DAY = 86_400;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const counts = {
  requests: Count,
  units: Type.Integer({ minimum: 0, description: "Units of reads that were charged" }),
  writes: Type.Integer({ minimum: 0, description: "Messages" }),
  errors: Type.Integer({ minimum: 0, description: "Responses with status 400 or above, except 429" }),
  limited: Type.Integer({ minimum: 0, description: "Responses with status 429" }),
};

export const ApiKeyUsageResponse = Type.Object(
  {
    usage: Type.Array(
      Type.Object(
        {
          day: Type.String({ format: "date", description: "UTC" }),
          route: Type.String({ description: "Template of the path, or `unmatched`" }),
          ...counts,
        },
        closed,
      ),
    ),
    totals: Type.Object(counts, closed),
  },
  closed,
);

/** Reads a range of days, which are counted from 1970. @throws ApiError `badRequest` */
export function usageDays(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  nowSecs: number,
): { readonly fromDay: number; readonly toDay: number } {
  const today = Math.floor(nowSecs / SECS_PER_DAY);
  const toDay = to === undefined ? today : readDay("to", to);
  const fromDay = from === undefined ? toDay : readDay("from", from);
  if (fromDay > toDay) throw badRequest("from must not be after to");
  if (toDay - fromDay >= MAX_USAGE_DAYS) throw badRequest(`from and to may span ${MAX_USAGE_DAYS} days`);
  return { fromDay, toDay };
}

function readDay(name: string, text: string): number {
  const ms = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Some engines roll the 31st of a short month over to the next.
  if (Number.isNaN(ms) || dayText(ms / 1000 / SECS_PER_DAY) !== text) {
    throw badRequest(`${name} must be a day such as 2026-11-22`);
  }
  return ms / 1000 / SECS_PER_DAY;
}

function dayText(day: number): string {
  return new Date(day * SECS_PER_DAY * 1000).toISOString().slice(0, 10);
}

const NONE: UsageCounts = { requests: 0, units: 0, writes: 0, errors: 0, limited: 0 };

export function presentUsage(rows: readonly UsageRow[]): Static<typeof ApiKeyUsageResponse> {
  const sum = (total: UsageCounts, { counts: more }: UsageRow): UsageCounts => ({
    requests: total.requests + more.requests,
    units: total.units + more.units,
    writes: total.writes + more.writes,
    errors: total.errors + more.errors,
    limited: total.limited + more.limited,
  });
  return {
    usage: rows.map(({ day, route, counts }) => ({ day: dayText(day), route, ...counts })),
    totals: rows.reduce(sum, NONE),
  };
}
