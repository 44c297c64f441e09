/** The last second that a Date can represent. */
const MAX_DATE_SECS = 8_640_000_000_000;
const DAY_SECS = 86_400;

/** The text of a day up to its `T`, by its number since 1970. Most times of a response are of a few days. */
const dayTexts = new Map<number, string>();
const MAX_DAY_TEXTS = 1000;

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));

/** ISO 8601 in UTC with milliseconds and `Z`. Times beyond the range of Date are clamped. */
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
