import type { QuietHours, Timing } from "../store/campaigns/campaign-store.ts";

const QUARTER_SECS = 900;
const MAX_ZONE_CHARS = 64;
/** All zones; several share an offset. */
const ZONES: readonly string[] = ["UTC", ...Intl.supportedValuesOf("timeZone")];
/** Canonical names of the spellings requested so far. */
const names = new Map<string, string>();

/**
 * Returns the name of an IANA zone in its usual spelling; undefined for any other text. Offsets such as `+05:30` are not accepted,
 * because they have no rules.
 */
export function zoneNamed(text: string): string | undefined {
  if (text.length > MAX_ZONE_CHARS || !/^[A-Za-z][\w+/-]*$/.test(text)) return undefined;
  const found = names.get(text);
  if (found !== undefined) return found;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions();
    // Only existing names are stored, and only a bounded number, because names are accepted in any case.
    if (names.size < 2_000) names.set(text, timeZone);
    return timeZone;
  } catch {
    return undefined;
  }
}

/** Reports whether two names denote the same zone: browsers report `Asia/Calcutta` for `Asia/Kolkata`. */
export function isSameZone(one: string, other: string): boolean {
  const start = Temporal.Instant.fromEpochMilliseconds(0);
  return one === other || start.toZonedDateTimeISO(one).equals(start.toZonedDateTimeISO(other));
}

/**
 * Returns the unix second at which a send is due for people of a zone. If it depends on the zone, it is on a quarter of an hour. A local
 * time that a clock change skips counts as the one after it; of a local time that happens twice, the first counts.
 */
export function dueIn(timing: Timing, zone: string): number {
  if (timing.at !== null && timing.quiet === null) return timing.at;
  const planned =
    timing.at === null
      ? Temporal.PlainDateTime.from(timing.local ?? "").toZonedDateTime(zone)
      : Temporal.Instant.fromEpochMilliseconds(timing.at * 1000).toZonedDateTimeISO(zone);
  const moved = timing.quiet === null ? planned : afterQuiet(planned, timing.quiet);
  return Math.ceil(moved.epochMilliseconds / 1000 / QUARTER_SECS) * QUARTER_SECS;
}

function afterQuiet(time: Temporal.ZonedDateTime, { from, to }: QuietHours): Temporal.ZonedDateTime {
  const minute = time.hour * 60 + time.minute;
  const spansMidnight = from > to;
  const isQuiet = spansMidnight ? minute >= from || minute < to : minute >= from && minute < to;
  if (!isQuiet) return time;
  const date = time.toPlainDate().add({ days: spansMidnight && minute >= from ? 1 : 0 });
  const plainTime = Temporal.PlainTime.from({ hour: Math.floor(to / 60), minute: to % 60 });
  return date.toZonedDateTime({ timeZone: time.timeZoneId, plainTime });
}

/** Returns the times of a send over all zones in unix seconds, ascending: about 40, because zones share offsets. */
export function wavesOf(timing: Timing): number[] {
  if (timing.at !== null && timing.quiet === null) return [timing.at];
  return [...new Set(ZONES.map((zone) => dueIn(timing, zone)))].sort((a, b) => a - b);
}

/** Returns the index of the wave for a zone's time: the first wave at or after it, or the last one. */
export function waveOf(waves: readonly number[], due: number): number {
  const at = waves.findIndex((wave) => wave >= due);
  return at === -1 ? waves.length - 1 : at;
}
