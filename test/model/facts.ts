import type { EncodedRecord } from "../../src/ingest/record.ts";
import { MessageData, type UserNameProof } from "../../src/protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { DEFAULT_TIMESTAMP, signMessage, type TestData, type TestSigner } from "../support/messages.ts";
import { eventRecord, proofRecord } from "../support/node.ts";
import { hashOf } from "../support/social.ts";

export type Hex = `0x${string}`;

/** A signed message, in the form of the model. `at`: Farcaster seconds. */
export interface MessageFact {
  readonly kind: "message";
  readonly fid: number;
  readonly at: number;
  readonly hash: Hex;
  readonly signer: Hex;
  readonly data: MessageData;
}

export type Fact =
  | MessageFact
  | { readonly kind: "event"; readonly event: OnChainEvent }
  | { readonly kind: "fname"; readonly proof: UserNameProof };

/** One event of the network: the bytes for the node, and their meaning for the model. */
export interface Action {
  readonly record: EncodedRecord;
  readonly fact: Fact;
}

export const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
export const bytesOf = (hex: Hex): Uint8Array => Buffer.from(hex.slice(2), "hex");

export function messageAction(data: TestData & { fid: number }, signer: TestSigner): Action {
  const bytes = signMessage(data, signer);
  const whole = MessageData.fromPartial({ timestamp: DEFAULT_TIMESTAMP, ...data });
  const fact: Fact = {
    kind: "message",
    fid: data.fid,
    at: whole.timestamp,
    hash: hashOf(bytes),
    signer: hexOf(signer.publicKey),
    data: whole,
  };
  return { record: { kind: "message", bytes }, fact };
}

export function eventAction(event: OnChainEvent): Action {
  return { record: eventRecord(event), fact: { kind: "event", event } };
}

export function fnameAction(proof: UserNameProof): Action {
  return { record: proofRecord(proof), fact: { kind: "fname", proof } };
}
