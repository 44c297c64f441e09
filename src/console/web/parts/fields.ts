import * as msg from "../text/en/parts.ts";
/** A field of a form in terms of its request: label, kind and bounds. The input stays text until the request is made. */
export interface FieldSpec {
  /** The name in the request. */
  readonly name: string;
  readonly label: string;
  /**
   * `count`: from 1. `day`: the last day, whose end is the value in unix seconds. `date`: a day, whose start is the value. `moment` and
   * `time`: the text of the inputs `datetime-local` and `time`. `texts`: words, separated by spaces, commas or lines. Default: text.
   */
  readonly kind?: "text" | "url" | "count" | "day" | "date" | "moment" | "time" | "fid" | "fids" | "texts";
  readonly isRequired?: boolean;
  /** In code points, like in the API. */
  readonly maxChars?: number;
  /** For a text area. */
  readonly rows?: number;
  readonly hint?: string;
  readonly placeholder?: string;
}

type Name<Fields extends readonly FieldSpec[]> = Fields[number]["name"];
/** The texts of a form. */
export type Draft<Fields extends readonly FieldSpec[]> = Readonly<Record<Name<Fields>, string>>;
/** What is wrong with a form, by field. */
export type Problems<Fields extends readonly FieldSpec[]> = Partial<Readonly<Record<Name<Fields>, string>>>;
/** The fields in the API's format; null if nothing was entered. */
export type Values<Fields extends readonly FieldSpec[]> = {
  readonly [F in Fields[number] as F["name"]]: F extends { kind: "fids" }
    ? readonly number[]
    : F extends { kind: "texts" }
      ? readonly string[]
      : F extends { kind: "count" | "day" | "date" | "fid" }
        ? number | null
        : F extends { isRequired: true }
          ? string
          : string | null;
};

/** Returns the number of Unicode code points. */
export const charsOf = (text: string) => [...text].length;

const SEPARATORS = /[\s,;]+/;
const wordsOf = (text: string) => [...new Set(text.split(SEPARATORS).filter((word) => word !== ""))];
const FID = /^!?([1-9]\d{0,15})$/;

/** Fids as an owner typed or pasted them: separated by spaces, commas or lines, with or without `!`. */
export interface FidList {
  /** Without duplicates, in the given order. */
  readonly fids: readonly number[];
  /** The first word that is not an fid. */
  readonly bad: string | undefined;
}

