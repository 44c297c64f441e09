import { type Static, Type } from "@sinclair/typebox";
import type { ApiKeyService } from "../../../api-keys/api-key-service.ts";
import type { ApiKey, UsageCounts, UsageRow } from "../../../api-keys/api-key-store.ts";
import { SCOPES, type Scope } from "../../../http/caller.ts";
import { badRequest } from "../../../http/request/params.ts";
import { Count, Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord } from "../../respond.ts";

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

export const ApiKeyUsageResponse = object({
  usage: Type.Array(
    object({
      day: Type.String({ format: "date", description: "UTC" }),
      route: Type.String({ description: "Template of the path, or `unmatched`" }),
      ...counts,
    }),
  ),
  totals: object(counts),
});

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
  // Some engines roll over the 31st of a short month into the next month.
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

const KeySecret = object({
  uid: Type.String({ format: "uuid" }),
  created_at: UnixSecs("Creation"),
  expires_at: nullable(UnixSecs("When the secret expires after a rotation")),
});

const ApiKeySchema = object(
  {
    object: Type.Literal("api_key"),
    api_key_id: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{16}$" }),
    owner_fid: Fid,
    name: Type.String(),
    description: nullable(Type.String()),
    prefix: Type.String({ description: "The part of the key's text that is shown" }),
    scopes: Type.Array(Type.Unsafe<Scope>({ type: "string", enum: [...SCOPES] })),
    app_id: nullable(Type.String()),
    active: Type.Boolean(),
    inactive_reason: nullable(
      Type.String({
        description:
          "`deactivated`, or `custody changed`: the fid has a new custody address since, which may activate the key again",
      }),
    ),
    units_per_minute: Type.Integer({ minimum: 0 }),
    writes_per_minute: Type.Integer({ minimum: 0 }),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
    expires_at: nullable(UnixSecs("When the key stops to be valid")),
    last_used_at: nullable(UnixSecs("Last use; may lag a minute")),
    secrets: Type.Array(KeySecret, { description: "Unexpired ones, oldest first, without their texts" }),
  },
  { $id: "ApiKey" },
);

const in_effect = Type.Optional(
  Type.Literal(false, {
    description:
      "Present when a node has not confirmed the change within ten seconds. It refuses what it knew of keys as soon as it learns of the " +
      "change, or when its lease of eight seconds has ended.",
  }),
);

export const ApiKeyResponse = object({ api_key: ApiKeySchema });

export const ApiKeyChangedResponse = object({ api_key: ApiKeySchema, in_effect });

export const ApiKeyDeletedResponse = object({ deleted: Type.Literal(true), in_effect });

export const ApiKeysResponse = object({ api_keys: Type.Array(ApiKeySchema) });

export const ApiKeyWithSecretResponse = object({
  api_key: ApiKeySchema,
  in_effect,
  secret: Type.String({ description: "The text of the key. This response alone contains it." }),
});

/** Presents a key with its current state. */
export async function presentApiKey(
  key: ApiKey,
  { inactiveReason, limits }: Pick<ApiKeyService, "inactiveReason" | "limits">,
): Promise<Static<typeof ApiKeySchema>> {
  const reason = await inactiveReason(key);
  return presentRecord(ApiKeySchema, key, {
    object: "api_key",
    scopes: [...key.scopes],
    active: reason === null,
    inactive_reason: reason,
    units_per_minute: Math.min(key.unitsPerMinute ?? limits.unitsPerMinute, limits.unitsPerMinute),
    writes_per_minute: Math.min(key.writesPerMinute ?? limits.writesPerMinute, limits.writesPerMinute),
    secrets: key.secrets.map((secret) => presentRecord(KeySecret, secret, {})),
  });
}
