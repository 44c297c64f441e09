import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { EncodedRecord, RecordKind } from "../ingest/record.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";

/** The kind of record in each field of the wire message `ImportRecord`. */
const KIND_BY_FIELD: ReadonlyMap<number, RecordKind> = new Map([
  [1, "message"],
  [2, "onChainEvent"],
  [3, "usernameProof"],
]);
/** Lengths up to 2^21 - 1 are read at once. */
const MAX_USUAL_BITS = 21;
const FIELD_BY_KIND = new Map([...KIND_BY_FIELD].map(([field, kind]) => [kind, field]));

/**
 * Returns the record inside an `ImportRecord`, still encoded; ingest decodes it. Its bytes are a view. Fields with other
 * numbers are skipped. Anything but exactly one record is a `bad_request.parse_failure`.
 */
export function decodeEnvelope(payload: Uint8Array): Result<EncodedRecord, Rejection> {
  const usual = decodeUsual(payload);
  if (usual) return ok(usual);
  try {
    const reader = new BinaryReader(payload);
    let record: EncodedRecord | undefined;
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      const kind = KIND_BY_FIELD.get(field);
      if (kind === undefined) {
        reader.skip(wireType, field);
        continue;
      }
      if (wireType !== WireType.LengthDelimited) return err(unreadable(`field ${field} is not a record`));
      if (record) return err(unreadable("it contains more than one record"));
      record = { kind, bytes: reader.bytes() };
    }
    return record ? ok(record) : err(unreadable("it contains no record"));
  } catch (cause) {
    return err(unreadable(cause instanceof Error ? cause.message : "malformed protobuf"));
  }
}

/** Reads an envelope that consists of one record; undefined for any other. */
function decodeUsual(payload: Uint8Array): EncodedRecord | undefined {
  const tag = payload[0] ?? 0;
  const kind = (tag & 7) === WireType.LengthDelimited ? KIND_BY_FIELD.get(tag >>> 3) : undefined;
  if (kind === undefined) return undefined;
  let length = 0;
  for (let at = 1, shift = 0; shift < MAX_USUAL_BITS; at++, shift += 7) {
    const byte = payload[at];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80)
      return length === payload.length - at - 1 ? { kind, bytes: payload.subarray(at + 1) } : undefined;
  }
  return undefined;
}

/** Encodes a record as it is stored in a file: the length of its `ImportRecord`, then the `ImportRecord`. */
export function encodeEnvelope({ kind, bytes }: EncodedRecord): Uint8Array {
  const field = FIELD_BY_KIND.get(kind);
  if (field === undefined) throw new RangeError(`an import file cannot contain a record of kind ${kind}`);
  const envelope = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  return new BinaryWriter().bytes(envelope).finish();
}

function unreadable(detail: string): Rejection {
  return rejection("bad_request.parse_failure", `import record cannot be read: ${detail}`);
}