export function readFidList(text: string): FidList {
  const fids = new Set<number>();
  let bad: string | undefined;
  for (const word of text.split(SEPARATORS)) {
    if (word === "") continue;
    const fid = Number(FID.exec(word)?.[1] ?? Number.NaN);
    if (Number.isSafeInteger(fid)) fids.add(fid);
    else bad ??= word.slice(0, 20);
  }
  return { fids: [...fids], bad };
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Returns the start of a day, or of the day some days `later`, in this browser's time zone, unix seconds; undefined for other text. */
function startOfDay(text: string, later = 0): number | undefined {
  const [, year, month, day] = (DAY.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const start = new Date(year, month - 1, day);
  if (start.getMonth() !== month - 1) return undefined;
  return Math.floor(new Date(year, month - 1, day + later).getTime() / 1000);
}

const endOfDay = (text: string) => startOfDay(text, 1);

/** Returns the day in this browser's time zone that contains the last second before a time. */
function lastDayBefore(secs: number): string {
  const date = new Date((secs - 1) * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function countOf(text: string): number | undefined {
  const value = Number(text.trim());
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

/** White space counts in a text of the API. */
const isEmpty = (kind: FieldSpec["kind"], text: string) => (kind === undefined ? text : text.trim()) === "";

function problemOf({ kind, isRequired, maxChars }: FieldSpec, text: string, nowMs: number) {
  if (isEmpty(kind, text)) return isRequired ? (kind === "url" ? msg.anHttpsUrl : msg.required) : undefined;
  const tooMany = charsOf(text) - (maxChars ?? Number.POSITIVE_INFINITY);
  if (tooMany > 0) return msg.tooManyAtMostCharacters(tooMany, maxChars ?? 0);
  switch (kind) {
    case "url":
      return URL.canParse(text) && new URL(text).protocol === "https:" ? undefined : msg.anHttpsUrl;
    case "count":
      return countOf(text) === undefined ? msg.aWholeNumberFrom1Or : undefined;
    case "day": {
      const end = endOfDay(text);
      return end === undefined || end * 1000 <= nowMs ? msg.aDayInTheFutureOr : undefined;
    }
    case "date":
      return startOfDay(text) === undefined ? msg.aDay : undefined;
    case "fid":
    case "fids": {
      const { fids, bad } = readFidList(text);
      if (bad !== undefined) return msg.isNotAnFidFidsAre(bad);
      return kind === "fid" && fids.length > 1 ? msg.oneFid : undefined;
    }
    default:
      return text.isWellFormed() && !text.includes("\0") ? undefined : msg.thisHasCharactersThatNoClient;
  }
}

/** Returns what the node would refuse, as sentences by field. The node decides; this only reports it earlier. */
export function problemsOf<const Fields extends readonly FieldSpec[]>(
  fields: Fields,
  draft: Draft<Fields>,
  nowMs = Date.now(),
): Problems<Fields> {
  const found = fields.map((field) => [
    field.name,
    problemOf(field, draft[field.name as Name<Fields>], nowMs),
  ]);
  return Object.fromEntries(found.filter(([, problem]) => problem !== undefined));
}

/** Returns what a form still needs, as a sentence with the names of the fields; undefined if nothing is missing. */
export function obstacleOf(
  fields: readonly Pick<FieldSpec, "name" | "label">[],
  problems: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const wrong = Object.keys(problems).filter((name) => problems[name] !== undefined);
  if (wrong.length === 0) return undefined;
  const labels = fields.filter(({ name }) => wrong.includes(name)).map(({ label }) => label);
  return msg.completeFirst(labels.join(", "));
}

function valueOfText({ kind }: FieldSpec, text: string): unknown {
  if (kind === "texts") return wordsOf(text);
  if (kind === "fids") return readFidList(text).fids;
  if (kind === "fid") return readFidList(text).fids[0] ?? null;
  if (kind === "count") return countOf(text) ?? null;
  if (kind === "day") return endOfDay(text) ?? null;
  if (kind === "date") return startOfDay(text) ?? null;
  return isEmpty(kind, text) ? null : text;
}

/** Returns the fields of a form without problems, in the API's format. */
export const valuesOf = <const Fields extends readonly FieldSpec[]>(fields: Fields, draft: Draft<Fields>) =>
  Object.fromEntries(
    fields.map((field) => [field.name, valueOfText(field, draft[field.name as Name<Fields>])]),
  ) as Values<Fields>;

/** Returns the texts of a form for a record; empty ones for a new record. */
export function draftOf<const Fields extends readonly FieldSpec[]>(
  fields: Fields,
  record?: Readonly<Partial<Record<Name<Fields>, unknown>>>,
): Draft<Fields> {
  const textOf = ({ name, kind }: FieldSpec) => {
    const value = record?.[name as Name<Fields>];
    if (value === null || value === undefined) return "";
    if (kind === "day") return lastDayBefore(Number(value));
    if (kind === "date") return lastDayBefore(Number(value) + 1);
    return Array.isArray(value) ? value.join(kind === "texts" ? "\n" : ", ") : String(value);
  };
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field)])) as Draft<Fields>;
}

/**
 * Returns the values that differ: one request changes all of them. Parts that a form cannot show exactly, such as seconds, stay
 * unchanged.
 */
export const changesOf = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof T]),
    ),
  ) as Partial<T>;

/** Returns the values that are not null, so that the API's defaults apply to the others. */
export const withoutNulls = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as {
    readonly [Field in keyof T as null extends T[Field] ? never : Field]: T[Field];
  } & { readonly [Field in keyof T as null extends T[Field] ? Field : never]?: NonNullable<T[Field]> };
