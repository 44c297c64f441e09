import { choice, integer, optional } from "../../http/params.ts";
import type { HistoryStep } from "./history.ts";

const MAX_UNIX_SECS = 99_999_999_999;

/** The parameters of a request for the history: the rows after `since` (unix seconds), at 5 or 60 seconds. */
export const seriesQuery = {
  params: {
    since: optional(integer({ min: 0, max: MAX_UNIX_SECS }), 0),
    step: optional(choice(["5", "60"]), "5"),
  },
};

/** The distance of rows that a request names. */
export function stepOf({ step }: { readonly step: "5" | "60" }): HistoryStep {
  return step === "5" ? 5 : 60;
}
