import { fromHex, type Hex, parseChecksumAddress } from "../protocol/validate/eth.ts";

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

const MAX_MESSAGE_BYTES = 4096;
const LOWER_CASE_ADDRESS = /^0x[0-9a-f]{40}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/**
 * The grammar of EIP-4361. The statement is a line between two empty ones. Without a statement there are two empty lines, or only one:
 * libraries differ.
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

/** Parses a sign-in message; undefined for any other text. */
export function parseSignIn(text: string): SignInMessage | undefined {
  if (text.length > MAX_MESSAGE_BYTES || Buffer.byteLength(text) > MAX_MESSAGE_BYTES) return undefined;
  const fields = MESSAGE.exec(text)?.groups;
  if (!fields) return undefined;
  const { domain = "", uri = "", nonce = "", statement, resources = "" } = fields;
  const address = parseAddress(fields.address ?? "");
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

/** Reports whether a text is a time in the format of sign-in messages (RFC 3339). */
export const isSignInTime = (text: string): boolean => TIME.test(text) && !Number.isNaN(Date.parse(text));

/** Parses a time in RFC 3339 as unix seconds; undefined without a text, NaN for any other text. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return TIME.test(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN;
}

/** Parses an address that has the checksum of EIP-55 or is in lowercase. Returns its 20 bytes. */
function parseAddress(text: string): Uint8Array | undefined {
  return LOWER_CASE_ADDRESS.test(text) ? fromHex(text as Hex) : parseChecksumAddress(text);
}
