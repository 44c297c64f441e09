import { createJsonFarcasterSignature } from "@farcaster/miniapp-node";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { type ChainPlace, signerEvent } from "./events.ts";
import { requestMetadata } from "./gasless-keys.ts";
import { makeSigner, signBytes, type TestSigner } from "./messages.ts";

/** Clients' keys of their users, and the envelopes that they sign with them. */

export interface TestEnvelope {
  readonly header: string;
  readonly payload: string;
  readonly signature: string;
}

/** The key of `fid` that the client `clientFid` holds. */
export function clientKey(fid: number, clientFid: number): TestSigner {
  return makeSigner(`client ${clientFid} of ${fid}`);
}

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}` as const;

/** The on-chain event that adds `key` to `fid`. Without `requestFid`, its metadata contains no app. */
export function keyAddedEvent(
  fid: number,
  key: Uint8Array,
  place: ChainPlace,
  { requestFid, keyType = 1 }: { requestFid?: number; keyType?: number } = {},
): OnChainEvent {
  const event = signerEvent(fid, key, place);
  if (event.body?.$case !== "signerEventBody") throw new Error("no signer event");
  const metadata = requestFid === undefined ? new Uint8Array() : requestMetadata(requestFid, key);
  const value = { ...event.body.value, metadata, keyType };
  return OnChainEvent.fromPartial({ ...event, body: { $case: "signerEventBody", value } });
}

const base64Url = (part: string | Uint8Array) => Buffer.from(part).toString("base64url");

/** An envelope built by the reference library. */
export function officialEnvelope(fid: number, signer: TestSigner, payload: object): TestEnvelope {
  return createJsonFarcasterSignature({
    fid,
    type: "app_key",
    privateKey: signer.privateKey,
    payload: Buffer.from(JSON.stringify(payload)),
  });
}

/** The header of a valid envelope. */
export function headerOf(fid: number, signer: TestSigner) {
  return { fid, type: "app_key", key: hex(signer.publicKey) };
}

/**
 * An envelope over any header and payload, well formed or not, signed as provided. Objects are encoded as JSON; bytes
 * and text are used unchanged.
 */
export function sealEnvelope(
  header: object | string,
  payload: object | string,
  signer: TestSigner,
  encode: (part: string | Uint8Array) => string = base64Url,
): TestEnvelope {
  const textOf = (part: object | string) =>
    typeof part === "string" || part instanceof Uint8Array ? part : JSON.stringify(part);
  const parts = { header: encode(textOf(header)), payload: encode(textOf(payload)) };
  const signature = signBytes(Buffer.from(`${parts.header}.${parts.payload}`), signer);
  return { ...parts, signature: base64Url(signature) };
}
