const CENSOR = "[redacted]";
const MAX_DEPTH = 6;
const MAX_TEXT_CHARS = 8192;
const MAX_CAUSES = 4;

/** Names of fields that hold credentials, in lower case and without dashes and underscores. */
const SECRET_NAMES = new Set([
  "apikey",
  "authorization",
  "cookie",
  "custodykey",
  "mnemonic",
  "notificationtoken",
  "password",
  "privatekey",
  "proxyauthorization",
  "secret",
  "secretkey",
  "secrets",
  "sendsecret",
  "sendsecrets",
  "setcookie",
  "signerprivatekey",
  "token",
  "tokens",
  "xapikey",
]);

/**
 * A copy of what is to be logged in which every field with the name of a credential is blotted out, at any depth, errors
 * are described with their causes, and long texts are cut. Numbers and booleans stay: `tokens: 12` is a count.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cut(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "[deep]";
  if (value instanceof Error) return describeError(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return redact(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return redactFields(value, depth);
}

/** `redact` of an object's fields, one level of nesting counted. */
export function redactFields(value: object, depth = 0): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    shown[name] = hidesField(name, field) ? CENSOR : redact(field, depth + 1);
  }
  return shown;
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
    ...("code" in error ? { code: redact(error.code, MAX_DEPTH) } : {}),
    ...(stack === undefined ? {} : { stack: cut(stack) }),
    ...(cause instanceof Error && causes < MAX_CAUSES ? { cause: describeError(cause, causes + 1) } : {}),
  };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`;
}
