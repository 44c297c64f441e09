import { keccak_256 } from "@noble/hashes/sha3.js";
import { parseStrictJsonBytes } from "../../lib/json.ts";
import { verifyEd25519 } from "../../protocol/validate/ed25519.ts";
import { recoverAddress } from "../../protocol/validate/eth.ts";
import type { ContractSignatures } from "../contract-signature.ts";
import type { People } from "../people.ts";

/** Kinds of keys that a JSON Farcaster Signature may name. */
export const ENVELOPE_TYPES = ["custody", "auth", "app_key"] as const;
export type EnvelopeType = (typeof ENVELOPE_TYPES)[number];

/** How the key of an envelope is bound to its fid. */
export type KeyBinding = "custody" | "auth_address" | "app_key" | "verification";

/** Encoding of a signature: `raw` bytes, or `legacy` base64 of their hex text. */
export type SignatureEncoding = "raw" | "legacy";

export type EnvelopePart = "header" | "payload" | "signature" | "key" | "domain";

/** An invalid part of an envelope, and the reason. */
export interface EnvelopeFault {
  readonly part: EnvelopePart;
  readonly message: string;
}

/** A JSON Farcaster Signature as received: three texts in base64url or base64, padded or not. */
export interface SentEnvelope {
  readonly header: string;
  readonly payload: string;
  readonly signature: string;
}

/** Result of checking an envelope, part by part. A value that an invalid part hides is null. */
export interface EnvelopeVerdict {
  readonly fid: number | null;
  readonly type: EnvelopeType | null;
  /** As spelled in the header. */
  readonly key: string | null;
  readonly signatureValid: boolean;
  readonly encoding: SignatureEncoding | null;
  readonly keyBoundBy: KeyBinding | null;
  /** Domain in the payload. */
  readonly domain: string | null;
  /** Null if no domain was expected. */
  readonly domainMatches: boolean | null;
  /** Whether every part is valid. */
  readonly valid: boolean;
  readonly faults: readonly EnvelopeFault[];
}

export interface EnvelopeExpectation {
  /** Domain that the payload must name. Undefined for any domain. */
  readonly domain: string | undefined;
  readonly types: readonly EnvelopeType[];
  /** Whether an address that the fid has verified is accepted as its key. */
  readonly acceptsVerification: boolean;
  /** The client whose share of contract wallet checks is used. */
  readonly client: string;
}

/** Checks envelopes with any of the three kinds of keys. */
export interface EnvelopeChecker {
  /** @throws UnconfirmedError while a second node has not confirmed the owner of the address. */
  check(envelope: SentEnvelope, expected: EnvelopeExpectation): Promise<EnvelopeVerdict>;
}

export interface EnvelopeCheckerDeps {
  readonly people: Pick<People, "mayBe" | "methodOf">;
  /** Reports whether 32 bytes are an active Ed25519 key of an fid. */
  readonly isActiveKey: (fid: number, key: Uint8Array) => boolean;
  /** Reports whether a current verification of an fid names an Ethereum address. */
  readonly hasVerified: (fid: number, address: Uint8Array) => boolean;
  /** Undefined without an RPC for Optimism. */
  readonly contracts: ContractSignatures | undefined;
}

