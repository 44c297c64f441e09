import type { Result } from "../../src/lib/result.ts";

/** Returns the value of a successful result, and throws for a failed one. */
export function expectOk<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`expected a value, got the error ${Bun.inspect(result.error)}`);
  return result.value;
}

/** Returns the error of a failed result, and throws for a successful one. */
export function expectErr<E>(result: Result<unknown, E>): E {
  if (result.ok) throw new Error(`expected an error, got the value ${Bun.inspect(result.value)}`);
  return result.error;
}
