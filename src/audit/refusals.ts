import type { ErrorName } from "../http/errors.ts";
import type { Result } from "../lib/result.ts";
import type { AuditEntry, AuditStore } from "./audit-store.ts";

interface Refused {
  readonly kind: ErrorName;
  readonly code?: string;
}

/**
 * Adds an entry for an action that was refused, so that the log shows what was tried, too. What the node cannot do now has none.
 *
 * @param entry of the action; its outcome is that of a success
 * @returns the result
 */
export async function recordRefusal<T, E extends Refused>(
  audit: Pick<AuditStore, "append">,
  entry: AuditEntry,
  result: Result<T, E>,
): Promise<Result<T, E>> {
  if (result.ok || NOT_RECORDED.has(result.error.kind)) return result;
  const { kind, code } = result.error;
  await audit.append([{ ...entry, outcome: code ?? snakeCase(kind) }]);
  return result;
}

const NOT_RECORDED: ReadonlySet<ErrorName> = new Set(["unavailable", "notImplemented"]);

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
