import type { QuietHours, Timing } from "../store/campaigns/campaign-store.ts";

const QUARTER_SECS = 900;
/** All zones; several share an offset. */
const ZONES: readonly string[] = ["UTC", ...Intl.supportedValuesOf("timeZone")];
const EPOCH = Temporal.Instant.fromEpochMilliseconds(0);

/**
 * Returns the name of an IANA zone in its usual spelling; undefined for any other text. Offsets such as `+05:30` are not accepted,
 * because they have no rules.
 */
export function zoneNamed(text: string): string | undefined {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return undefined;
  try {
    // Hundreds of times faster than a formatter of the zone.
    return EPOCH.toZonedDateTimeISO(text).timeZoneId;
  } catch {
    return undefined;
  }
}

/** Reports whether two names denote the same zone: browsers report `Asia/Calcutta` for `Asia/Kolkata`. */
export function isSameZone(one: string, other: string): boolean {
  return one === other || EPOCH.toZonedDateTimeISO(one).equals(EPOCH.toZonedDateTimeISO(other));
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

/**
 * Returns the times of a send over all zones in unix seconds, ascending: about 40, because zones share offsets, or one that is the same
 * in all zones.
 */
export function wavesOf(timing: Timing): number[] {
  return [...new Set(ZONES.map((zone) => dueIn(timing, zone)))].sort((a, b) => a - b);
}

/** Returns the index of the wave for a zone's time: the first wave at or after it, or the last one. */
export function waveOf(waves: readonly number[], due: number): number {
  const at = waves.findIndex((wave) => wave >= due);
  return at === -1 ? waves.length - 1 : at;
}
