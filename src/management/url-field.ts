import { ok, type Result } from "../lib/result.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import { badField, type Refusal } from "./refusal.ts";

/** Checks a URL that an fid registers. It must pass the guard, and its text stays unchanged; absent URLs pass. */
export async function checkUrlField<T extends string | undefined>(
  guard: RegistrationGuard,
  { fid, url, name }: { readonly fid: number; readonly url: T; readonly name: string },
): Promise<Result<T, Refusal>> {
  if (url === undefined) return ok(url);
  const checked = await guard.check(url, `fid:${fid}`);
  return checked.ok ? ok(url) : badField(`${name} ${checked.error.reason}`);
}
