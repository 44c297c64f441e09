/** How long a response asks to wait, in ms: `Retry-After` in seconds, or as the date that proxies may write. */
export function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
