import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { parseStrictJsonBytes } from "../../lib/json.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { KeyRing } from "./key-ring.ts";
import type { PublicJwk, SignInKey, TokenAlgorithm } from "./key-store.ts";

/** Kind of the fid's address that signed in. */
export type AuthMethod = "custody" | "authAddress";

/** Claims of a token. Times are unix seconds. */
export interface TokenClaims {
  readonly iss: string;
  /** The fid, as a number, as in tokens of the official server. */
  readonly sub: number;
  /** Domain of the app. */
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly auth_method: AuthMethod;
  /** 16 random bytes in base64url. */
  readonly jti: string;
}

export type TokenRefusalReason =
  | "expired"
  | "invalid_signature"
  | "audience"
  | "issuer"
  | "unknown_key"
  | "malformed";

/** Reason why a token is refused, as text for its sender. */
export interface TokenRefusal {
  readonly reason: TokenRefusalReason;
  readonly message: string;
}

/** Requirements of a verifier on a token. */
export interface TokenExpectation {
  readonly issuer: string;
  readonly domain: string;
  readonly nowSecs: number;
}

const MAX_TOKEN_CHARS = 4096;
const PART = /^[A-Za-z0-9_-]+$/;
/** Maximum number of remembered tokens with a valid signature, newest kept. Each takes about 400 bytes. */
const MAX_MEMOS = 10_000;

/** Options of the crypto library for each token algorithm. */
export const SIGNING: Readonly<Record<TokenAlgorithm, { readonly dsaEncoding?: "ieee-p1363" }>> = {
  RS256: {},
  ES256: { dsaEncoding: "ieee-p1363" },
};

interface Memo {
  readonly kid: string;
  readonly claims: TokenClaims;
}

/**
 * Creates the token verifier. A valid signature is remembered by the hash of the token; the key, times, issuer and audience are checked
 * on each use. Only the algorithm of the key that `kid` names is accepted, and no other header member is read.
 */
export function createTokenVerifier() {
  const memos = new Map<string, Memo>();
  const keys = new Map<string, { readonly jwk: string; readonly key: KeyObject }>();

  /** Returns the parsed key of a JWK. The cache stays small because the list has only a few keys. */
  function publicKeyOf(kid: string, publicJwk: PublicJwk): KeyObject {
    const jwk = JSON.stringify(publicJwk);
    const known = keys.get(kid);
    if (known?.jwk === jwk) return known.key;
    if (keys.size > 16) keys.clear();
    const key = createPublicKey({ key: publicJwk, format: "jwk" });
    keys.set(kid, { jwk, key });
    return key;
  }

  function remember(hash: string, memo: Memo): void {
    const [oldest] = memos.keys();
    if (memos.size >= MAX_MEMOS && oldest !== undefined) memos.delete(oldest);
    memos.set(hash, memo);
  }

  return {
    /**
     * Returns the claims of a token that was verified before. Undefined for any other token, and for one that `verify` would refuse now.
     */
    recall(token: string, expected: TokenExpectation, ring: KeyRing): TokenClaims | undefined {
      const known = token.length > MAX_TOKEN_CHARS ? undefined : memos.get(hashOf(token));
      if (!known || !findKey(ring, known.kid)) return undefined;
      return checkClaims(known.claims, expected).ok ? known.claims : undefined;
    },

    /** @param ringOf returns the current key ring. Called with the id of a key that the previous ring did not contain. */
    async verify(
      token: string,
      expected: TokenExpectation,
      ringOf: (missingKid?: string) => Promise<KeyRing>,
    ): Promise<Result<TokenClaims, TokenRefusal>> {
      if (token.length > MAX_TOKEN_CHARS) return refuse("malformed", "token is too long");
      const hash = hashOf(token);
      const known = memos.get(hash);
      const opened = known ?? openToken(token);
      if (!opened) return refuse("malformed", "token is not a JWT of this server");
      const { kid } = opened;
      const key = findKey(await ringOf(), kid) ?? findKey(await ringOf(kid), kid);
      if (!key) return refuse("unknown_key", "token names a key that this server does not list");
      if (!known) {
        const { algorithm, signed, signature, claims } = opened as OpenedToken;
        if (algorithm !== key.algorithm)
          return refuse("invalid_signature", "token has another algorithm than its key");
        const publicKey = publicKeyOf(kid, key.publicJwk);
        const options = { key: publicKey, ...SIGNING[key.algorithm] };
        if (!verify("sha256", signed, options, signature))
          return refuse("invalid_signature", "signature of the token is not valid");
        remember(hash, { kid, claims });
      }
      return checkClaims(opened.claims, expected);
    },
  };
}

function hashOf(token: string): string {
  return Bun.CryptoHasher.hash("sha256", token, "base64");
}

function findKey({ listed }: KeyRing, kid: string): SignInKey | undefined {
  return listed.find((key) => key.kid === kid);
}

function checkClaims(
  claims: TokenClaims,
  { issuer, domain, nowSecs }: TokenExpectation,
): Result<TokenClaims, TokenRefusal> {
  if (claims.iss !== issuer) return refuse("issuer", "token is of another issuer");
  if (claims.aud !== domain) return refuse("audience", "token is for another domain");
  if (claims.exp <= nowSecs) return refuse("expired", "token has expired");
  return ok(claims);
}

interface OpenedToken extends Memo {
  readonly algorithm: string;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

function openToken(token: string): OpenedToken | undefined {
  const parts = token.split(".");
  const [header = "", payload = "", signature = ""] = parts;
  if (parts.length !== 3 || !parts.every((part) => PART.test(part))) return undefined;
  const head = objectOf(header);
  const claims = objectOf(payload);
  if (!head || !isClaims(claims)) return undefined;
  const { alg, kid } = head;
  if (typeof alg !== "string" || typeof kid !== "string") return undefined;
  return {
    kid,
    algorithm: alg,
    claims,
    signed: Buffer.from(`${header}.${payload}`, "latin1"),
    signature: Buffer.from(signature, "base64url"),
  };
}

function objectOf(part: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseStrictJsonBytes(Buffer.from(part, "base64url"));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function isClaims(value: object | undefined): value is TokenClaims {
  if (!value) return false;
  const { iss, sub, aud, iat, exp } = value as Readonly<Record<string, unknown>>;
  return (
    typeof iss === "string" &&
    typeof aud === "string" &&
    [sub, iat, exp].every((number) => Number.isSafeInteger(number))
  );
}

function refuse(reason: TokenRefusalReason, message: string) {
  return err<TokenRefusal>({ reason, message });
}
