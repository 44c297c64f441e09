import { Type } from "@sinclair/typebox";
import { SESSION_ACCESS, type SessionAccess } from "../auth/sessions/session.ts";
import { checked, Text } from "../management/request-schema.ts";
import { hasSmallOrder } from "../protocol/validate/ed25519.ts";

const PUBLIC_KEY = /^0x[0-9a-fA-F]{64}$/;
const MAX_ORIGIN_CHARS = 300;

const PublicKey = checked<`0x${string}`>(
  { type: "string", pattern: PUBLIC_KEY.source, description: "The Ed25519 public key of the session" },
  (value) => {
    if (typeof value !== "string" || !PUBLIC_KEY.test(value)) return "must be 0x and 64 hexadecimal digits";
    return hasSmallOrder(Buffer.from(value.slice(2), "hex"))
      ? "is a key that anybody can sign for"
      : undefined;
  },
);

const Access = checked<SessionAccess>(
  {
    type: "string",
    enum: [...SESSION_ACCESS],
    description:
      "`read` shows records without their secrets. `operate` also tests webhooks, replays deliveries, and switches webhooks on and off",
  },
  (value) =>
    SESSION_ACCESS.some((access) => access === value) ? undefined : `must be ${SESSION_ACCESS.join(" or ")}`,
);

const Origin = checked<string>(
  { type: "string", maxLength: MAX_ORIGIN_CHARS, description: "Origin of the page that it is for" },
  (value) => (isOrigin(value) ? undefined : "must be the origin of a page, such as https://node.example"),
);

/** The body of a request that creates a session. `ttl_secs` is bounded by the service. */
export const CreateSessionRequest = Type.Object(
  {
    public_key: PublicKey,
    access: Access,
    ttl_secs: Type.Optional(
      checked<number>(
        { type: "integer", minimum: 1, description: "At most `auth.session_ttl_secs`, which is the default" },
        (value) =>
          Number.isSafeInteger(value) && Number(value) > 0 ? undefined : "must be a whole number of seconds",
      ),
    ),
    label: Text({ min: 1, max: 64, description: "By which its owner knows it" }),
    origin: Origin,
  },
  { $id: "CreateSessionRequest" },
);

function isOrigin(value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_ORIGIN_CHARS) return false;
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === value;
}
