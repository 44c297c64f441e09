import { BinaryReader } from "@bufbuild/protobuf/wire";
import { ok, type Result } from "../../lib/result.ts";
import { fidOfU64 } from "../../protocol/fid.ts";
import { invalidParam, type Refusal } from "../../read/hub/refusal.ts";

/** The id of a cast in a request. */
interface CastIdField {
  readonly fid: number;
  readonly hash: Uint8Array;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** A field of a request: its number and how to read it. An absent field stays undefined. */
interface RequestField<T> {
  readonly field: number;
  readonly wireType: number;
  readonly read: (reader: BinaryReader) => T;
}

type RequestShape = Readonly<Record<string, RequestField<unknown>>>;

/** A request by its shape. */
export type RequestOf<Shape extends RequestShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends RequestField<infer T> ? T | undefined : never;
};

const varint =
  <T>(read: (reader: BinaryReader) => T) =>
  (field: number): RequestField<T> => ({ field, wireType: VARINT, read });
const delimited =
  <T>(read: (reader: BinaryReader) => T) =>
  (field: number): RequestField<T> => ({ field, wireType: LENGTH_DELIMITED, read });

/** A 64-bit number. Numbers above 2^53 - 1 are read as 2^53 - 1. */
export const u64 = varint((reader) => Math.min(Number(reader.uint64()), Number.MAX_SAFE_INTEGER));
/** An fid, or `UNKNOWN_FID`. */
export const fid = varint(readFid);
export const u32 = varint((reader) => reader.uint32());
export const flag = varint((reader) => reader.bool());
export const text = delimited((reader) => reader.string());
export const bytes = delimited((reader) => reader.bytes());
export const castId = delimited((reader): CastIdField => {
  const { fid = 0, hash = new Uint8Array() } = readFields(new BinaryReader(reader.bytes()), CAST_ID);
  return { fid, hash };
});
/** A packed list of fids. */
export const fids = delimited((reader) => {
  const read: number[] = [];
  for (const packed = new BinaryReader(reader.bytes()); packed.pos < packed.len; ) read.push(readFid(packed));
  return read;
});

const CAST_ID = { fid: fid(1), hash: bytes(2) };

/** Decodes a request. Unknown fields are ignored. */
export function readRequest<const Shape extends RequestShape>(
  encoded: Uint8Array,
  shape: Shape,
): Result<RequestOf<Shape>, Refusal> {
  try {
    return ok(readFields(new BinaryReader(encoded), shape));
  } catch {
    return invalidParam("request cannot be decoded");
  }
}

function readFields<Shape extends RequestShape>(reader: BinaryReader, shape: Shape): RequestOf<Shape> {
  const request: Record<string, unknown> = {};
  const fields = Object.entries(shape);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const named = fields.find(([, { field }]) => field === number);
    if (named === undefined || named[1].wireType !== wireType) reader.skip(wireType, number);
    else request[named[0]] = named[1].read(reader);
  }
  return request as RequestOf<Shape>;
}

function readFid(reader: BinaryReader): number {
  return fidOfU64(BigInt(reader.uint64()));
}
