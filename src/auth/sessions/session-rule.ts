import { parseQueryString } from "../../http/query-string.ts";
import { parseJsonBytes } from "../../lib/json.ts";
import type { Session, SessionAccess } from "./session.ts";

/** Which sessions may sign an operation, and when. */
export interface SessionRule {
  /** What a session needs. `operate` includes `read`. */
  readonly access: SessionAccess;
  /** Only if the JSON body has exactly these fields. */
  readonly onlyFields?: readonly string[];
  /** Only if its query names nothing but the session itself. */
  readonly onlyItself?: true;
}

/** Whether a session may do what a request asks for. */
export function mayUse(
  rule: SessionRule | undefined,
  { access, sessionId }: Pick<Session, "access" | "sessionId">,
  { url, body }: { readonly url: string; readonly body: Uint8Array },
): boolean {
  if (rule === undefined || (rule.access === "operate" && access !== "operate")) return false;
  if (rule.onlyFields && !hasOnly(body, rule.onlyFields)) return false;
  return !rule.onlyItself || (body.byteLength === 0 && namesOnly(url, sessionId));
}

function hasOnly(body: Uint8Array, fields: readonly string[]): boolean {
  const keys = Object.keys(parseJsonBytes(body) ?? {});
  return keys.length === fields.length && keys.every((key) => fields.includes(key));
}

function namesOnly(url: string, sessionId: string): boolean {
  const query = Object.entries(parseQueryString(url));
  const [[name, values] = ["", []]] = query;
  return query.length === 1 && name === "session_id" && values.length === 1 && values[0] === sessionId;
}
