export const MAX_NOTE_CHARS = 500;
export const MAX_MUTED_HOURS = 720;
const HOUR_SECS = 3600;

/** Reports whether a text is a valid note of an incident: plain text of one or more lines. */
export function isNote(text: string): boolean {
  return text.length <= MAX_NOTE_CHARS && /^[^\p{Cc}]*$/u.test(text.replaceAll("\n", " "));
}

/**
 * Returns when a muting of some hours ends, in Unix seconds; null for 0 hours, undefined for a number that is not allowed.
 */
export function mutedUntil(hours: number, nowSecs: number): number | null | undefined {
  if (!Number.isInteger(hours) || hours < 0 || hours > MAX_MUTED_HOURS) return undefined;
  return hours === 0 ? null : nowSecs + hours * HOUR_SECS;
}
