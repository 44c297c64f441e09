/** Returns the value of a promise; undefined when it rejects, or has not resolved within `ms`. */
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
 * Returns a function that loads a value at its first call and gives the same one to all calls. Calls during the load wait for it;
 * after a failed load the next call tries again.
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
