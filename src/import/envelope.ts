import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { EncodedRecord, RecordKind } from "../ingest/record.ts";
import { Rejection } from "../protocol/rejection.ts";

/** The fields of the wire message `ImportRecord`: which kind of record each number holds. */
const KIND_BY_FIELD: ReadonlyMap<number, RecordKind> = new Map([
  [1, "message"],
  [2, "onChainEvent"],
  [3, "usernameProof"],
]);
const FIELD_BY_KIND = new Map([...KIND_BY_FIELD].map(([field, kind]) => [kind, field]));

/**
 * Reads an `ImportRecord` as far as to know what it holds; the record inside is not decoded, since only ingest knows
 * how strictly to. Its bytes are a copy. Anything but exactly one record is a `bad_request.parse_failure`; fields of
 * other numbers are skipped.
 */
export function openEnvelope(payload: Uint8Array): EncodedRecord | Rejection {
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
      if (wireType !== WireType.LengthDelimited) return refused(`field ${field} is no record`);
      if (record) return refused("it holds more than one record");
      record = { kind, bytes: reader.bytes().slice() };
    }
    return record ?? refused("it holds no record");
  } catch (cause) {
    return refused(cause instanceof Error ? cause.message : "malformed protobuf");
  }
}

/** An `ImportRecord` behind its length: what stands in a file for one record. */
export function closeEnvelope({ kind, bytes }: EncodedRecord): Uint8Array {
  const field = FIELD_BY_KIND.get(kind);
  if (field === undefined) throw new RangeError(`an import file holds no ${kind}`);
  const envelope = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  return new BinaryWriter().bytes(envelope).finish();
}

function refused(detail: string): Rejection {
  return new Rejection("bad_request.parse_failure", `import record cannot be read: ${detail}`);
}
