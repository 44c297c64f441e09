import type { FigureUnit } from "../../../runtime/figures/figures.ts";
import * as msg from "../text/en/time.ts";
import { locale } from "./locale.ts";

/** Something inside a text that the page renders. As wide as Preact's children, without its DOM types. */
export type Rich = object | string | number | bigint | boolean | null | undefined;
/** The same if the text is a string. */
export type Value = string | number;

const grouped = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const dayAndTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const forms = new Intl.PluralRules(locale);

/** `12,345`. */
export const formatCount = (value: number) => grouped.format(value);

/** For narrow places, `12.3K`; the exact number is in the title. */
export const formatCompact = (value: number) => compact.format(value);

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** `4.1 KB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${grouped.format(value)} ${BYTE_UNITS[unit]}`;
}

/** `0.6 ms`, `12 ms`, `1.4 s`. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${tenths.format(ms)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${grouped.format(ms / 1000)} s`;
}

const STEPS = [
  { below: 60, per: 1, unit: "s" },
  { below: 3600, per: 60, unit: "min" },
  { below: 86_400, per: 3600, unit: "h" },
] as const;

const DAY_SECS = 86_400;
const WEEK_SECS = 7 * DAY_SECS;

/** Formats a time relative to now: `now`, `4 s`, `5 min`, `7 h`, `3 d`, then the day; `in 5 min` for a future one. Both in ms. */
export function formatAge(atMs: number, nowMs: number): string {
  const secs = Math.round(Math.abs(nowMs - atMs) / 1000);
  if (secs < 2) return msg.now;
  if (secs >= WEEK_SECS) return day.format(atMs);
  const step = STEPS.find(({ below }) => secs < below);
  const age = step ? `${Math.floor(secs / step.per)} ${step.unit}` : msg.days(Math.floor(secs / DAY_SECS));
  return atMs > nowMs ? msg.inTime(age) : age;
}

/** Formats a past time for a sentence: `just now`, `5 min ago`, or the day. */
export function formatAgo(atMs: number, nowMs: number): string {
  const age = formatAge(atMs, nowMs);
  if (age === msg.now) return msg.justNow;
  return atMs > nowMs || age === day.format(atMs) ? age : msg.agoOf(age);
}

/** Formats a rate with its significant digits. */
export const formatRate = (value: number) =>
  value !== 0 && Math.abs(value) < 10 ? tenths.format(value) : formatCount(Math.round(value));

/** Formats a percentage with its significant digits. */
export const formatPercent = (percent: number) => `${formatRate(percent)} %`;

/** Formats a duration that may be 0. */
export const formatMs = (ms: number) => (ms === 0 ? "0 ms" : formatDuration(ms));

/** Formats seconds as people say them. */
export const formatSecs = (secs: number): string => {
  if (secs < 60) return `${Math.round(secs)} s`;
  if (secs < 3600) return `${Math.round(secs / 60)} min`;
  if (secs < 86_400) return `${Math.floor(secs / 3600)} h ${Math.round((secs % 3600) / 60)} min`;
  return `${Math.floor(secs / 86_400)} d ${Math.round((secs % 86_400) / 3600)} h`;
};

/** How values are formatted, by the unit of their figure. */
export const FORMATS: Readonly<Record<FigureUnit, (value: number) => string>> = {
  count: formatCount,
  rate: formatRate,
  ms: formatMs,
  secs: formatSecs,
};

/** Formats day and minute in the visitor's time zone. */
export const formatMoment = (atMs: number) => dayAndTime.format(atMs);

const clock = new Intl.DateTimeFormat(locale, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** `14:49:21` in the visitor's time zone. */
export const formatClock = (atMs: number) => clock.format(atMs);

/** The exact second: `2026-11-22 14:49:21 UTC`. */
export const formatExact = (atMs: number) =>
  `${new Date(atMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** `1 person`, `2 people`, by the rules of the language. */
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${forms.select(count) === "one" ? one : many}`;

/** Returns the translation of a text of the node; the English text if there is none. */
export const saidIn = (texts: Readonly<Record<string, string>>, text: string) =>
  (Object.hasOwn(texts, text) ? texts[text] : undefined) ?? text;

/** A number as the node writes it, with or without a unit. A number without separators may be a port or an id, so it does not match. */
const NUMBER = /^(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)(?= ?[%\p{L}]*$)/u;

/** Localizes a value within a text of the node: a number gets the separators of the language. */
export function localValue(value: string, tag = locale): string {
  return value.replace(NUMBER, (number) => {
    const digits = number.split(".")[1]?.length ?? 0;
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return Number(number.replaceAll(",", "")).toLocaleString(tag, options);
  });
}

/**
 * Like `saidIn`, for a text with values, which may be such texts themselves: `{}` represents each, in the same order in both languages.
 *
 * @param nameOf returns the translation of other values.
 */
export function saidWith(
  texts: Readonly<Record<string, string>>,
  text: string,
  nameOf: (value: string) => string = (value) => localValue(value),
): string {
  const whole = saidIn(texts, text);
  if (whole !== text) return whole;
  for (const [form, other] of Object.entries(texts)) {
    const parts = form.split("{}");
    if (parts.length < 2) continue;
    const values = new RegExp(`^${parts.map(RegExp.escape).join("(.*?)")}$`, "s").exec(text)?.slice(1);
    if (values) return other.replaceAll("{}", () => saidWith(texts, values.shift() ?? "", nameOf));
  }
  return nameOf(text);
}

/** `0x658a…19e0`. */
export const shortHex = (hex: string) => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex);
