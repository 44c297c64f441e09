import { keccak_256 } from "@noble/hashes/sha3.js";
import type { StaleReason } from "../auth/owners/custody.ts";
import { UnconfirmedError } from "../auth/owners/owners.ts";
import { parseSignIn, type SignInMessage } from "../auth/siwe.ts";
import { type Err, err, ok, type Result } from "../lib/result.ts";
import { recoverAddress } from "../protocol/validate/eth.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ContractSignatures } from "./contract-signature.ts";
import { normalizeDomain } from "./domain.ts";
import type { NoncePurpose } from "./nonce-store.ts";
import type { SignInNonces } from "./nonces.ts";
import type { People } from "./people.ts";
import type { AuthMethod } from "./tokens/token.ts";

export type SignInReason =
  | "invalid_nonce"
  | "expired"
  | "not_yet_valid"
  | "domain_mismatch"
  | "invalid_statement"
  | "wrong_chain"
  | "no_fid"
  | "several_fids"
  | "invalid_signature"
  | "not_authorized"
  | "contract_wallet"
  | "unknown_fid"
  | "malformed";

/** Reason why a sign-in is refused, as text for its sender. */
export interface SignInRefusal {
  readonly reason: SignInReason;
  readonly message: string;
  /** Set if the refusal does not depend on the message, so that the user may retry. `limited`: the client has used up its share. */
  readonly cause?: "unavailable" | "limited";
}

/** A verified sign-in. */
export interface SignedIn {
  readonly fid: number;
  readonly message: SignInMessage;
  readonly authMethod: AuthMethod;
}

/** Requirements on a sign-in message beyond EIP-4361. */
export interface SignInExpectation {
  readonly text: string;
  readonly signature: Uint8Array;
  /** Domain of the request. The message must name it. */
  readonly domain: string;
  readonly acceptsAuthAddress: boolean;
  /** The client whose share of contract wallet checks is used. */
  readonly client: string;
  /**
   * Channel that the message is for. The message must have the channel's nonce and URI. The nonce is not spent here, because a channel
   * can end only once.
   */
  readonly channel?: { readonly nonce: string; readonly siweUri: string };
}

/** Verification for all ways of signing in. */
export type SignInVerifier = ReturnType<typeof createSignInVerifier>;

export interface SignInVerifierDeps {
  readonly nonces: SignInNonces;
  readonly people: People;
  /** Clock of the state. */
  readonly clock: Clock;
  /** Undefined without an RPC for Optimism. */
  readonly contracts: ContractSignatures | undefined;
  readonly staleReason: StaleReason;
}

const OPTIMISM = 10;
const STATEMENTS = new Set(["Farcaster Auth", "Farcaster Connect"]);
const FID = /^farcaster:\/\/fid\/([1-9]\d{0,15})\/?$/;
const FID_RESOURCE = /^farcaster:\/\/fid\//;
const MAX_AGE_SECS = 600;
/** How far a client's clock may be ahead of this machine's. */
const SKEW_SECS = 60;
const ECDSA_BYTES = 65;
const RECOVERY_BYTES: readonly (number | undefined)[] = [0, 1, 27, 28];
/** Suffix of an ERC-8010 signature, which contains an authorization that the chain has not seen yet. */
const ERC_8010 = Buffer.from("8010".repeat(16), "hex");

/**
 * Creates the single verifier of sign-in messages. The checks run in the order of the specification, and the first failure is the reason.
 * The nonce is spent before domain, times and signature are checked, whatever the result, so each message can be used only once.
 */
