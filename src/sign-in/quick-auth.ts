import { isDeepStrictEqual } from "node:util";
import type { RpcClient } from "../lib/port-rpc.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { isListed, normalizeDomain } from "./domain.ts";
import type { SignInNonces } from "./nonces.ts";
import type { CountSignIn } from "./sign-in-metrics.ts";
import { type KeyRing, keyRingAt } from "./tokens/key-ring.ts";
import type { PublicJwk, SignInKey, SignInKeyStore } from "./tokens/key-store.ts";
import { type AuthMethod, createTokenVerifier, type TokenClaims, type TokenRefusal } from "./tokens/token.ts";
import type { TokenSignerRpc } from "./tokens/token-signer.ts";
import type { SignInExpectation, SignInRefusal, SignInVerifier } from "./verify-message.ts";

/** Reasons why tokens are unavailable, as text for clients. */
export const NO_TOKEN_KEY = "Quick Auth needs signers.encryption_key";
export const NO_ISSUER = "Quick Auth needs service.public_url";

/** Result of a sign-in that was granted a token. */
export interface TokenGrant {
  readonly token: string;
  readonly fid: number;
}

/** Quick Auth: signs users in, and issues tokens that identify them to apps. */
export interface QuickAuth {
  /** Returns the URL of this server, which its tokens name as issuer. Undefined if it is unknown. */
  readonly issuer: () => string | undefined;
  /** Whether this node has a master key. */
  readonly canSign: boolean;
  issueNonce(): Promise<string>;
  /** Verifies a message and signs a token. `locked`: this node does not have the key to do so. */
  signIn(
    issuer: string,
    request: SignInExpectation,
  ): Promise<Result<TokenGrant, SignInRefusal | { readonly reason: "locked" }>>;
  /** Signs a token for a user whose message was verified. Undefined if the domain may not get tokens. */
  tokenFor(signedIn: {
    readonly fid: number;
    readonly authMethod: AuthMethod;
    readonly domain: string;
  }): Promise<string | undefined>;
  verifyToken(
    issuer: string,
    request: { readonly token: string; readonly domain: string },
  ): Promise<Result<TokenClaims, TokenRefusal>>;
  /** Returns the public keys that clients receive. */
  publicKeys(): Promise<readonly PublicJwk[]>;
  /**
   * Synchronous variants that neither access the state nor verify a signature. They return undefined if they would have to; then call the
   * method of the same purpose.
   */
  readonly ready: {
    /**
     * Returns the claims of a token that this thread has verified before.
     *
     * @param request with the domain as the token spells it.
     */
    claims(request: { readonly token: string; readonly domain: string }): TokenClaims | undefined;
    /** Returns the identical list until the keys change. */
    publicKeys(): readonly PublicJwk[] | undefined;
  };
}

export interface QuickAuthDeps {
  readonly nonces: SignInNonces;
  readonly verifier: SignInVerifier;
  readonly keys: Pick<SignInKeyStore, "list">;
  /** Signs tokens. Undefined without a master key. */
  readonly signer: Pick<RpcClient<TokenSignerRpc>, "signToken"> | undefined;
  readonly linkBase: () => string | undefined;
  /** Returns a number that changes when any node replaces the keys. */
  readonly keyEpoch: () => number;
  /** Clock of the state. */
  readonly clock: Clock;
  readonly settings: { readonly tokenTtlSecs: number; readonly domains: readonly string[] };
  readonly count: CountSignIn;
  readonly monotonicMs?: () => number;
}

/** The key ring at one second. */
interface Ring extends KeyRing {
  readonly keys: readonly SignInKey[];
  readonly atSecs: number;
  readonly publicKeys: readonly PublicJwk[];
}

/** How long a thread caches the list of keys. A new key is listed for 20 minutes before it signs. */
const LIST_AGE_MS = 10_000;
/**
 * How often an unknown key id may make a thread read the list again. An empty list is always read again, because the first key signs as
 * soon as it exists.
 */
const RELIST_MS = 1000;

