import { SHARES } from "../selection.ts";
import type { AudienceShare } from "../store/campaigns/campaign-store.ts";
import { type NewWave, type ScheduleContent, WINNER } from "../store/schedules/schedule-store.ts";

/** Returns the share of the people who belong to one wave of a schedule; undefined for the whole audience. */
export function shareOfWave(
  scheduleId: string,
  {
    texts,
    timing,
    times: waves,
    holdoutPercent,
  }: Pick<ScheduleContent, "texts" | "timing" | "times" | "holdoutPercent">,
  { wave, variant }: Pick<NewWave, "wave" | "variant">,
): AudienceShare | undefined {
  const tested = SHARES - (SHARES * holdoutPercent) / 100;
  const border = (text: number) => Math.round((tested * text) / texts.length);
  const [from, to] = variant === WINNER ? [tested, SHARES] : [border(variant), border(variant + 1)];
  const isOfAll = from === 0 && to === SHARES;
  if (isOfAll && waves.length === 1) return undefined;
  const place = Math.floor(wave / texts.length);
  return { scheduleId, from, to, ...(waves.length > 1 && { wave: { place, waves, timing } }) };
}
