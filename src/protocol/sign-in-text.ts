/** The contents of a Sign In With Farcaster message. */
export interface SignInText {
  readonly domain: string;
  /** With the EIP-55 checksum, or in lower case. */
  readonly address: string;
  readonly uri: string;
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly issuedAtMs: number;
  readonly fid: number;
  readonly expirationTime?: string | undefined;
  readonly notBefore?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Returns the message that a wallet signs (EIP-4361), for chain 10. */
export function signInText(text: SignInText): string {
  const { domain, address, uri, nonce, issuedAtMs, fid, expirationTime, notBefore, requestId } = text;
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    "",
    "Farcaster Auth",
    "",
    `URI: ${uri}`,
    "Version: 1",
    "Chain ID: 10",
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAtMs).toISOString()}`,
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(notBefore === undefined ? [] : [`Not Before: ${notBefore}`]),
    ...(requestId === undefined ? [] : [`Request ID: ${requestId}`]),
    "Resources:",
    `- farcaster://fid/${fid}`,
  ].join("\n");
}
