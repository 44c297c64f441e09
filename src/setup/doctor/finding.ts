/** `fail`: the node does not start or does not work; `warn`: it works, with a loss that the text names. */
export type Level = "ok" | "warn" | "fail";

/** What a check has found, for people and for `--json`. */
export interface Finding {
  /** The subject, such as `disk speed`. */
  readonly check: string;
  readonly level: Level;
  /** One sentence. */
  readonly text: string;
  /** What to do; only with `warn` and `fail`. */
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
