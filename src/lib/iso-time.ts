/** The last second that a Date can represent. */
const MAX_DATE_SECS = 8_640_000_000_000;
const DAY_SECS = 86_400;

/** The text of a day up to its `T`, by days since 1970. Most times in a response are from a few days. */
const dayTexts = new Map<number, string>();
const MAX_DAY_TEXTS = 1000;

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));

/** Formats unix seconds as ISO 8601 in UTC with milliseconds and `Z`. Times beyond the range of Date are clamped. */
export function isoTime(unixSecs: number): string {
  const secs = Math.min(unixSecs, MAX_DATE_SECS);
  if (!Number.isInteger(secs)) return new Date(secs * 1000).toISOString();
  const day = Math.floor(secs / DAY_SECS);
  const ofDay = secs - day * DAY_SECS;
  const minutes = Math.floor(ofDay / 60);
  const hour = twoDigits[Math.floor(minutes / 60)];
  return `${dayText(day)}${hour}:${twoDigits[minutes % 60]}:${twoDigits[ofDay % 60]}.000Z`;
}

function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    const whole = new Date(day * DAY_SECS * 1000).toISOString();
    text = whole.slice(0, whole.indexOf("T") + 1);
    if (dayTexts.size >= MAX_DAY_TEXTS) dayTexts.clear();
    dayTexts.set(day, text);
  }
  return text;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, m: 60, h: 3600, d: 86_400 };

/**
 * Reads a time that someone types, in the machine's time zone: `03:12`, `yesterday 14:00`, `2 h ago`, `2026-11-23 03:12`. With `ahead`,
 * times are in the future: `03:12`, `tomorrow 14:00`, `in 2 h`, `2026-12-01 07:00`.
 *
 * @returns unix seconds; undefined for anything else. A time of day is the last one that has passed or, with `ahead`, the next one.
 */
export function typedTime(text: string, nowMs: number, { ahead = false } = {}): number | undefined {
  const words = text.trim().toLowerCase();
  const distance = (
    ahead ? /^(?:in\s+)?(\d{1,4})\s*(s|min|m|h|d)$/ : /^(\d{1,4})\s*(s|min|m|h|d)(?:\s+ago)?$/
  ).exec(words);
  if (distance) {
    const secs = Number(distance[1]) * (UNITS[distance[2] ?? ""] ?? 0);
    return Math.floor(nowMs / 1000) + (ahead ? secs : -secs);
  }
  const clock = /^(?:(yesterday|today|tomorrow)\s+)?([01]?\d|2[0-3]):([0-5]\d)$/.exec(words);
  if (clock) {
    const [, word] = clock;
    if (word === (ahead ? "yesterday" : "tomorrow")) return undefined;
    const day = new Date(nowMs);
    day.setHours(Number(clock[2]), Number(clock[3]), 0, 0);
    const isOver = ahead ? day.getTime() <= nowMs : day.getTime() > nowMs;
    if (word === "yesterday" || word === "tomorrow" || (word === undefined && isOver))
      day.setDate(day.getDate() + (ahead ? 1 : -1));
    return Math.floor(day.getTime() / 1000);
  }
  const full = /^(\d{4})-(\d\d)-(\d\d)[ t](\d\d):(\d\d)(z?)$/.exec(words);
  if (!full) return undefined;
  const ms = Date.parse(`${full[1]}-${full[2]}-${full[3]}T${full[4]}:${full[5]}${full[6] ? "Z" : ""}`);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
