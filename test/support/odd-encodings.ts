import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Encodings of one message that decoders read alike, and that no canonical encoder writes. */

interface Field {
  readonly number: number;
  readonly wireType: WireType;
  /** The value without tag and length. */
  readonly value: Uint8Array;
}

const BODY_FIELDS = [5, 6, 7, 9, 10, 12, 14, 15, 16, 17, 18, 19, 20];

/** The odd encodings by name, each a function of canonical data bytes. */
export const ODD_ENCODINGS: Readonly<Record<string, (data: Uint8Array) => Uint8Array>> = {
  "fields in reverse order": (data) => join(fieldsOf(data).reverse()),
  "fields of the body in reverse order": (data) => mapBody(data, (body) => reverseGroups(fieldsOf(body))),
  "parent URL by its field number, as Go and C++ write it": (data) =>
    mapBody(data, (body) => fieldsOf(body).toSorted((a, b) => a.number - b.number)),
  "an unknown field": (data) => Buffer.concat([data, unknownField(200)]),
  "an unknown field before the first": (data) => Buffer.concat([unknownField(90), data]),
  "an unknown field in the body": (data) =>
    mapBody(data, (body) => [
      ...fieldsOf(body),
      { number: 77, wireType: WireType.Bit32, value: Buffer.alloc(4, 9) },
    ]),
  "an unknown group": (data) => Buffer.concat([data, Buffer.of(0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06)]),
  "over-long varints in the head": (data) => join(fieldsOf(data), { isLong: true }),
  "over-long varints in the body": (data) =>
    mapBody(data, (body) => fieldsOf(body).map((field) => ({ ...field, value: longer(field) }))),
  "over-long tags": (data) => join(fieldsOf(data), { isLongTag: true }),
  "a field twice, the last one valid": (data) => Buffer.concat([Buffer.of(0x18, 0x07), data]),
  "the network twice, after the body": (data) =>
    Buffer.concat([data, join(fieldsOf(data).filter(({ number }) => number === 4))]),
  "a time with bits above the 32 that count": (data) =>
    join(
      fieldsOf(data).map((field) =>
        field.number === 3 ? { ...field, value: varint(BigInt(numberOf(field)) + (1n << 35n)) } : field,
      ),
    ),
  "explicit defaults": (data) => mapBody(data, (body) => withDefaults(data, fieldsOf(body))),
  "lists of numbers that are not packed": (data) =>
    isCast(data) ? mapBody(data, (body) => fieldsOf(body).flatMap(unpacked)) : data,
  "packed lists in two pieces": (data) =>
    isCast(data) ? mapBody(data, (body) => fieldsOf(body).flatMap(inTwoPieces)) : data,
};

export function fieldsOf(bytes: Uint8Array): Field[] {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const start = reader.pos;
    const value = wireType === WireType.LengthDelimited ? reader.bytes() : undefined;
    if (!value) reader.skip(wireType, number);
    fields.push({ number, wireType, value: value ?? bytes.slice(start, reader.pos) });
  }
  return fields;
}

function join(fields: readonly Field[], { isLong = false, isLongTag = false } = {}): Uint8Array {
  return Buffer.concat(
    fields.map((field) => {
      const { number, wireType, value } = field;
      const tag = varint(BigInt(number * 8 + wireType));
      const isDelimited = wireType === WireType.LengthDelimited;
      const length = isDelimited ? varint(BigInt(value.length)) : new Uint8Array();
      return Buffer.concat([
        isLongTag ? stretched(tag) : tag,
        isLong && isDelimited ? stretched(length) : length,
        isLong && wireType === WireType.Varint ? stretched(value) : value,
      ]);
    }),
  );
}

function mapBody(data: Uint8Array, map: (body: Uint8Array) => readonly Field[]): Uint8Array {
  return join(
    fieldsOf(data).map((field) =>
      BODY_FIELDS.includes(field.number) ? { ...field, value: join(map(field.value)) } : field,
    ),
  );
}

/** Reverses the order of fields, not that of the values of a repeated one. */
function reverseGroups(fields: readonly Field[]): Field[] {
  return [...Map.groupBy(fields, ({ number }) => number).values()].reverse().flat();
}

function unknownField(number: number): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(Buffer.from("unknown")).finish();
}

function longer({ wireType, value }: Field): Uint8Array {
  return wireType === WireType.Varint ? stretched(value) : value;
}

/** The same number in one byte more; a varint has at most ten. */
function stretched(bytes: Uint8Array): Uint8Array {
  if (bytes.length >= 10) return bytes;
  const longer = Uint8Array.from([...bytes, 0]);
  longer[bytes.length - 1] = (longer[bytes.length - 1] ?? 0) | 0x80;
  return longer;
}

function varint(value: bigint): Uint8Array {
  return new BinaryWriter().uint64(value).finish();
}

function numberOf({ value }: Field): string {
  return new BinaryReader(value).uint64().toString();
}

function isCast(data: Uint8Array): boolean {
  return fieldsOf(data).some(({ number }) => number === 5);
}

/** Writes fields that have their default value: the text or the type of a cast, the value of user data. */
function withDefaults(data: Uint8Array, fields: Field[]): Field[] {
  const zero: Field = { number: 8, wireType: WireType.Varint, value: Uint8Array.of(0) };
  const empty: Field = { number: 4, wireType: WireType.LengthDelimited, value: new Uint8Array() };
  const has = (number: number) => fields.some((field) => field.number === number);
  if (isCast(data)) return [...fields, ...(has(8) ? [] : [zero]), ...(has(4) ? [] : [empty])];
  const isUserData = fieldsOf(data).some(({ number }) => number === 12);
  return isUserData && !has(2) ? [...fields, { ...empty, number: 2 }] : fields;
}

/** Mentions (2) and their positions (5) as one field for each number. */
function unpacked(field: Field): Field[] {
  if (field.number !== 2 && field.number !== 5) return [field];
  const reader = new BinaryReader(field.value);
  const values: Field[] = [];
  while (reader.pos < reader.len)
    values.push({
      number: field.number,
      wireType: WireType.Varint,
      value: varint(BigInt(reader.uint64().toString())),
    });
  return values;
}

function inTwoPieces(field: Field): Field[] {
  const [first, ...others] = unpacked(field);
  if (first === field || first === undefined) return [field];
  const pack = (fields: readonly Field[]): Field => ({
    number: field.number,
    wireType: WireType.LengthDelimited,
    value: Buffer.concat(fields.map(({ value }) => value)),
  });
  return [pack([first]), pack(others)];
}
