import { ok, type Result } from "../lib/result.ts";
import type { UrlGuard } from "../net/guard.ts";
import { badField, type Refusal } from "./refusal.ts";

/** Returns a reader of a URL that an fid registers: it must pass the guard, and its text stays unchanged. */
export function readGuardedUrl(guard: UrlGuard, fid: number) {
  return async (value: unknown, name: string): Promise<Result<string, Refusal>> => {
    if (typeof value !== "string") return badField(`${name} must be a string`);
    if (!value.isWellFormed()) return badField(`${name} must be well-formed Unicode`);
    const checked = await guard.check(value, `fid:${fid}`);
    return checked.ok ? ok(value) : badField(`${name} ${checked.error.reason}`);
  };
}
