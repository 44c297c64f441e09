import { err, ok, type Result } from "../../lib/result.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import { filtersOf, type Subscription } from "../subscription.ts";
import { REGEX_FIELDS } from "./event-keys.ts";
import { type RegexFault, readRegexProgram } from "./expressions/regex-program.ts";
import type { FieldPrograms } from "./kind-index.ts";

/** Limit of instructions of all regular expressions of one owner's active subscriptions. */
export const MAX_OWNER_PROGRAM_SIZE = 10_000;

/** The regular expressions of a subscription. */
export interface SubscriptionProgram {
  readonly byKind: Readonly<Partial<Record<EventKind, FieldPrograms>>>;
  /** Instructions of all expressions. */
  readonly size: number;
  /** The field with the most instructions, such as `cast.created.text`; undefined without any expression. */
  readonly largestField: string | undefined;
}

/** Reads the regular expressions of a subscription; a fault names the field. */
export function readSubscriptionProgram(subscription: Subscription): Result<SubscriptionProgram, RegexFault> {
  const byKind: Partial<Record<EventKind, FieldPrograms>> = {};
  let size = 0;
  let largest: { readonly field: string; readonly size: number } | undefined;
  for (const [kind, filter] of filtersOf(subscription)) {
    for (const name of REGEX_FIELDS) {
      if (filter[name] === undefined) continue;
      const field = `${kind}.${name}`;
      const read = readRegexProgram(filter[name]);
      if (!read.ok) return err({ reason: `${field} ${read.error.reason}` });
      const program = read.value;
      byKind[kind] = { ...byKind[kind], [name]: program };
      size += program.size;
      if (largest === undefined || program.size > largest.size) largest = { field, size: program.size };
    }
  }
  return ok({ byKind, size, largestField: largest?.field });
}
