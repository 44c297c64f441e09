/**
 * Returns a function that makes a value at most once in `ms`: calls within that time, and those while it is made, get the same one.
 * What fails is made again by the next call.
 *
 * @param monotonicMs default: the process's monotonic clock.
 */
export function oncePer<T>(
  ms: number,
  make: () => Promise<T>,
  monotonicMs: () => number = () => performance.now(),
): () => Promise<T> {
  let made: { readonly value: Promise<T>; readonly atMs: number } | undefined;
  return () => {
    const nowMs = monotonicMs();
    if (made && nowMs - made.atMs < ms) return made.value;
    const value = make();
    const fresh = { value, atMs: nowMs };
    made = fresh;
    value.catch(() => {
      if (made === fresh) made = undefined;
    });
    return value;
  };
}
