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
