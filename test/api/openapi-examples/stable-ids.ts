import { createHash } from "node:crypto";
import { standardSecret } from "../../../src/webhooks/deliver/sign.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const MESSAGE_ID = /msg_[0-9a-f]{32}/g;
const SECRET = /(?<=")[0-9a-f]{64}(?=")/g;
const APP_ID = /(?<="(?:app|api_key|session|draft|segment)_id":")[A-Za-z0-9]{16}(?=")/g;
/** Of notices. Channels of casts have no capital letter. */
const NOTICE_CHANNEL = /(?<="channel_id":")(?=[^"]*[A-Z])[1-9A-HJ-NP-Za-km-z]{12}(?=")/g;
const PUSH_KEY = /(?<="push_key":")[\w-]{87}(?=")/g;
const NEW_KEY = /(?<="(?:public_key|body_hash)":"0x)[0-9a-f]{64}(?=")/g;
const APPROVAL_TOKEN = /(?<=\/approve\/)[1-9A-HJ-NP-Za-km-z]{43,44}/g;
const SIGNATURE = /(?<="0x)[0-9a-f]{130}(?=")/g;
const LOGIN_NONCE = /(?<="nonce":"|Nonce: )[A-Za-z0-9]{32}/g;
const KEY_SECRET = /(?<=_)[1-9A-HJ-NP-Za-km-z]{44}(?=")/g;
const KEY_PREFIX = /(?<="svc_)[1-9A-HJ-NP-Za-km-z]{8}/g;

/**
 * Replaces random ids and secrets in JSON. Each is derived from its position, so that every run returns the same, and
 * equal values remain equal.
 */
export function withStableIds<T>(value: T): T {
  let text = JSON.stringify(value);
  const replaceAll = (pattern: RegExp, stable: (digest: Buffer) => string, alike = (id: string) => [id]) => {
    for (const [at, random] of [...new Set(text.match(pattern))].entries()) {
      const digest = createHash("sha256").update(`${pattern.source} ${at}`).digest();
      const replacements = alike(stable(digest));
      for (const [form, old] of alike(random).entries())
        text = text.replaceAll(old, replacements[form] ?? "");
    }
  };
  replaceAll(UUID, uuidOf);
  replaceAll(MESSAGE_ID, (digest) => `msg_${digest.toString("hex", 0, 16)}`);
  replaceAll(
    SECRET,
    (digest) => digest.toString("hex"),
    (secret) => [secret, standardSecret(secret)],
  );
  const hex = (digest: Buffer, chars: number) => digest.toString("hex").repeat(3).slice(0, chars);
  replaceAll(NEW_KEY, (digest) => hex(digest, 64));
  replaceAll(SIGNATURE, (digest) => hex(digest, 130));
  replaceAll(LOGIN_NONCE, (digest) => hex(digest, 32));
  const base58 = (digest: Buffer) => digest.toString("hex").replaceAll("0", "z");
  replaceAll(KEY_SECRET, (digest) => base58(digest).slice(0, 44));
  replaceAll(APPROVAL_TOKEN, (digest) => base58(digest).slice(0, 44));
  replaceAll(KEY_PREFIX, (digest) => base58(digest).slice(0, 8));
  // An app id is base58, which has no zero.
  replaceAll(NOTICE_CHANNEL, (digest) => `N${base58(digest).slice(0, 11)}`);
  replaceAll(PUSH_KEY, (digest) => `B${digest.toString("hex").repeat(2).slice(0, 86)}`);
  replaceAll(APP_ID, (digest) => base58(digest).slice(0, 16));
  return JSON.parse(text) as T;
}

function uuidOf(digest: Buffer): string {
  const hex = digest.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
