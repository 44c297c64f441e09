import { hashMessage } from "viem/utils";
import { err, ok, type Result } from "../lib/result.ts";
import { fromHex, parseChecksumAddress } from "../protocol/validate/eth.ts";
import { recoverSigner } from "./typed-data.ts";

/** A sign-in message of EIP-4361 ("Sign-In with Ethereum"). Times are unix seconds. */
export interface SignInMessage {
  readonly domain: string;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly uri: string;
  readonly nonce: string;
  readonly chainId: number;
  readonly issuedAt: number;
  readonly expiresAt: number | undefined;
  readonly notBefore: number | undefined;
  readonly statement: string | undefined;
  readonly resources: readonly string[];
}

const MAX_MESSAGE_CHARS = 4096;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/**
 * The grammar of EIP-4361. The statement is a line between two empty ones. Without it there are two empty lines, or one: libraries
 * differ.
 */
const MESSAGE = new RegExp(
  [
    "^(?:[a-z][a-z0-9+.-]*://)?(?<domain>[^\\s/?#@]+) wants you to sign in with your Ethereum account:\n",
    "(?<address>0x[0-9a-fA-F]{40})\n\n",
    "(?:(?<statement>[^\n]+)\n\n|\n?)",
    "URI: (?<uri>[^\\s]+)\n",
    "Version: 1\n",
    "Chain ID: (?<chainId>[1-9]\\d{0,14})\n",
    "Nonce: (?<nonce>[a-zA-Z0-9]{8,64})\n",
    "Issued At: (?<issuedAt>[^\\s]+)",
    "(?:\nExpiration Time: (?<expiresAt>[^\\s]+))?",
    "(?:\nNot Before: (?<notBefore>[^\\s]+))?",
    "(?:\nRequest ID: [^\\s]*)?",
    "(?:\nResources:(?<resources>(?:\n- [^\\s]+)*))?$",
  ].join(""),
);

/** Parses a sign-in message. Returns undefined for another text. */
export function parseSignIn(text: string): SignInMessage | undefined {
  if (text.length > MAX_MESSAGE_CHARS) return undefined;
  const fields = MESSAGE.exec(text)?.groups;
  if (!fields) return undefined;
  const { domain = "", uri = "", nonce = "", statement, resources = "" } = fields;
  const address = parseChecksumAddress(fields.address ?? "");
  const issuedAt = timeOf(fields.issuedAt);
  const expiresAt = timeOf(fields.expiresAt);
  const notBefore = timeOf(fields.notBefore);
  if (!address || issuedAt === undefined) return undefined;
  if (Number.isNaN(issuedAt) || Number.isNaN(expiresAt) || Number.isNaN(notBefore)) return undefined;
  return {
    domain,
    address,
    uri,
    nonce,
    chainId: Number(fields.chainId),
    issuedAt,
    expiresAt,
    notBefore,
    statement,
    resources: resources.split("\n- ").slice(1),
  };
}

/** A clock may be this much ahead of this machine's. */
const SKEW_SECS = 60;

/**
 * Verifies a sign-in message but for its nonce: the address signed it, its times hold, it is at most `maxAgeSecs` old, and its
 * URI is of the domain that it names. Contract wallets are not supported: an address is recovered.
 */
export function verifySignIn(
  text: string,
  signature: Uint8Array,
  { nowSecs, maxAgeSecs }: { readonly nowSecs: number; readonly maxAgeSecs: number },
): Result<SignInMessage, string> {
  const message = parseSignIn(text);
  if (!message) return err("message is no sign-in message of EIP-4361");
  const { address, domain, uri, issuedAt, expiresAt, notBefore } = message;
  if (URL.parse(uri)?.host !== domain) return err("URI is not of the domain of the message");
  if (issuedAt > nowSecs + SKEW_SECS) return err("message was issued in the future");
  if (issuedAt < nowSecs - maxAgeSecs) return err("message is too old");
  if (expiresAt !== undefined && expiresAt <= nowSecs) return err("message has expired");
  if (notBefore !== undefined && notBefore > nowSecs) return err("message is not valid yet");
  const signer = recoverSigner(fromHex(hashMessage(text)), signature);
  if (!signer || Buffer.compare(signer, address) !== 0) return err("signature is not of the address");
  return ok(message);
}

/** Unix seconds of a time in RFC 3339; undefined without one, NaN for another text. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return TIME.test(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN;
}
