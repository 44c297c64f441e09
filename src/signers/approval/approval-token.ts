import { createHash, createHmac, randomBytes } from "node:crypto";
import { decodeBase58, encodeBase58 } from "../../lib/base58.ts";
import { deriveKey, type MasterKey } from "../../vault/master-key.ts";
import type { ApprovalRequest } from "../store/signer-store.ts";

const TOKEN_BYTES = 32;
const REQUEST_ID_BYTES = 16;

/**
 * Tokens of approval URLs. A user who has one may approve the signer. The database stores only its digest. Responses to the owner can
 * still repeat the token because it is derived from a key outside the database.
 */
export interface ApprovalTokens {
  /** Creates the parts of a request that its token is derived from. */
  create(): Pick<ApprovalRequest, "requestId" | "tokenDigest">;
  /** Returns the text of a request's token. Undefined if it was derived from a key that is no longer known. */
  textOf(request: Pick<ApprovalRequest, "requestId" | "tokenDigest">): string | undefined;
  /** Returns the tokens of a name under each key, the current key first. */
  named(name: string): readonly [NamedToken, ...NamedToken[]];
}

export interface NamedToken {
  readonly token: string;
  readonly digest: Uint8Array;
}

/** Returns the keys that tokens are derived from. Threads that do not sign receive these instead of the master keys. */
export function tokenKeysOf(keys: readonly MasterKey[]): readonly Uint8Array[] {
  return keys.map((key) => deriveKey(key, "svc approval token 1"));
}

/** @param keys keys from `tokenKeysOf`: the current one, then previous ones. */
export function createApprovalTokens(keys: readonly [Uint8Array, ...Uint8Array[]]): ApprovalTokens {
  const [current, ...former] = keys;
  return {
    named(name) {
      const under = (key: Uint8Array) => {
        const token = tokenOf(key, Buffer.from(name));
        return { token: encodeBase58(token), digest: digestOf(token) };
      };
      return [under(current), ...former.map(under)];
    },

    create() {
      const requestId = new Uint8Array(randomBytes(REQUEST_ID_BYTES));
      return { requestId, tokenDigest: digestOf(tokenOf(current, requestId)) };
    },
    textOf({ requestId, tokenDigest }) {
      const token = keys
        .map((key) => tokenOf(key, requestId))
        .find((candidate) => Buffer.compare(digestOf(candidate), tokenDigest) === 0);
      return token && encodeBase58(token);
    },
  };
}

/** Returns the digest by which a token is found; undefined if the text is not a token. */
export function tokenDigestOf(text: string): Uint8Array | undefined {
  const token = decodeBase58(text, TOKEN_BYTES);
  return token && digestOf(token);
}

function tokenOf(key: Uint8Array, requestId: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", key).update(requestId).digest());
}

function digestOf(token: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(token).digest());
}
