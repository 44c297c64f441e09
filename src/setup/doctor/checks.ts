import { reasonOf } from "../../lib/failure.ts";
import { type Finding, warn } from "./finding.ts";

/** One check. It reports what is wrong as findings and throws only for unexpected faults. */
export interface Check {
  readonly name: string;
  /** @param signal aborts when the time of the check is over. */
  readonly run: (signal: AbortSignal) => Promise<readonly Finding[]>;
}

/**
 * Runs checks at the same time, each for at most `timeoutMs`.
 *
 * @returns the findings in the order of the checks.
 */
export async function runChecks(checks: readonly Check[], timeoutMs: number): Promise<Finding[]> {
  return (await Promise.all(checks.map((check) => runCheck(check, timeoutMs)))).flat();
}

async function runCheck({ name, run }: Check, timeoutMs: number): Promise<readonly Finding[]> {
  const late = Promise.withResolvers<readonly Finding[]>();
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort(new Error(`no answer within ${timeoutMs / 1000} s`));
    const text = `could not be checked within ${timeoutMs / 1000} s`;
    late.resolve([warn(name, text, "Run `svc doctor` again; if it stays so, look at what it waits for")]);
  }, timeoutMs);
  try {
    return await Promise.race([run(abort.signal), late.promise]);
  } catch (cause) {
    return [warn(name, `could not be checked: ${reasonOf(cause)}`, "See the reason")];
  } finally {
    clearTimeout(timer);
  }
}
