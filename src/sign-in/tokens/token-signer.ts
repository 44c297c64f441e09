import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes, sign } from "node:crypto";
import { promisify } from "node:util";
import { BY_NODE, type OperatorOrigin } from "../../audit/operator-entry.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { Sealer } from "../../vault/sealer.ts";
import { isRotationDue, keyRingAt, LISTED_AHEAD_SECS } from "./key-ring.ts";
import type { PublicJwk, SignInKey, SignInKeyStore, TokenAlgorithm } from "./key-store.ts";
import { SIGNING, type TokenClaims } from "./token.ts";

/** Claims of a new token. The thread that signs sets the times. */
export type TokenRequest = Omit<TokenClaims, "iat" | "exp" | "jti">;

/**
 * Reason why a token is not signed. `locked`: this node does not have the master key that the current key is sealed under, or any master
 * key.
 */
export type TokenSigningRefusal = "locked";

/** Services for sign-in of the thread that owns the vault. It knows nothing about HTTP. */
export type TokenSignerRpc = ReturnType<typeof createTokenSigner>;

export interface TokenSignerDeps {
  readonly store: SignInKeyStore;
  /** Undefined without a master key. */
  readonly sealer: Sealer | undefined;
  /** Clock of the state. */
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: {
    readonly algorithm: TokenAlgorithm;
    readonly tokenTtlSecs: number;
    readonly rotationDays: number;
  };
}

const RSA_BITS = 2048;
const KID_BYTES = 12;
const JTI_BYTES = 16;
const makeKeyPair = promisify(generateKeyPair);

/** Creates the token signer. It creates the first key on demand, and the next one in time for its rotation. */
export function createTokenSigner(deps: TokenSignerDeps) {
  const { store, sealer, clock, log, settings } = deps;
  /** Parsed form of the key that signed last. Parsing a key costs more than signing. */
  let opened: { readonly kid: string; readonly key: KeyObject } | undefined;
  let making: Promise<boolean> | undefined;

  /**
   * Creates a key after the last one, once for all concurrent callers of this thread. The very first key signs at once; later ones sign
   * after they have been listed.
   */
  function make(masterSealer: Sealer, keys: readonly SignInKey[], by: OperatorOrigin): Promise<boolean> {
    making ??= (async () => {
      const key = await newKey(masterSealer, settings.algorithm);
      // Creating a key takes time, and verifiers receive it only afterwards, so the time is read again.
      const now = nowSecs(clock);
      const made = { ...key, createdAt: now, currentAt: keys.length === 0 ? now : now + LISTED_AHEAD_SECS };
      const { obsolete } = keyRingAt(keys, now, settings.tokenTtlSecs);
      const isAdded = await store.add(made, { after: keys.at(-1)?.kid ?? null, obsolete }, by);
      if (isAdded)
        log.info({ kid: made.kid, signsAt: made.currentAt }, "Created a key for Quick Auth tokens");
      return isAdded;
    })().finally(() => {
      making = undefined;
    });
    return making;
  }

  /** Returns the key that signs now. Creates missing keys. */
  async function currentKey(masterSealer: Sealer): Promise<SignInKey | undefined> {
    const now = nowSecs(clock);
    let keys = await store.list();
    if (keys.length === 0) {
      await make(masterSealer, keys, BY_NODE);
      keys = await store.list();
    }
    const ring = keyRingAt(keys, now, settings.tokenTtlSecs);
    if (isRotationDue(ring, now, settings))
      make(masterSealer, keys, BY_NODE).catch((cause) =>
        log.error({ err: cause }, "The next key for Quick Auth tokens could not be created"),
      );
    return ring.current;
  }

  function openKey(masterSealer: Sealer, { kid, sealed, keyId }: SignInKey): KeyObject {
    if (opened?.kid === kid) return opened.key;
    const pkcs8 = Buffer.from(masterSealer.open(holderOf(kid), { sealed, keyId }).buffer);
    try {
      const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
      opened = { kid, key };
      return key;
    } finally {
      pkcs8.fill(0);
    }
  }

  return {
    async signToken(request: TokenRequest): Promise<Result<string, TokenSigningRefusal>> {
      if (!sealer) return err("locked");
      const current = await currentKey(sealer);
      if (!current || !sealer.knows(current.keyId)) return err("locked");
      const iat = nowSecs(clock);
      const claims: TokenClaims = {
        ...request,
        iat,
        exp: iat + settings.tokenTtlSecs,
        jti: randomBytes(JTI_BYTES).toString("base64url"),
      };
      const header = { alg: current.algorithm, kid: current.kid, typ: "JWT" };
      const content = `${encodePart(header)}.${encodePart(claims)}`;
      const options = { key: openKey(sealer, current), ...SIGNING[current.algorithm] };
      const signature = sign("sha256", Buffer.from(content, "latin1"), options);
      return ok(`${content}.${signature.toString("base64url")}`);
    },

    /**
     * Creates the next key, which signs once verifiers have it. With `isNow`, deletes all keys and creates one that signs at once.
     * `signsAt` is in unix seconds.
     */
    async rotateTokenKey(
      isNow: boolean,
      by: OperatorOrigin,
    ): Promise<Result<{ readonly kid: string; readonly signsAt: number }, TokenSigningRefusal>> {
      if (!sealer) return err("locked");
      const now = nowSecs(clock);
      if (isNow) {
        const key = await newKey(sealer, settings.algorithm);
        await store.replace({ ...key, createdAt: now, currentAt: now }, by);
        opened = undefined;
        log.warn({ kid: key.kid }, "Replaced all keys for Quick Auth tokens");
        return ok({ kid: key.kid, signsAt: now });
      }
      const keys = await store.list();
      if (!keyRingAt(keys, now, settings.tokenTtlSecs).hasNext) await make(sealer, keys, by);
      const next = (await store.list()).at(-1);
      return next ? ok({ kid: next.kid, signsAt: next.currentAt }) : err("locked");
    },
  };
}

/** Reseals the keys that the sealer can open under its current master key. Returns the number of resealed keys. */
export async function resealTokenKeys(
  store: Pick<SignInKeyStore, "list" | "reseal">,
  sealer: Sealer,
): Promise<number> {
  let count = 0;
  for (const { kid, sealed, keyId } of await store.list()) {
    if (keyId === sealer.keyId || !sealer.knows(keyId)) continue;
    const secret = sealer.open(holderOf(kid), { sealed, keyId });
    try {
      if (await store.reseal(kid, sealed, sealer.seal(holderOf(kid), secret))) count += 1;
    } finally {
      secret.fill(0);
    }
  }
  return count;
}

async function newKey(
  sealer: Sealer,
  algorithm: TokenAlgorithm,
): Promise<Omit<SignInKey, "createdAt" | "currentAt">> {
  const { privateKey, publicKey } =
    algorithm === "RS256"
      ? await makeKeyPair("rsa", { modulusLength: RSA_BITS })
      : await makeKeyPair("ec", { namedCurve: "P-256" });
  const kid = randomBytes(KID_BYTES).toString("base64url");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
  try {
    const publicJwk = {
      ...(publicKey.export({ format: "jwk" }) as PublicJwk),
      kid,
      alg: algorithm,
      use: "sig",
    };
    return { kid, algorithm, publicJwk, ...sealer.seal(holderOf(kid), pkcs8) };
  } finally {
    pkcs8.fill(0);
  }
}

function holderOf(kid: string): Uint8Array {
  return Buffer.from(`quick auth:${kid}`);
}

function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
