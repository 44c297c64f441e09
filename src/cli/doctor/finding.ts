import { reasonOf } from "../../lib/failure.ts";

/** `fail`: the node does not start or does not work; `warn`: it works, with the limitation in the text. */
export type Level = "ok" | "warn" | "fail";

/** A result of a check, for people and for `--json`. */
export interface Finding {
  /** The subject, such as `disk speed`. */
  readonly check: string;
  readonly level: Level;
  /** One sentence. */
  readonly text: string;
  /** What to do; only for `warn` and `fail`. */
  readonly advice?: string;
}

export function ok(check: string, text: string): Finding {
  return { check, level: "ok", text };
}

export function warn(check: string, text: string, advice: string): Finding {
  return { check, level: "warn", text, advice };
}

export function fail(check: string, text: string, advice: string): Finding {
  return { check, level: "fail", text, advice };
}

/** One check. It reports problems as findings and throws only for unexpected faults. */
export interface Check {
  readonly name: string;
  /** @param signal aborts when the time limit of the check has passed. */
  readonly run: (signal: AbortSignal) => Promise<readonly Finding[]>;
}

/**
 * Runs checks concurrently, each for at most `timeoutMs`.
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
    abort.abort(new Error(`no response within ${timeoutMs / 1000} s`));
    const text = `could not be checked within ${timeoutMs / 1000} s`;
    late.resolve([warn(name, text, "Run `svc doctor` again; if this persists, check what it waits for")]);
  }, timeoutMs);
  try {
    return await Promise.race([run(abort.signal), late.promise]);
  } catch (cause) {
    return [warn(name, `could not be checked: ${reasonOf(cause)}`, "See the reason")];
  } finally {
    clearTimeout(timer);
  }
}
