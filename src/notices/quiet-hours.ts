/** Hours, in a time zone, in which only critical notices are sent. */
export interface QuietHours {
  /** Minutes since midnight. If `to` is less than `from`, the hours end on the next day. */
  readonly from: number;
  readonly to: number;
  /** IANA time zone, such as "Europe/Berlin". */
  readonly zone: string;
}

const DAY_MINUTES = 1440;
const MINUTE_SECS = 60;
const SPELLED = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

/** Parses hours such as "22:00-07:00". Undefined for any other text and for an unknown time zone. */
export function readQuietHours(text: string, zone: string): QuietHours | undefined {
  const [, fromHour, fromMinute, toHour, toMinute] = SPELLED.exec(text) ?? [];
  if (fromHour === undefined || !isZone(zone)) return undefined;
  const from = Number(fromHour) * 60 + Number(fromMinute);
  const to = Number(toHour) * 60 + Number(toMinute);
  return from === to ? undefined : { from, to, zone };
}

export function quietHoursText({ from, to, zone }: QuietHours): string {
  const two = (minutes: number) => String(minutes).padStart(2, "0");
  const clock = (minutes: number) => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${clock(from)}-${clock(to)} ${zone}`;
}

/** Returns when a notice may be sent, in unix seconds: now, or at the end of the quiet hours. */
export function dueAfterQuiet(quiet: QuietHours | null, nowSecs: number): number {
  if (!quiet) return nowSecs;
  const { from, to, zone } = quiet;
  const now = minutesIn(zone, nowSecs);
  const since = (now - from + DAY_MINUTES) % DAY_MINUTES;
  const length = (to - from + DAY_MINUTES) % DAY_MINUTES;
  if (since >= length) return nowSecs;
  // A daylight saving change within the quiet hours moves their end by an hour. The notice is checked again when it is due, which
  // corrects this.
  return nowSecs - (nowSecs % MINUTE_SECS) + (length - since) * MINUTE_SECS;
}

function isZone(zone: string): boolean {
  try {
    return (
      zone.length <= 64 && new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions() !== undefined
    );
  } catch {
    return false;
  }
}

function minutesIn(zone: string, unixSecs: number): number {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const values = Object.fromEntries(
    parts.formatToParts(unixSecs * 1000).map(({ type, value }) => [type, Number(value)]),
  );
  return (values.hour ?? 0) * 60 + (values.minute ?? 0);
}
