/** Returns the object without the keys whose value is undefined. */
export function withoutUndefined<T extends object>(
  object: T,
): { -readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { -readonly [K in keyof T]?: Exclude<T[K], undefined> };
}
