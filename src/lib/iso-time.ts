/** The last second that a Date can hold. */
const MAX_DATE_SECS = 8_640_000_000_000;

/** ISO 8601 in UTC with milliseconds and `Z`. A time beyond what a Date holds is the last one that it does. */
export function isoTime(unixSecs: number): string {
  return new Date(Math.min(unixSecs, MAX_DATE_SECS) * 1000).toISOString();
}
