/**
 * The outcome of an operation that the caller must check: a value, or the reason why there is none.
 * Faults (bugs, I/O) are thrown instead.
 */
export type Result<T, E> = Ok<T> | Err<E>;

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err<E> {
  readonly ok: false;
  readonly error: E;
}

/** Returns a successful result. */
export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

/** Returns a failed result. */
export function err<E>(error: E): Err<E> {
  return { ok: false, error };
}

/** Applies `map` to the value of a successful result. Returns a failed result unchanged. */
export function mapOk<T, U, E>(result: Result<T, E>, map: (value: T) => U): Result<U, E> {
  return result.ok ? ok(map(result.value)) : result;
}
