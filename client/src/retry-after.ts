/** Returns how long a response asks to wait, in milliseconds. Reads `Retry-After` in seconds, or as a date, which some proxies send. */
export function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
