import { isUtf8 } from "node:buffer";

/**
 * The wire form that each field of a message must have. The generated decoder skips a known field of the wrong
 * wire type, stops without a word at a zero tag, lets a nested message run past its length and puts U+FFFD in
 * place of invalid UTF-8; the reference node refuses all four, and reading them differently would let one signed
 * message mean two things. So the bytes are checked against this table before they are decoded.
 */
type FieldForm =
  | "varint"
  | "varints"
  | "bytes"
  | "text"
  | { readonly message: MessageForm; readonly repeated: boolean };

/** The fields of a message by field number; an absent number is an unknown field, which is skipped. */
export type MessageForm = readonly (FieldForm | undefined)[];

const one = (message: MessageForm): FieldForm => ({ message, repeated: false });
const many = (message: MessageForm): FieldForm => ({ message, repeated: true });

function fields(byNumber: Record<number, FieldForm>): MessageForm {
  const form: (FieldForm | undefined)[] = [];
  for (const [number, field] of Object.entries(byNumber)) form[Number(number)] = field;
  return Array.from(form);
}

const castId = fields({ 1: "varint", 2: "bytes" });
const embed = fields({ 1: "text", 2: one(castId) });
const castAddBody = fields({
  1: "text",
  2: "varints",
  3: one(castId),
  4: "text",
  5: "varints",
  6: many(embed),
  7: "text",
  8: "varint",
});
const castRemoveBody = fields({ 1: "bytes" });
const reactionBody = fields({ 1: "varint", 2: one(castId), 3: "text" });
const verificationAddBody = fields({
  1: "bytes",
  2: "bytes",
  3: "bytes",
  4: "varint",
  5: "varint",
  7: "varint",
});
const verificationRemoveBody = fields({ 1: "bytes", 2: "varint" });
const userDataBody = fields({ 1: "varint", 2: "text" });
const linkBody = fields({ 1: "text", 2: "varint", 3: "varint" });
const linkCompactStateBody = fields({ 1: "text", 2: "varints" });
export const USERNAME_PROOF_FORM = fields({
  1: "varint",
  2: "bytes",
  3: "bytes",
  4: "bytes",
  5: "varint",
  6: "varint",
});
const frameActionBody = fields({
  1: "bytes",
  2: "varint",
  3: one(castId),
  4: "bytes",
  5: "bytes",
  6: "bytes",
  7: "bytes",
});
const lendStorageBody = fields({ 1: "varint", 2: "varint", 3: "varint" });
const keyAddBody = fields({
  1: "bytes",
  2: "varint",
  3: "bytes",
  4: "varint",
  5: "varint",
  6: "bytes",
  7: "varint",
  8: "bytes",
  9: "varints",
  10: "varint",
});
const keyRemoveBody = fields({ 1: "bytes", 2: "bytes", 3: "varint", 4: "varint", 5: "varint" });

export const MESSAGE_DATA_FORM = fields({
  1: "varint",
  2: "varint",
  3: "varint",
  4: "varint",
  5: one(castAddBody),
  6: one(castRemoveBody),
  7: one(reactionBody),
  9: one(verificationAddBody),
  10: one(verificationRemoveBody),
  12: one(userDataBody),
  14: one(linkBody),
  15: one(USERNAME_PROOF_FORM),
  16: one(frameActionBody),
  17: one(linkCompactStateBody),
  18: one(lendStorageBody),
  19: one(keyAddBody),
  20: one(keyRemoveBody),
});

export const MESSAGE_FORM = fields({
  1: one(MESSAGE_DATA_FORM),
  2: "bytes",
  3: "varint",
  4: "bytes",
  5: "varint",
  6: "bytes",
  7: "bytes",
});

export const ON_CHAIN_EVENT_FORM = fields({
  1: "varint",
  2: "varint",
  3: "varint",
  4: "bytes",
  5: "varint",
  6: "bytes",
  7: "varint",
  8: "varint",
  9: one(fields({ 1: "bytes", 2: "varint", 3: "varint", 4: "bytes", 5: "varint" })),
  10: one(fields({ 1: "varint" })),
  11: one(fields({ 1: "bytes", 2: "varint", 3: "bytes", 4: "bytes" })),
  12: one(fields({ 1: "bytes", 2: "varint", 3: "varint" })),
  13: "varint",
  14: "varint",
  15: one(fields({ 1: "varint", 2: "varint", 3: "bytes" })),
});

/**
 * What is wrong with protobuf bytes of the given form, or undefined. Unknown fields are let through when they are
 * well formed. A singular nested message that is given twice is refused: protobuf joins the two, the generated
 * decoder keeps the last one, and no encoder writes it.
 */
export function wireFault(bytes: Uint8Array, form: MessageForm): string | undefined {
  return scanMessage({ bytes, at: 0 }, bytes.length, form);
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

function scanMessage(cursor: Cursor, end: number, form: MessageForm): string | undefined {
  let seen = 0;
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag < 0) return MALFORMED_VARINT;
    if (tag > MAX_TAG) return "malformed tag";
    const number = tag >>> 3;
    const field = form[number];
    let fault: string | undefined;
    if (field === undefined) {
      fault = skipUnknown(cursor, end, number, tag & 7, 0);
    } else if (typeof field === "object") {
      if (!field.repeated && (seen & (1 << number)) !== 0) return "nested message is given twice";
      seen |= 1 << number;
      fault = scanNested(cursor, end, tag & 7, field.message);
    } else {
      fault = scanScalar(cursor, end, tag & 7, field);
    }
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function scanNested(cursor: Cursor, end: number, wireType: number, form: MessageForm): string | undefined {
  if (wireType !== LENGTH_DELIMITED) return WRONG_WIRE_TYPE;
  const length = readVarint(cursor, end);
  if (length < 0) return MALFORMED_VARINT;
  if (length > end - cursor.at) return PAST_END;
  return scanMessage(cursor, cursor.at + length, form);
}

function scanScalar(
  cursor: Cursor,
  end: number,
  wireType: number,
  form: "varint" | "varints" | "bytes" | "text",
): string | undefined {
  if (form === "varint" || (form === "varints" && wireType === VARINT)) {
    if (wireType !== VARINT) return WRONG_WIRE_TYPE;
    return readVarint(cursor, end) < 0 ? MALFORMED_VARINT : undefined;
  }
  if (wireType !== LENGTH_DELIMITED) return WRONG_WIRE_TYPE;
  const length = readVarint(cursor, end);
  if (length < 0) return MALFORMED_VARINT;
  if (length > end - cursor.at) return PAST_END;
  const start = cursor.at;
  const stop = start + length;
  if (form === "varints") {
    while (cursor.at < stop) if (readVarint(cursor, stop) < 0) return MALFORMED_VARINT;
    return undefined;
  }
  cursor.at = stop;
  return form === "text" && !isUtf8(cursor.bytes.subarray(start, stop)) ? "invalid UTF-8" : undefined;
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
    const fault = skipUnknown(cursor, end, number, tag & 7, depth);
    if (fault !== undefined) return fault;
  }
  return "group does not end";
}

function skipBytes(cursor: Cursor, end: number, length: number): string | undefined {
  if (length > end - cursor.at) return PAST_END;
  cursor.at += length;
  return undefined;
}

/** The varint at the cursor, or -1 when it is cut off or wider than 64 bits; inexact above 2^53. */
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
