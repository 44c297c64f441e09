import { promDuration } from "../check.ts";

/**
 * The expression for a counter that rose within some seconds. `increase` does not see an event between the start of the process and the
 * first scrape, because the series begins with it: a counter above 0 of a process that is younger than the range rose within it.
 */
export function promRose(counter: string, secs: number): string {
  const isYoung = `time() - svc_process_start_time_seconds < ${secs}`;
  return `increase(${counter}[${promDuration(secs)}]) > 0 or ${counter} > 0 and on (job, instance) ${isYoung}`;
}
