import { type UrlGuard, UrlRefusal } from "../net/guard.ts";
import { badField, type Refusal } from "./refusal.ts";

/** The reader of a URL that an fid registers here: text that the guard lets pass, kept as it was given. */
export function readGuardedUrl(guard: UrlGuard, fid: number) {
  return async (value: unknown, name: string): Promise<string | Refusal> => {
    if (typeof value !== "string") return badField(`${name} must be a string`);
    if (!value.isWellFormed()) return badField(`${name} must be well-formed Unicode`);
    const checked = await guard.check(value, `fid:${fid}`);
    return checked instanceof UrlRefusal ? badField(`${name} ${checked.reason}`) : value;
  };
}
