import { sign } from "node:crypto";
import type { Envelope } from "../auth/jfs.ts";
import type { Ed25519Key } from "../protocol/build-message.ts";

/** A client's statement about a user, signed with the user's key that the client holds. */
export function sealEnvelope(fid: number, key: Ed25519Key, payload: object): Envelope {
  const header = encode({ fid, type: "app_key", key: `0x${key.publicKey.toHex()}` });
  const body = encode(payload);
  const signature = sign(null, Buffer.from(`${header}.${body}`), key.privateKey);
  return { header, payload: body, signature: signature.toString("base64url") };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}
