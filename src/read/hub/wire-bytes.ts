import { varintBytes } from "../../db/index/messages/wire.ts";

const LENGTH_DELIMITED = 2;
const MAX_FIELD = 15;

/** A part of a protobuf message: a number, or a field of bytes. */
export type WireField =
  | { readonly field: number; readonly bytes: Uint8Array }
  | { readonly field: number; readonly value: number };

/** Encodes fields in the given order. Field numbers are at most 15; a value of 0 is written too. */
export function encodeFields(fields: readonly WireField[]): Uint8Array {
  let size = 0;
  for (const field of fields) size += sizeOf(field);
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  for (const one of fields) {
    if (one.field > MAX_FIELD) throw new Error("field numbers above 15 have longer tags");
    if ("value" in one) {
      out[at] = one.field << 3;
      at = writeVarint(out, at + 1, one.value);
      continue;
    }
    out[at] = (one.field << 3) | LENGTH_DELIMITED;
    at = writeVarint(out, at + 1, one.bytes.length);
    out.set(one.bytes, at);
    at += one.bytes.length;
  }
  return out;
}

/**
 * Encodes a list of encoded messages as a repeated field, and the token of the next page, if there is one, as another field.
 */
export function encodeList(
  items: readonly Uint8Array[],
  { field, tokenField, token }: { field: number; tokenField: number; token: Uint8Array | undefined },
): Uint8Array {
  const fields: WireField[] = items.map((bytes) => ({ field, bytes }));
  if (token !== undefined) fields.push({ field: tokenField, bytes: token });
  return encodeFields(fields);
}

/** Returns the size of an encoded message as an item of a list. */
export function listedBytes({ length }: Uint8Array): number {
  return 1 + varintBytes(length) + length;
}

function sizeOf(one: WireField): number {
  return "value" in one ? 1 + varintBytes(one.value) : listedBytes(one.bytes);
}

function writeVarint(out: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  // Shifts are exact for 31 bits only.
  while (rest > 0x7fff_ffff) {
    out[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  while (rest > 0x7f) {
    out[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  out[at++] = rest;
  return at;
}
