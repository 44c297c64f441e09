import type { ApiKey, KeyFields, Scope } from "./api-key.ts";

/** The fields of a key as they stand in a form. */
export interface KeyDraft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Empty for the owner's only app. */
  readonly appId: string;
  /** The last day on which it works, as 2026-11-22; empty for no end. */
  readonly lastDay: string;
  /** As typed; empty for the operator's limit. */
  readonly units: string;
  readonly writes: string;
}

export const emptyKeyDraft: KeyDraft = {
  name: "",
  scopes: ["read"],
  appId: "",
  lastDay: "",
  units: "",
  writes: "",
};

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const MAX_NAME_CHARS = 128;

/** The end of a day in the time zone of this browser, unix seconds; undefined for text that is no day. */
function endOfDay(text: string): number | undefined {
  const [, year, month, day] = (DAY.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const start = new Date(year, month - 1, day);
  if (start.getMonth() !== month - 1) return undefined;
  return Math.floor(new Date(year, month - 1, day + 1).getTime() / 1000);
}

/** The day in the time zone of this browser that has the last second before a time. */
function lastDayBefore(secs: number): string {
  const date = new Date((secs - 1) * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const wholeNumber = (text: string): number | undefined => {
  const value = Number(text.trim());
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined;
};

/** What is wrong with the fields, by field. */
export function keyProblems(
  { name, scopes, lastDay, units, writes }: KeyDraft,
  nowMs: number,
): Partial<Record<keyof KeyDraft, string>> {
  const end = lastDay === "" ? undefined : endOfDay(lastDay);
  const isPast = lastDay !== "" && (end === undefined || end * 1000 <= nowMs);
  const isNoLimit = (text: string) => text.trim() !== "" && wholeNumber(text) === undefined;
  return {
    ...(name.trim() === "" && { name: "Give it a name." }),
    ...([...name.trim()].length > MAX_NAME_CHARS && { name: `At most ${MAX_NAME_CHARS} characters.` }),
    ...(scopes.length === 0 && { scopes: "Choose at least one." }),
    ...(isPast && { lastDay: "A day to come, or none." }),
    ...(isNoLimit(units) && { units: "A whole number from 1, or nothing." }),
    ...(isNoLimit(writes) && { writes: "A whole number from 1, or nothing." }),
  };
}

/** The fields as the API takes them. An app counts for keys that may push. */
export function keyFieldsOf({ name, scopes, appId, lastDay, units, writes }: KeyDraft): KeyFields {
  return {
    name: name.trim(),
    scopes,
    app_id: appId.trim() === "" || !scopes.includes("push") ? null : appId.trim(),
    expires_at: endOfDay(lastDay) ?? null,
    units_per_minute: wholeNumber(units) ?? null,
    writes_per_minute: wholeNumber(writes) ?? null,
  };
}

/** The fields of a key as a form shows them. */
export const draftOfKey = (key: ApiKey): KeyDraft => ({
  name: key.name,
  scopes: key.scopes,
  appId: key.app_id ?? "",
  lastDay: key.expires_at === null ? "" : lastDayBefore(key.expires_at),
  units: String(key.units_per_minute),
  writes: String(key.writes_per_minute),
});

/** The fields that the owner changed in the form of a key. What the form cannot show exactly, such as the second of its end, stays. */
export function keyChanges(key: ApiKey, draft: KeyDraft): Partial<KeyFields> {
  const [before, after] = [keyFieldsOf(draftOfKey(key)), keyFieldsOf(draft)];
  return Object.fromEntries(
    Object.entries(after).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof KeyFields]),
    ),
  );
}
