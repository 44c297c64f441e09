const CENSOR = "[redacted]";
const MAX_DEPTH = 6;
const MAX_FIELDS = 500;
const MAX_TEXT_CHARS = 8192;
const MAX_CAUSES = 4;

/** Names of fields with credentials, in lowercase and without dashes and underscores. */
const SECRET_NAMES = new Set([
  "apikey",
  "authorization",
  "cookie",
  "custodykey",
  "encryptionkey",
  "mnemonic",
  "notificationtoken",
  "password",
  "privatekey",
  "proxyauthorization",
  "secret",
  "secretkey",
  "sealed",
  "secrets",
  "seed",
  "sendsecret",
  "sendsecrets",
  "setcookie",
  "standardsecret",
  "signerprivatekey",
  "token",
  "tokens",
  "xapikey",
]);

/** How many more fields of an event may be shown, so that a large object logged by mistake stays small. */
interface Budget {
  fields: number;
}

/**
 * Returns a copy of fields for the log. Replaces every field with the name of a credential at any depth, describes errors with their
 * causes, and truncates long texts and large objects. Numbers and booleans are not hidden, because `tokens: 12` is a count. Milliseconds
 * (`…Ms`) are rounded to microseconds.
 */
export function redact(fields: object): Record<string, unknown> {
  return redactFields(fields, 0, { fields: MAX_FIELDS });
}

function redactValue(value: unknown, depth: number, budget: Budget): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return "[deep]";
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return redactValue(value.toJSON(), depth + 1, budget);
  }
  if (!Array.isArray(value)) return redactFields(value, depth + 1, budget);
  const shown = value.slice(0, Math.max(budget.fields, 0));
  budget.fields -= shown.length;
  return shown.map((item) => redactValue(item, depth + 1, budget));
}

function redactFields(fields: object, depth: number, budget: Budget): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (budget.fields <= 0) break;
    budget.fields -= 1;
    if (hidesField(name, field)) shown[name] = CENSOR;
    else if (typeof field === "number" && name.endsWith("Ms")) shown[name] = toMicroseconds(field);
    else shown[name] = redactValue(field, depth, budget);
  }
  return shown;
}

/** Rounds milliseconds to microseconds. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function hidesField(name: string, field: unknown): boolean {
  if (typeof field !== "string" && (typeof field !== "object" || field === null)) return false;
  return SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ""));
}

function describeError(error: Error, causes = 0): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message: cut(message),
    ...("code" in error ? { code: cut(String(error.code)) } : {}),
    ...(stack === undefined ? {} : { stack: cut(stack) }),
    ...(cause instanceof Error && causes < MAX_CAUSES ? { cause: describeError(cause, causes + 1) } : {}),
  };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`;
}
