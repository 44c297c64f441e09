import { promDuration } from "../check.ts";

/**
 * The expression for a counter that rose within some seconds. `increase` does not see an event between the start of the process and the
 * first scrape, because the series begins with it: a counter above 0 of a process that is younger than the range rose within it.
 */
export function promRose(counter: string, secs: number): string {
  const isYoung = `time() - svc_process_start_time_seconds < ${secs}`;
  return `increase(${counter}[${promDuration(secs)}]) > 0 or ${counter} > 0 and on (job, instance) ${isYoung}`;
}

/**
 * The expression for how much each series of a counter rose within some seconds. `increase` does not see what a series begins with, as
 * one of a route does whose first response was an error: all of a series counts that is younger than the range.
 */
export function promIncrease(series: string, secs: number): string {
  const range = promDuration(secs);
  return `(${series} unless ${series} offset ${range} or increase(${series}[${range}]))`;
}