export function createSignInVerifier(deps: SignInVerifierDeps) {
  const { nonces, people, clock, contracts, staleReason } = deps;

  /** Checks the nonce, domain and times. */
  async function checkUse(
    message: SignInMessage,
    purpose: NoncePurpose,
    { domain, channel }: Pick<SignInExpectation, "domain" | "channel">,
  ): Promise<Err<SignInRefusal> | undefined> {
    if (channel && message.nonce !== channel.nonce)
      return refuse("invalid_nonce", "nonce of the message is not that of the channel");
    if (!channel && !(await nonces.spend(purpose, message.nonce)))
      return refuse("invalid_nonce", "nonce is unknown, used or expired");
    if (channel && message.uri !== channel.siweUri)
      return refuse("domain_mismatch", "URI of the message is not that of the channel");
    const named = normalizeDomain(message.domain);
    if (named === undefined || named !== normalizeDomain(domain))
      return refuse("domain_mismatch", "domain of the message is not that of the request");
    const now = nowSecs(clock);
    const { issuedAt, expiresAt, notBefore } = message;
    if (issuedAt > now + SKEW_SECS) return refuse("not_yet_valid", "message was issued in the future");
    if (notBefore !== undefined && notBefore > now)
      return refuse("not_yet_valid", "message is not valid yet");
    if (issuedAt < now - MAX_AGE_SECS) return refuse("expired", "message is older than 10 minutes");
    if (expiresAt !== undefined && expiresAt <= now) return refuse("expired", "message has expired");
    return undefined;
  }

  /** @param mayAsk whether the address may sign in, so that its contract may be called. */
  async function checkSignature(
    { text, signature, client }: Pick<SignInExpectation, "text" | "signature" | "client">,
    address: Uint8Array,
    mayAsk: () => boolean,
  ): Promise<Err<SignInRefusal> | undefined> {
    const digest = hashSignedText(text);
    const isEcdsa = signature.length === ECDSA_BYTES && RECOVERY_BYTES.includes(signature[ECDSA_BYTES - 1]);
    const signer = isEcdsa ? recoverAddress(digest, signature) : undefined;
    if (signer && Buffer.compare(signer, address) === 0) return undefined;
    if (isErc8010(signature))
      return refuse("contract_wallet", "signatures of ERC-8010 are not supported: delegate on chain first");
    if (!contracts)
      return isEcdsa
        ? refuse(
            "invalid_signature",
            "signature is not of the address; this node cannot ask contract wallets",
          )
        : refuse("contract_wallet", "this node cannot ask contract wallets: chain.op_rpc_url is not set");
    if (!mayAsk())
      return isEcdsa
        ? refuse("invalid_signature", "signature is not of the address")
        : refuse("not_authorized", "address is neither custody nor auth address of the fid");
    switch (await contracts.check({ address, digest, signature, client })) {
      case "valid":
        return undefined;
      case "invalid":
        return refuse("invalid_signature", "signature is not of the address, nor accepted by its contract");
      case "limited":
        return refuse("contract_wallet", "too many checks of contract wallets; try again", "limited");
      default:
        return refuse(
          "contract_wallet",
          "the contract of the wallet could not be asked; try again",
          "unavailable",
        );
    }
  }

  /** If the index lags, its custody addresses and keys may be outdated. */
  async function checkFreshness(): Promise<Err<SignInRefusal> | undefined> {
    const stale = await staleReason();
    return stale === undefined
      ? undefined
      : refuse("unknown_fid", `sign-in has to wait: ${stale}`, "unavailable");
  }

  return {
    /** Verifies a Sign In With Farcaster message and spends its nonce. */
    async verify(expected: SignInExpectation): Promise<Result<SignedIn, SignInRefusal>> {
      const message = parseSignIn(expected.text);
      if (!message) return refuse("malformed", "message is not an EIP-4361 sign-in message");
      const fid = fidOf(message);
      if (!fid.ok) return fid;
      const stale = await checkFreshness();
      if (stale) return stale;
      const unusable = await checkUse(message, "sign-in", expected);
      if (unusable) return unusable;
      const claim = [fid.value, message.address, expected.acceptsAuthAddress] as const;
      const unsigned = await checkSignature(expected, message.address, () => people.mayBe(...claim));
      if (unsigned) return unsigned;
      if (!people.isFollowed(fid.value))
        return refuse(
          "unknown_fid",
          "this node does not follow the fid: see upstream.fids and upstream.fid_file",
        );
      if (!people.custodyOf(fid.value)) return refuse("unknown_fid", "fid is not registered");
      try {
        const authMethod = await people.methodOf(...claim);
        return authMethod === undefined
          ? refuse("not_authorized", "address is neither custody nor auth address of the fid")
          : ok({ fid: fid.value, message, authMethod });
      } catch (cause) {
        if (!(cause instanceof UnconfirmedError)) throw cause;
        return refuse("unknown_fid", `sign-in has to wait: ${cause.message}`, "unavailable");
      }
    },

    /** Verifies a message that names no fid: the address must have signed it for a URI of its domain. Spends its nonce. */
    async verifyAddress(
      request: Pick<SignInExpectation, "text" | "signature" | "client">,
    ): Promise<Result<SignInMessage, SignInRefusal>> {
      const message = parseSignIn(request.text);
      if (!message) return refuse("malformed", "message is not an EIP-4361 sign-in message");
      const stale = await checkFreshness();
      if (stale) return stale;
      const unusable = await checkUse(message, "login", { domain: URL.parse(message.uri)?.host ?? "" });
      if (unusable) return unusable;
      const { address } = message;
      return (await checkSignature(request, address, () => people.isKnown(address))) ?? ok(message);
    },
  };
}

/** Returns the fid of a Sign In With Farcaster message, or a refusal if its chain or statement is wrong. */
function fidOf({ chainId, statement, resources }: SignInMessage): Result<number, SignInRefusal> {
  if (chainId !== OPTIMISM) return refuse("wrong_chain", `chain id must be ${OPTIMISM}`);
  if (statement === undefined || !STATEMENTS.has(statement))
    return refuse("invalid_statement", `statement must be ${[...STATEMENTS].join(" or ")}`);
  const named = resources.filter((resource) => FID_RESOURCE.test(resource));
  if (named.length > 1) return refuse("several_fids", "message names several fids");
  const fid = Number(FID.exec(named[0] ?? "")?.[1]);
  return Number.isSafeInteger(fid)
    ? ok(fid)
    : refuse("no_fid", "message names no fid: farcaster://fid/<fid>");
}

/** Returns the digest that wallets sign (EIP-191). */
export function hashSignedText(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]));
}

function isErc8010(signature: Uint8Array): boolean {
  return (
    signature.length > ERC_8010.length && Buffer.compare(signature.subarray(-ERC_8010.length), ERC_8010) === 0
  );
}

function refuse(reason: SignInReason, message: string, cause?: SignInRefusal["cause"]): Err<SignInRefusal> {
  return err({ reason, message, ...(cause === undefined ? {} : { cause }) });
}
