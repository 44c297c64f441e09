/** Returns the value of a promise; undefined if it rejects or does not resolve within `ms`. */
export async function valueWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([promise.catch(() => undefined), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns a function that loads a value at its first call and returns the same one to all calls. Calls during the load wait for it; after
 * a failed load, the next call tries again.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((cause: unknown) => {
      loading = undefined;
      throw cause;
    });
    return loading;
  };
}

/**
 * Returns a function that makes a value at most once per `ms`: calls within that time, or while it is being made, share it. After a
 * failure, the next call tries again.
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
