import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** Signs typed data as a wallet does. `privateKey` is 32 bytes in hex. */
export const signTypedDataWith = (privateKey: string, typedData: TypedData): string =>
  signDigest(privateKey, hashTypedData(typedData));

/** Decodes the text of the bytes that a page lets a wallet sign. */
export const textOfHex = (hex: string): string => new TextDecoder().decode(bytesOf(hex));

/** Signs bytes like a wallet does for `personal_sign` (EIP-191). */
export function signTextWith(privateKey: string, hex: string): string {
  const bytes = bytesOf(hex);
  const prefix = utf8ToBytes(`\x19Ethereum Signed Message:\n${bytes.length}`);
  return signDigest(privateKey, keccak_256(concatBytes(prefix, bytes)));
}

/** Returns r, s and v (27 or 28). */
function signDigest(privateKey: string, digest: Uint8Array): string {
  const key = bytesOf(privateKey);
  const signature = secp256k1.sign(digest, key, { prehash: false, format: "recovered" });
  const [recovery = 0] = signature;
  return `0x${bytesToHex(signature.subarray(1))}${(27 + recovery).toString(16)}`;
}

interface TypeField {
  readonly name: string;
  readonly type: string;
}

/** Typed data as passed to wallets (EIP-712), without arrays, which nothing here signs. */
interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, readonly TypeField[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

const WORD = 32;
const MAX_DEPTH = 8;

/** Returns the hash that is signed. Throws for values that do not fit their type. */
export function hashTypedData({ domain, types, primaryType, message }: TypedData): Uint8Array {
  const { EIP712Domain: domainType = domainFields(domain) } = types;
  const all = { ...types, EIP712Domain: domainType };
  const parts = [Uint8Array.of(0x19, 0x01), hashStruct("EIP712Domain", domain, all, 0)];
  if (primaryType !== "EIP712Domain") parts.push(hashStruct(primaryType, message, all, 0));
  return keccak_256(concatBytes(...parts));
}

/** Returns the fields that a domain has, in the order of the standard. */
function domainFields(domain: TypedData["domain"]): TypeField[] {
  const known: readonly TypeField[] = [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
    { name: "salt", type: "bytes32" },
  ];
  return known.filter(({ name }) => domain[name] !== undefined);
}

function hashStruct(name: string, value: unknown, types: TypedData["types"], depth: number): Uint8Array {
  const fields = types[name];
  if (!fields || typeof value !== "object" || value === null || depth > MAX_DEPTH)
    throw new TypeError(`no ${name}`);
  const typeHash = keccak_256(utf8ToBytes(encodeType(name, types)));
  const words = fields.map((field) =>
    encodeValue(field.type, (value as Record<string, unknown>)[field.name], types, depth),
  );
  return keccak_256(concatBytes(typeHash, ...words));
}

/** Returns `Name(type name,…)`, followed by the types that it uses, sorted by name. */
function encodeType(name: string, types: TypedData["types"]): string {
  const used = new Set<string>();
  const visit = (type: string) => {
    if (used.has(type) || !types[type]) return;
    used.add(type);
    for (const field of types[type]) visit(field.type);
  };
  visit(name);
  used.delete(name);
  return [name, ...[...used].sort()]
    .map((type) => `${type}(${(types[type] ?? []).map((field) => `${field.type} ${field.name}`).join(",")})`)
    .join("");
}

function encodeValue(type: string, value: unknown, types: TypedData["types"], depth: number): Uint8Array {
  if (types[type]) return hashStruct(type, value, types, depth + 1);
  if (type === "string") return keccak_256(utf8ToBytes(String(value)));
  if (type === "bytes") return keccak_256(bytesOf(value));
  if (type === "bool") return wordOf(value === true ? 1n : 0n);
  if (type === "address") return leftPadded(bytesOf(value, 20));
  const [, fixed] = /^bytes([1-9]|[12][0-9]|3[0-2])$/.exec(type) ?? [];
  if (fixed) return rightPadded(bytesOf(value, Number(fixed)));
  const [, kind, bits = "256"] = /^(uint|int)(\d+)?$/.exec(type) ?? [];
  if (!kind) throw new TypeError(`${type} is not supported`);
  const number = BigInt(value as string | number | bigint);
  const size = BigInt(bits);
  const [least, most] = kind === "uint" ? [0n, 1n << size] : [-(1n << (size - 1n)), 1n << (size - 1n)];
  if (number < least || number >= most) throw new RangeError(`${number} is not ${type}`);
  return wordOf(BigInt.asUintN(256, number));
}

function bytesOf(value: unknown, length?: number): Uint8Array {
  const bytes = value instanceof Uint8Array ? value : hexToBytes(String(value).replace(/^0x/, ""));
  if (length !== undefined && bytes.length !== length) throw new RangeError(`${length} bytes are wanted`);
  return bytes;
}

function wordOf(value: bigint): Uint8Array {
  return hexToBytes(value.toString(16).padStart(WORD * 2, "0"));
}

function leftPadded(bytes: Uint8Array): Uint8Array {
  return concatBytes(new Uint8Array(WORD - bytes.length), bytes);
}

function rightPadded(bytes: Uint8Array): Uint8Array {
  return concatBytes(bytes, new Uint8Array(WORD - bytes.length));
}
