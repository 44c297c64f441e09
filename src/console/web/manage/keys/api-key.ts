import { get } from "../../data/call.ts";
import { formatMoment } from "../../data/format.ts";
import { shellQuote } from "../../data/snippets.ts";
import { apiPrefix } from "../../page-config.ts";
import { dayText, lastDays } from "./usage.ts";

/** What a key may be used for, and what that means. */
export const SCOPES = [
  ["read", "Reads, also where the node asks for a key"],
  ["write", "Publishes signed messages, and casts, likes and follows through managed signers"],
  ["signers", "Makes managed signers and has users approve them"],
  ["webhooks", "Manages your webhooks"],
  ["apps", "Manages your mini apps"],
  ["push", "Sends notifications to the users of an app"],
] as const;

export type Scope = (typeof SCOPES)[number][0];

/** An API key of the native dialect. Times are unix seconds. */
export interface ApiKey {
  readonly api_key_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly app_id: string | null;
  readonly active: boolean;
  readonly inactive_reason: string | null;
  readonly units_per_minute: number;
  readonly writes_per_minute: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly secrets: readonly {
    readonly uid: string;
    readonly created_at: number;
    readonly expires_at: number | null;
  }[];
}

/** The fields as the API takes them; null stands for no end, the operator's limit and the only app. */
export interface KeyFields {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly app_id: string | null;
  readonly expires_at: number | null;
  readonly units_per_minute: number | null;
  readonly writes_per_minute: number | null;
}

/** A key and its text, which one response alone contains. */
export interface NewSecret {
  readonly api_key: ApiKey;
  readonly secret: string;
}

export const KEYS_PATH = "/console/manage/keys";

export const listCall = {
  ...get("/api_key/list"),
  op: "api_key.read",
  cli: "api-key list",
} as const;

export const keyCall = (id: string) => ({
  ...get("/api_key", { api_key_id: id }),
  op: "api_key.read",
  cli: `api-key get ${id}`,
});

/** The call of what a key was used for in the last 30 days. */
export function usageCall(id: string, nowMs: number) {
  const [from = ""] = lastDays(nowMs);
  const to = dayText(nowMs);
  return {
    ...get("/api_key/usage", { api_key_id: id, from, to }),
    op: "api_key.read",
    cli: `api-key usage ${id} --from ${from} --to ${to}`,
  } as const;
}

/** The fields as arguments of `api-key create` or `update`. */
function argumentsOf(fields: Partial<KeyFields>): string {
  const one = (flag: string, value: string | number | null | undefined) =>
    value === undefined ? [] : value === null ? [`--no-${flag}`] : [`--${flag} ${shellQuote(String(value))}`];
  return [
    ...one("name", fields.name),
    ...one("scopes", fields.scopes?.join(",")),
    ...one("app", fields.app_id),
    ...one("expires-at", fields.expires_at),
    ...one("units-per-minute", fields.units_per_minute),
    ...one("writes-per-minute", fields.writes_per_minute),
  ].join(" ");
}

/** The fields that are set; the others are the API's defaults. */
const withoutNulls = (fields: KeyFields): Partial<KeyFields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

export function createOperation(fields: KeyFields) {
  const body = withoutNulls(fields);
  return {
    op: "api_key.create",
    method: "POST" as const,
    path: `${apiPrefix}/api_key`,
    body,
    title: "Create an API key",
    words: `A program with the key may act for you: ${fields.scopes.join(", ")}${fields.expires_at === null ? "" : `, until ${formatMoment(fields.expires_at * 1000)}`}. Its text is shown once.`,
    cli: `api-key create ${argumentsOf(body)}`,
  };
}

export const updateOperation = ({ api_key_id, name }: ApiKey, changes: Partial<KeyFields>) => ({
  op: "api_key.update",
  method: "PUT" as const,
  path: `${apiPrefix}/api_key`,
  body: { api_key_id, ...changes },
  title: "Change the API key",
  words: `“${name}” changes at once, with the text that it has.${changes.scopes === undefined ? "" : ` It may then: ${changes.scopes.join(", ")}.`}`,
  cli: `api-key update ${api_key_id} ${argumentsOf(changes)}`,
});

export const rotateOperation = ({ api_key_id, name }: ApiKey, graceSecs: number) => ({
  op: "api_key.rotate_secret",
  method: "POST" as const,
  path: `${apiPrefix}/api_key/secret/rotate`,
  body: { api_key_id, grace_secs: graceSecs },
  title: "Rotate the secret",
  words:
    graceSecs === 0
      ? `“${name}” gets a new text, which is shown once. The present one stops at once.`
      : `“${name}” gets a new text, which is shown once. The present one works for ${graceSecs / 3600} more hours.`,
  cli: `api-key rotate ${api_key_id} --grace-secs ${graceSecs}`,
});

export const deleteOperation = ({ api_key_id, name }: ApiKey) => ({
  op: "api_key.delete",
  method: "DELETE" as const,
  path: `${apiPrefix}/api_key`,
  body: { api_key_id },
  title: "Delete the API key",
  words: `Every request with “${name}” is refused from then on. This cannot be undone.`,
  typedName: name,
  cli: `api-key delete ${api_key_id}`,
});

export const activateOperation = ({ api_key_id, name }: ApiKey) => ({
  op: "api_key.update",
  method: "PUT" as const,
  path: `${apiPrefix}/api_key`,
  body: { api_key_id, active: true },
  title: "Activate the API key",
  words: `“${name}” is accepted again, with the text that it has.`,
  cli: `api-key update ${api_key_id} --activate`,
});