export function createQuickAuth(deps: QuickAuthDeps): QuickAuth {
  const { nonces, verifier, keys, signer, linkBase, keyEpoch, clock, settings, count } = deps;
  const { monotonicMs = () => performance.now() } = deps;
  const tokens = createTokenVerifier();
  let listed:
    | { readonly all: readonly SignInKey[]; readonly epoch: number; readonly readAtMs: number }
    | undefined;
  let known: Ring | undefined;

  /** @param maxAgeMs maximum age of the list, in milliseconds. */
  const isFresh = (maxAgeMs: number) =>
    listed?.epoch === keyEpoch() && monotonicMs() - listed.readAtMs < maxAgeMs;

  /** Returns the current key ring of a list, computed at most once a second. */
  function ringOf(all: readonly SignInKey[]): Ring {
    const atSecs = nowSecs(clock);
    if (known?.keys === all && known.atSecs === atSecs) return known;
    const ring = keyRingAt(all, atSecs, settings.tokenTtlSecs);
    const publicKeys = ring.listed.map(({ publicJwk }) => publicJwk);
    known = {
      ...ring,
      keys: all,
      atSecs,
      publicKeys: known && isDeepStrictEqual(known.publicKeys, publicKeys) ? known.publicKeys : publicKeys,
    };
    return known;
  }

  /**
   * Returns the current key ring.
   *
   * @param missingKid id of a key that the previous list did not contain.
   */
  async function ring(missingKid?: string): Promise<Ring> {
    const epoch = keyEpoch();
    const relistMs = listed?.all.length === 0 ? 0 : RELIST_MS;
    if (!listed || !isFresh(missingKid === undefined ? LIST_AGE_MS : relistMs))
      listed = { epoch, readAtMs: monotonicMs(), all: await keys.list() };
    return ringOf(listed.all);
  }

  /** Returns the current key ring, or undefined if the list has to be read first. */
  const readyRing = () => (signer && listed && isFresh(LIST_AGE_MS) ? ringOf(listed.all) : undefined);

  function issuerUrl() {
    const base = linkBase();
    return base === undefined ? undefined : `${base}/quick-auth`;
  }
  const sign = async (issuer: string, { fid, authMethod, domain }: Parameters<QuickAuth["tokenFor"]>[0]) => {
    const token = await signer?.signToken({ iss: issuer, sub: fid, aud: domain, auth_method: authMethod });
    return token?.ok ? token.value : undefined;
  };

  return {
    issuer: issuerUrl,
    canSign: signer !== undefined,
    issueNonce: () => nonces.issue("sign-in"),

    async signIn(issuer, request) {
      const domain = normalizeDomain(request.domain);
      if (domain === undefined || !isListed(domain, settings.domains)) {
        count("quick_auth", "refused", "domain_mismatch");
        return err({ reason: "domain_mismatch", message: "domain is not one that this server signs in to" });
      }
      const signedIn = await verifier.verify(request);
      if (!signedIn.ok) {
        count("quick_auth", "refused", signedIn.error.reason);
        return signedIn;
      }
      const { fid, authMethod } = signedIn.value;
      const token = await sign(issuer, { fid, authMethod, domain });
      if (token === undefined) return err({ reason: "locked" });
      count("quick_auth", "ok", "");
      return ok({ token, fid });
    },

    async tokenFor(signedIn) {
      const issuer = issuerUrl();
      const domain = normalizeDomain(signedIn.domain);
      if (issuer === undefined || domain === undefined || !isListed(domain, settings.domains))
        return undefined;
      return sign(issuer, { ...signedIn, domain });
    },

    verifyToken: (issuer, { token, domain }) =>
      tokens.verify(
        token,
        { issuer, domain: normalizeDomain(domain) ?? domain, nowSecs: nowSecs(clock) },
        ring,
      ),

    publicKeys: async () => (await ring()).publicKeys,

    ready: {
      claims({ token, domain }) {
        const issuer = issuerUrl();
        const now = issuer === undefined ? undefined : readyRing();
        return issuer === undefined || now === undefined
          ? undefined
          : tokens.recall(token, { issuer, domain, nowSecs: now.atSecs }, now);
      },
      publicKeys: () => (issuerUrl() === undefined ? undefined : readyRing()?.publicKeys),
    },
  };
}
