import type { Language } from "./other-languages.ts";
import { DAY_SECS, HOUR_SECS, WEEK_SECS } from "./plan.ts";
import type { Random } from "./random.ts";

/** The hours before the anchor of the daily peak of each language's speakers. */
const BUSIEST_HOURS_AGO: Record<Language, number> = { en: 3, es: 7, pt: 7, ja: 13, ko: 13, zh: 14 };
const QUIETEST_SHARE = 0.08;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/**
 * A time of the week, in seconds before the anchor, most likely when speakers of a language are awake. Days are counted
 * from the anchor and not from midnight, so that every anchor produces the same week.
 */
export function momentOfWeek(language: Language, random: Random): number {
  const busiest = BUSIEST_HOURS_AGO[language];
  const hour = random.weighted(
    HOURS.map((hoursAgo) => {
      const wave = (1 + Math.cos(((hoursAgo - busiest) / 24) * 2 * Math.PI)) / 2;
      return QUIETEST_SHARE + wave ** 1.5;
    }),
  );
  const moment = random.below(7) * DAY_SECS + hour * HOUR_SECS + random.below(HOUR_SECS);
  return Math.min(moment, WEEK_SECS);
}
