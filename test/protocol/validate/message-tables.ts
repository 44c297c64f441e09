import { expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import type { Rejection } from "../../../src/protocol/rejection.ts";
import { validateMessage } from "../../../src/protocol/validate/message.ts";
import { FarcasterNetwork, Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import {
  DEFAULT_NOW_SECS,
  encodeData,
  makeSigner,
  sealDataBytes,
  signMessage,
  type TestData,
} from "../../support/messages.ts";

/** Helpers for tables of valid and refused messages. */

export const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
export const FID = 100;
export const HASH = new Uint8Array(20).fill(7);
export const signer = makeSigner("alice");
export const ctx = { network: MAINNET, nowUnixSecs: DEFAULT_NOW_SECS };

/** The identity point. As public key and as R, with s = 0, a lenient verifier accepts it for every message. */
export const IDENTITY = Uint8Array.of(1, ...new Uint8Array(31));

/** The partial body of a `$case`. */
export type Body<Case extends string> = NonNullable<
  Extract<NonNullable<TestData["body"]>, { $case: Case }>["value"]
>;

export type Valid = [name: string, bytes: Uint8Array];
export type Refused = [name: string, bytes: Uint8Array, reason: RegExp];

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function raw(...parts: (number | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === "number" ? Uint8Array.of(part) : part)));
}

export function castData(value: Body<"castAddBody">): TestData {
  return { type: MessageType.MESSAGE_TYPE_CAST_ADD, fid: FID, body: { $case: "castAddBody", value } };
}

export function cast(value: Body<"castAddBody">, over: TestData = {}): Uint8Array {
  return signMessage({ ...castData(value), ...over }, signer);
}

/** A properly signed envelope of data bytes, which may be malformed. */
export function seal(dataBytes: Uint8Array): Uint8Array {
  return Message.encode(sealDataBytes(dataBytes, signer)).finish();
}

/** Data bytes padded to exactly `size` bytes with an unknown field, which decoders skip. */
export function padded(data: TestData, size: number): Uint8Array {
  const bytes = encodeData(data);
  for (let length = size - bytes.length; length >= 0; length--) {
    const padding = new BinaryWriter()
      .uint32((1005 << 3) | 2)
      .bytes(new Uint8Array(length))
      .finish();
    if (bytes.length + padding.length === size) return raw(bytes, padding);
  }
  throw new RangeError(`cannot pad ${bytes.length} bytes to ${size}`);
}

export function checkMessage(bytes: Uint8Array, context = ctx): Rejection | undefined {
  const message = decodeMessage(bytes);
  return message.ok ? validateMessage(message.value, context) : message.error;
}

/**
 * Defines one test for each message that must be valid, and one for each that must be refused for the given reason.
 */
export function testMessages(
  valid: readonly Valid[],
  refused: readonly Refused[],
  code: Rejection["code"],
): void {
  for (const [name, bytes] of valid) {
    test(`accepts ${name}`, () => {
      expect(checkMessage(bytes)).toBeUndefined();
    });
  }
  for (const [name, bytes, reason] of refused) {
    test(`refuses ${name}: ${code}`, () => {
      const rejection = checkMessage(bytes);
      expect(rejection?.reason).toMatch(reason);
      expect(rejection?.code).toBe(code);
    });
  }
}
