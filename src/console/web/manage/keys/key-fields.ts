import type { BodyOf, ResponseOf, Schemas } from "../../data/call.ts";
import {
  changesOf,
  type Draft,
  draftOf,
  type FieldSpec,
  type Problems,
  problemsOf,
  type Values,
  valuesOf,
} from "../../parts/fields.ts";
import * as msg from "../../text/en/manage/manage.ts";

export type ApiKey = Schemas["ApiKey"];
export type Scope = ApiKey["scopes"][number];

/** The scopes of a key, with their meanings. */
export const SCOPES: readonly (readonly [scope: Scope, meaning: string])[] = [
  ["read", msg.readsEvenWhereTheNodeRequires],
  ["write", msg.publishesSignedMessagesAndCasts],
  ["signers", msg.createsManagedSignersAndHasUsers],
  ["webhooks", msg.managesYourWebhooks],
  ["apps", msg.managesYourMiniApps],
  ["push", msg.sendsNotificationsToTheUsersOf],
  ["moderate", msg.bansAndMutesUsersInYourApp],
];

/** The fields of a key that its owner enters. */
export const KEY_FIELDS = [
  { name: "name", label: msg.name, isRequired: true, maxChars: 128, hint: msg.forYouWhereItIsUsed },
  { name: "description", label: msg.description },
  {
    name: "app_id",
    label: msg.miniAppTitle,
    hint: msg.theIdOfTheMiniApp,
  },
  { name: "expires_at", label: msg.lastDay, kind: "day", hint: msg.emptyNeverExpires },
  {
    name: "units_per_minute",
    label: msg.unitsPerMinute,
    kind: "count",
    hint: msg.readUnitsEmptyTheNodesLimit,
  },
  {
    name: "writes_per_minute",
    label: msg.writesPerMinute,
    kind: "count",
    hint: msg.messagesEmptyTheNodesLimit,
  },
] as const satisfies readonly FieldSpec[];

/** Another field in the form of a key. */
export const SCOPES_FIELD = { name: "scopes", label: msg.scopes };

type Fields = typeof KEY_FIELDS;
export type KeyDraft = Draft<Fields> & { readonly scopes: readonly Scope[] };
export type KeyValues = Values<Fields> & { readonly scopes: readonly Scope[] };
export type KeyChanges = Omit<BodyOf<"PUT /api_key">, "api_key_id">;

export const emptyKeyDraft: KeyDraft = { ...draftOf(KEY_FIELDS), scopes: ["read"] };
export const draftOfKey = (key: ApiKey): KeyDraft => ({ ...draftOf(KEY_FIELDS, key), scopes: key.scopes });

export const keyProblems = (draft: KeyDraft, nowMs: number): Problems<Fields> & { scopes?: string } => ({
  ...problemsOf(KEY_FIELDS, draft, nowMs),
  ...(draft.scopes.length === 0 && { scopes: msg.chooseAtLeastOne }),
});

/** Returns the fields in the API's format. An app only applies to keys that may push. */
export function keyValues(draft: KeyDraft): KeyValues {
  const values = valuesOf(KEY_FIELDS, draft);
  return { ...values, scopes: draft.scopes, app_id: draft.scopes.includes("push") ? values.app_id : null };
}

/** The fields that the owner changed in the form of a key. */
export const keyChanges = (key: ApiKey, draft: KeyDraft) =>
  changesOf(keyValues(draftOfKey(key)), keyValues(draft));

/** What a key was used for on one UTC day, by route template. */
export type UsageRow = ResponseOf<"GET /api_key/usage">["usage"][number];
export type Counts = Omit<UsageRow, "day" | "route">;

export const USAGE_DAYS = 30;
const DAY_MS = 86_400_000;

/** Returns the UTC day of a time in the API's format. */
export const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns the last 30 UTC days in the API's format, oldest first. */
export function lastDays(nowMs: number): string[] {
  return Array.from({ length: USAGE_DAYS }, (_, index) => dayText(nowMs - (USAGE_DAYS - 1 - index) * DAY_MS));
}

const NONE: Counts = { requests: 0, units: 0, writes: 0, errors: 0, limited: 0 };

function sum(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    units: a.units + b.units,
    writes: a.writes + b.writes,
    errors: a.errors + b.errors,
    limited: a.limited + b.limited,
  };
}

/** Returns the counts of each day; 0 for days without use. */
export function byDay(rows: readonly UsageRow[], days: readonly string[]): { day: string; counts: Counts }[] {
  const used = Map.groupBy(rows, ({ day }) => day);
  return days.map((day) => ({ day, counts: (used.get(day) ?? []).reduce(sum, NONE) }));
}

/** Returns the counts of each route over all days, most used first. */
export function byRoute(rows: readonly UsageRow[]): { route: string; counts: Counts }[] {
  return [...Map.groupBy(rows, ({ route }) => route)]
    .map(([route, own]) => ({ route, counts: own.reduce(sum, NONE) }))
    .sort((a, b) => b.counts.requests - a.counts.requests || (a.route < b.route ? -1 : 1));
}
