import { isUtf8 } from "node:buffer";

/**
 * The encoding of a field. "text" is UTF-8; "varints" is a repeated integer, packed or not.
 *
 * The generated decoder skips a known field with the wrong wire type, stops without an error at a zero tag, lets a nested
 * message run past its length, and replaces invalid UTF-8 with U+FFFD. The reference node refuses all four. Decoding them
 * differently would give one signed message two meanings, so bytes are checked against these schemas before they are
 * decoded.
 */
type FieldFormat =
  | "varint"
  | "varints"
  | "bytes"
  | "text"
  | { readonly message: WireSchema; readonly repeated: boolean };

/** The fields of a message by field number. A number without an entry is an unknown field, which is skipped. */
export type WireSchema = readonly (FieldFormat | undefined)[];

export const one = (message: WireSchema): FieldFormat => ({ message, repeated: false });
export const many = (message: WireSchema): FieldFormat => ({ message, repeated: true });

export function wireSchema(byNumber: Record<number, FieldFormat>): WireSchema {
  const schema: (FieldFormat | undefined)[] = [];
  for (const [number, field] of Object.entries(byNumber)) schema[Number(number)] = field;
  return Array.from(schema);
}

/**
 * Returns the first wire error in protobuf bytes, or undefined. Well-formed unknown fields are accepted. A singular nested
 * message that appears twice is refused: protobuf merges the two, the generated decoder uses the last one, and no
 * encoder writes it.
 */
export function findWireError(bytes: Uint8Array, schema: WireSchema): string | undefined {
  return scanMessage({ bytes, at: 0 }, bytes.length, schema);
}

interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

const MAX_TAG = 0xffff_ffff;
const MAX_GROUP_DEPTH = 50;

const MALFORMED_VARINT = "malformed varint";
const PAST_END = "length runs past the end";
const WRONG_WIRE_TYPE = "field has the wrong wire type";

function scanMessage(cursor: Cursor, end: number, schema: WireSchema): string | undefined {
  let seen = 0;
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag < 0) return MALFORMED_VARINT;
    if (tag > MAX_TAG) return "malformed tag";
    const number = tag >>> 3;
    const field = schema[number];
    let error: string | undefined;
    if (field === undefined) {
      error = skipUnknown(cursor, end, number, tag & 7, 0);
    } else if (typeof field === "object") {
      if (!field.repeated && (seen & (1 << number)) !== 0) return "nested message appears twice";
      seen |= 1 << number;
      error = scanNested(cursor, end, tag & 7, field.message);
    } else {
      error = scanScalar(cursor, end, tag & 7, field);
    }
    if (error !== undefined) return error;
  }
  return undefined;
}

function scanNested(cursor: Cursor, end: number, wireType: number, schema: WireSchema): string | undefined {
  if (wireType !== LENGTH_DELIMITED) return WRONG_WIRE_TYPE;
  const length = readVarint(cursor, end);
  if (length < 0) return MALFORMED_VARINT;
  if (length > end - cursor.at) return PAST_END;
  return scanMessage(cursor, cursor.at + length, schema);
}

function scanScalar(
  cursor: Cursor,
  end: number,
  wireType: number,
  format: "varint" | "varints" | "bytes" | "text",
): string | undefined {
  if (format === "varint" || (format === "varints" && wireType === VARINT)) {
    if (wireType !== VARINT) return WRONG_WIRE_TYPE;
    return readVarint(cursor, end) < 0 ? MALFORMED_VARINT : undefined;
  }
  if (wireType !== LENGTH_DELIMITED) return WRONG_WIRE_TYPE;
  const length = readVarint(cursor, end);
  if (length < 0) return MALFORMED_VARINT;
  if (length > end - cursor.at) return PAST_END;
  const start = cursor.at;
  const stop = start + length;
  if (format === "varints") {
    while (cursor.at < stop) if (readVarint(cursor, stop) < 0) return MALFORMED_VARINT;
    return undefined;
  }
  cursor.at = stop;
  return format === "text" && !isUtf8(cursor.bytes.subarray(start, stop)) ? "invalid UTF-8" : undefined;
}

function skipUnknown(
  cursor: Cursor,
  end: number,
  number: number,
  wireType: number,
  depth: number,
): string | undefined {
  if (number === 0) return "field number is 0";
  switch (wireType) {
    case VARINT:
      return readVarint(cursor, end) < 0 ? MALFORMED_VARINT : undefined;
    case FIXED64:
      return skipBytes(cursor, end, 8);
    case FIXED32:
      return skipBytes(cursor, end, 4);
    case LENGTH_DELIMITED: {
      const length = readVarint(cursor, end);
      return length < 0 ? MALFORMED_VARINT : skipBytes(cursor, end, length);
    }
    case START_GROUP:
      return skipGroup(cursor, end, number, depth + 1);
    default:
      return "unexpected wire type";
  }
}

function skipGroup(cursor: Cursor, end: number, group: number, depth: number): string | undefined {
  if (depth > MAX_GROUP_DEPTH) return "groups are nested too deeply";
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag < 0) return MALFORMED_VARINT;
    if (tag > MAX_TAG) return "malformed tag";
    const number = tag >>> 3;
    if ((tag & 7) === END_GROUP) return number === group ? undefined : "group ends with another's tag";
    const error = skipUnknown(cursor, end, number, tag & 7, depth);
    if (error !== undefined) return error;
  }
  return "group does not end";
}

function skipBytes(cursor: Cursor, end: number, length: number): string | undefined {
  if (length > end - cursor.at) return PAST_END;
  cursor.at += length;
  return undefined;
}

/** Reads the varint at the cursor. Returns -1 if it is truncated or wider than 64 bits. Inexact above 2^53. */
function readVarint(cursor: Cursor, end: number): number {
  const { bytes } = cursor;
  let at = cursor.at;
  let value = 0;
  let scale = 1;
  for (let index = 0; index < 10; index++) {
    if (at >= end) return -1;
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      cursor.at = at;
      return index === 9 && byte > 1 ? -1 : value;
    }
    scale *= 128;
  }
  return -1;
}