interface Header {
  readonly fid: number;
  readonly type: EnvelopeType;
  readonly key: string;
  /** 20 bytes for an address, 32 for an Ed25519 key. */
  readonly bytes: Uint8Array;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const ED25519_KEY = /^0x[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const HEX_TEXT = /^0x(?:[0-9a-fA-F]{2})+$/;
const ED25519_BYTES = 64;
const ECDSA_BYTES = 65;
/** Larger than any signature of a contract wallet. */
const MAX_SIGNATURE_BYTES = 8192;

export function createEnvelopeChecker(deps: EnvelopeCheckerDeps): EnvelopeChecker {
  const { people, isActiveKey, hasVerified, contracts } = deps;

  /**
   * Returns how a key is bound to the fid. Custody and auth addresses are accepted for both kinds of wallets, whichever the header names.
   */
  async function bindingOf({ fid, type, bytes }: Header): Promise<KeyBinding | null> {
    if (type === "app_key") return isActiveKey(fid, bytes) ? "app_key" : null;
    const claim = [fid, bytes, type === "auth"] as const;
    const method = people.mayBe(...claim) ? await people.methodOf(...claim) : undefined;
    if (method !== undefined) return method === "custody" ? "custody" : "auth_address";
    return type === "auth" && hasVerified(fid, bytes) ? "verification" : null;
  }

  /** Returns why a signature is invalid; undefined if it is valid. */
  async function faultOf(
    { type, bytes }: Header,
    signed: Uint8Array,
    signature: Uint8Array,
    options: { readonly mayAsk: boolean; readonly client: string },
  ): Promise<string | undefined> {
    if (type === "app_key") {
      if (signature.length !== ED25519_BYTES) return `must be ${ED25519_BYTES} bytes for an app_key`;
      return verifyEd25519(bytes, signed, signature) ? undefined : "is not of the key in the header";
    }
    const digest = hashOf(signed);
    const signer = signature.length === ECDSA_BYTES ? recoverAddress(digest, signature) : undefined;
    if (signer && Buffer.compare(signer, bytes) === 0) return undefined;
    if (!options.mayAsk) return "is not of the address in the header";
    if (!contracts)
      return "is not of the address in the header; a contract wallet could be asked with chain.op_rpc_url";
    switch (await contracts.check({ address: bytes, digest, signature, client: options.client })) {
      case "valid":
        return undefined;
      case "invalid":
        return "is not of the address in the header, nor accepted by its contract";
      default:
        return "may be of a contract wallet, which could not be asked; try again";
    }
  }

  return {
    async check(envelope, { domain: expected, types, acceptsVerification, client }) {
      const faults: EnvelopeFault[] = [];
      const fault = (part: EnvelopePart, message: string) => faults.push({ part, message });

      const header = readHeader(envelope.header);
      if (typeof header === "string") fault("header", header);
      else if (!types.includes(header.type))
        fault("header", `type ${header.type} does not count here: it must be ${types.join(" or ")}`);
      const keyBoundBy = typeof header === "string" ? null : await bindingOf(header);

      const payload = decodeBase64(envelope.payload);
      if (!payload) fault("payload", "must be base64url");
      const domain = payload ? domainIn(payload) : null;
      const domainMatches = expected === undefined ? null : domain === expected;
      if (domainMatches === false)
        fault(
          "domain",
          domain === null ? "the payload names no domain" : wrongDomain(domain, String(expected)),
        );

      const signature = readSignature(envelope.signature);
      let signatureValid = false;
      if (!signature) fault("signature", "must be base64url");
      else if (typeof header !== "string" && payload) {
        const mayAsk = keyBoundBy === "custody" || keyBoundBy === "auth_address";
        const signed = Buffer.from(`${envelope.header}.${envelope.payload}`, "latin1");
        const why = await faultOf(header, signed, signature.bytes, { mayAsk, client });
        signatureValid = why === undefined;
        if (why !== undefined) fault("signature", why);
      }

      const isBound = keyBoundBy !== null && (keyBoundBy !== "verification" || acceptsVerification);
      if (!isBound && typeof header !== "string") fault("key", unboundText(header, keyBoundBy));
      return {
        fid: typeof header === "string" ? null : header.fid,
        type: typeof header === "string" ? null : header.type,
        key: typeof header === "string" ? null : header.key,
        signatureValid,
        encoding: signature?.encoding ?? null,
        keyBoundBy,
        domain,
        domainMatches,
        valid: faults.length === 0,
        faults,
      };
    },
  };
}

/** Returns the EIP-191 digest. */
function hashOf(signed: Uint8Array): Uint8Array {
  const head = Buffer.from(`\x19Ethereum Signed Message:\n${signed.length}`);
  return keccak_256(Buffer.concat([head, signed]));
}

/** Parses a header. Returns an error text if it is invalid. */
function readHeader(text: string): Header | string {
  const bytes = decodeBase64(text);
  if (!bytes) return "must be base64url";
  const value = parseStrictJsonBytes(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be a JSON object";
  const { fid, type, key } = value as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(fid) || Number(fid) < 1) return "fid must be a positive integer";
  const known = ENVELOPE_TYPES.find((one) => one === type);
  if (!known) return `type must be ${ENVELOPE_TYPES.join(", ")}`;
  const pattern = known === "app_key" ? ED25519_KEY : ADDRESS;
  if (typeof key !== "string" || !pattern.test(key))
    return `key must be 0x and ${known === "app_key" ? 64 : 40} hex digits`;
  return { fid: Number(fid), type: known, key, bytes: Uint8Array.from(Buffer.from(key.slice(2), "hex")) };
}

/** Returns the bytes of a signature; undefined if the text is not base64. */
function readSignature(
  text: string,
): { readonly bytes: Uint8Array; readonly encoding: SignatureEncoding } | undefined {
  const bytes = decodeBase64(text);
  if (!bytes || bytes.length > 2 + 2 * MAX_SIGNATURE_BYTES) return undefined;
  const hex = bytes.length > ECDSA_BYTES ? Buffer.from(bytes).toString("latin1") : "";
  if (HEX_TEXT.test(hex)) return { bytes: Buffer.from(hex.slice(2), "hex"), encoding: "legacy" };
  return { bytes, encoding: "raw" };
}

/** Decodes base64url or base64, padded or not. Undefined for any other text and for an empty one. */
function decodeBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text) || text.replace(/=+$/, "").length % 4 === 1) return undefined;
  return Uint8Array.from(Buffer.from(text.replaceAll("-", "+").replaceAll("_", "/"), "base64"));
}

function domainIn(payload: Uint8Array): string | null {
  const value = parseStrictJsonBytes(payload);
  if (typeof value !== "object" || value === null) return null;
  const { domain } = value as Readonly<Record<string, unknown>>;
  return typeof domain === "string" ? domain : null;
}

/** Explains why a domain does not match, with hints for common mistakes. */
function wrongDomain(found: string, expected: string): string {
  if (/^[a-z]+:\/\//i.test(found))
    return "the payload has a URL: it must be the host alone, without https://";
  if (found.includes("/")) return "the payload has a path: it must be the host alone";
  if (found.includes(":")) return "the payload has a port: it must be the host alone";
  if (found === `www.${expected}` || expected === `www.${found}`)
    return "the payload names the domain with or without www., which is another host";
  return "the payload names another domain";
}

function unboundText({ fid, type }: Header, binding: KeyBinding | null): string {
  if (binding === "verification")
    return `the address is one that fid ${fid} has verified, but neither its custody nor an auth address`;
  if (type === "app_key") return `the key is not an active key of fid ${fid}`;
  return type === "custody"
    ? `the address is not the custody address of fid ${fid}: after a transfer the domain has to be signed again`
    : `the address is neither an auth address nor the custody address of fid ${fid}`;
}
