import { createCipheriv, createECDH, createPrivateKey, hkdfSync, randomBytes, sign } from "node:crypto";
import type { PushKeys } from "./report.ts";

/** P-256 key pair by which a push service identifies the sender (RFC 8292). */
export interface VapidKey {
  /** Uncompressed point, in base64url. */
  readonly publicKey: string;
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
}

const CURVE = "prime256v1";
export const POINT_BYTES = 65;
const SCALAR_BYTES = 32;
const SALT_BYTES = 16;
export const AUTH_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const RECORD_BYTES = 4096;
/** Marks the last record. Padding could follow it. */
const LAST_RECORD = 2;
/** Maximum plaintext size, in bytes, of one record with its delimiter and tag. Push services accept bodies of 4096 bytes. */
export const MAX_PUSH_BYTES = 3000;
/** Push services accept tokens that are valid for up to a day. */
const TOKEN_SECS = 12 * 3600;

/** Encrypts a message for one browser. Returns an `aes128gcm` body with a single record (RFC 8188, RFC 8291). */
export function encryptPush(
  message: Uint8Array,
  { p256dh, auth }: PushKeys,
  /** Random for each message; only tests pass them. */
  { salt = randomBytes(SALT_BYTES), privateKey = createVapidKey().privateKey }: Partial<Ephemeral> = {},
): Uint8Array<ArrayBuffer> {
  if (message.byteLength > MAX_PUSH_BYTES) throw new RangeError("a push message is too long");
  const receiver = Buffer.from(p256dh, "base64url");
  const sender = createECDH(CURVE);
  sender.setPrivateKey(privateKey);
  const senderPoint = sender.getPublicKey();
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), receiver, senderPoint]);
  const ikm = hkdf(sender.computeSecret(receiver), Buffer.from(auth, "base64url"), info, 32);
  const key = hkdf(ikm, salt, Buffer.from("Content-Encoding: aes128gcm\0"), KEY_BYTES);
  const nonce = hkdf(ikm, salt, Buffer.from("Content-Encoding: nonce\0"), NONCE_BYTES);
  const head = Buffer.alloc(SALT_BYTES + 5);
  head.set(salt);
  head.writeUInt32BE(RECORD_BYTES, SALT_BYTES);
  head.writeUInt8(POINT_BYTES, SALT_BYTES + 4);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const sealed = [cipher.update(message), cipher.update(Uint8Array.of(LAST_RECORD)), cipher.final()];
  return new Uint8Array(Buffer.concat([head, senderPoint, ...sealed, cipher.getAuthTag()]));
}

interface Ephemeral {
  readonly salt: Uint8Array;
  readonly privateKey: Uint8Array;
}

function hkdf(secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, info, bytes));
}

/** Reports whether the keys of a browser are usable: a point on the curve, and a secret of the right length. */
export function arePushKeys({ p256dh, auth }: PushKeys): boolean {
  const point = Buffer.from(p256dh, "base64url");
  if (point.length !== POINT_BYTES || Buffer.from(auth, "base64url").length !== AUTH_BYTES) return false;
  try {
    const probe = createECDH(CURVE);
    probe.generateKeys();
    probe.computeSecret(point);
    return true;
  } catch {
    return false;
  }
}

export function createVapidKey(): VapidKey {
  const pair = createECDH(CURVE);
  pair.generateKeys();
  // The library drops leading zero bytes of the scalar.
  const privateKey = new Uint8Array(SCALAR_BYTES);
  const scalar = pair.getPrivateKey();
  privateKey.set(scalar, SCALAR_BYTES - scalar.length);
  return { publicKey: pair.getPublicKey().toString("base64url"), privateKey };
}

/**
 * Returns the `Authorization` header of a message (RFC 8292, section 3).
 *
 * @param contact `mailto:` or `https:` URL at which the push service can reach the operator.
 */
export function vapidAuthorization(
  { publicKey, privateKey }: VapidKey,
  {
    endpoint,
    contact,
    nowSecs,
  }: { readonly endpoint: string; readonly contact: string; readonly nowSecs: number },
): string {
  const claims = { aud: new URL(endpoint).origin, exp: nowSecs + TOKEN_SECS, sub: contact };
  const content = `${encodePart({ typ: "JWT", alg: "ES256" })}.${encodePart(claims)}`;
  const point = Buffer.from(publicKey, "base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 1 + SCALAR_BYTES).toString("base64url"),
    y: point.subarray(1 + SCALAR_BYTES).toString("base64url"),
    d: Buffer.from(privateKey).toString("base64url"),
  };
  const key = createPrivateKey({ key: jwk, format: "jwk" });
  const signature = sign("sha256", Buffer.from(content), { key, dsaEncoding: "ieee-p1363" });
  return `vapid t=${content}.${signature.toString("base64url")}, k=${publicKey}`;
}

function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
