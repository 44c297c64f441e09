/** The last second that a Date can represent. */
const MAX_DATE_SECS = 8_640_000_000_000;

/** ISO 8601 in UTC with milliseconds and `Z`. Times beyond the range of Date are clamped. */
export function isoTime(unixSecs: number): string {
  return new Date(Math.min(unixSecs, MAX_DATE_SECS) * 1000).toISOString();
}
