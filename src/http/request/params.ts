import { type TSchema, Type } from "@sinclair/typebox";
import { fidOfU64 } from "../../protocol/fid.ts";
import { ApiError } from "../errors.ts";
import type { RawQuery } from "./query-string.ts";

/** One query parameter: its documentation and its decoder. */
export interface QueryParam<T> {
  /** Schema for the OpenAPI document. Its type is that of the decoded value, not of the text. */
  readonly schema: TSchema;
  readonly required: boolean;
  /** The keys from which the value is read, the documented one first. Default: the parameter's own name. */
  readonly keys?: readonly string[];
  /** What prices count: the value is a page size, or the values are the items of a list. */
  readonly asks?: "rows" | "items";
  /**
   * @param values all values of the key; empty if the key is absent
   * @throws ApiError `badRequest` naming the parameter
   */
  readonly decode: (values: readonly string[], name: string) => T;
}

export type QueryParams = Readonly<Record<string, QueryParam<unknown>>>;

export type DecodedQuery<Q extends QueryParams> = {
  [K in keyof Q]: Q[K] extends QueryParam<infer T> ? T : never;
};

/** Decodes the parameters that a route declares and ignores all others. */
export function decodeQuery<Q extends QueryParams>(params: Q, raw: RawQuery): DecodedQuery<Q> {
  const decoded: Record<string, unknown> = {};
  for (const name in params) {
    const param = params[name];
    const key = param?.keys === undefined ? name : presentKey(param.keys, raw);
    decoded[name] = param?.decode(raw[key] ?? [], key);
  }
  return decoded as DecodedQuery<Q>;
}

/**
 * Returns the first of the keys that is present. If none is, it returns the documented one, which the error message
 * then names.
 */
function presentKey(keys: readonly string[], raw: RawQuery): string {
  return keys.find((key) => raw[key] !== undefined) ?? keys[0] ?? "";
}

/** Returns the same parameter, read from other keys, the documented one first. */
export function renamed<T>(param: QueryParam<T>, ...keys: readonly [string, ...string[]]): QueryParam<T> {
  return { ...param, keys };
}

/** Optional texts of a parameter for the OpenAPI document. */
export interface Documented {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** The error for an invalid parameter. */
export const badRequest = (message: string) => new ApiError("badRequest", message);

/** Returns the only value of a key; undefined if the key is absent or its value empty. */
function single(values: readonly string[], name: string): string | undefined {
  if (values.length > 1) throw badRequest(`query parameter ${name} must be given once`);
  return values[0] === "" ? undefined : values[0];
}

type ParseText<T> = (text: string, name: string) => T;

/** A required parameter. An empty value counts as absent. */
export function scalar<T>(schema: TSchema, parse: ParseText<T>): QueryParam<T> {
  return {
    schema,
    required: true,
    decode(values, name) {
      const text = single(values, name);
      if (text === undefined) throw badRequest(`missing query parameter ${name}`);
      return parse(text, name);
    },
  };
}

/** Makes a parameter optional. */
export function optional<T>(param: QueryParam<T>): QueryParam<T | undefined>;
export function optional<T>(param: QueryParam<T>, fallback: T): QueryParam<T>;
export function optional<T>(param: QueryParam<T>, fallback?: T): QueryParam<T | undefined> {
  const { schema, decode } = param;
  const documented = fallback === undefined ? schema : { ...schema, default: fallback };
  return {
    ...param,
    schema: documented,
    required: false,
    decode: (values, name) => (values.every((value) => value === "") ? fallback : decode(values, name)),
  };
}

export interface ListOptions extends Documented {
  /** Longer lists are rejected (`http.max_ids` for ids). */
  readonly maxItems: number;
}

/**
 * A list with at least one item: comma-separated, with repeated keys, or both. Empty items are dropped. A repeated
 * item counts towards the limit and appears once, in the order of first mention.
 */
export function list<T>(items: TSchema, parse: ParseText<T>, options: ListOptions): QueryParam<readonly T[]> {
  const { maxItems, ...documented } = options;
  return {
    schema: Type.Array(items, { minItems: 1, maxItems, ...documented }),
    required: true,
    asks: "items",
    decode(values, name) {
      const unique = new Set<T>();
      let count = 0;
      for (const value of values) {
        for (const item of value.split(",")) {
          const text = item.trim();
          if (text === "") continue;
          count += 1;
          if (count > maxItems) throw badRequest(`${name} must hold at most ${maxItems} items`);
          unique.add(parse(text, name));
        }
      }
      if (count === 0) throw badRequest(`missing query parameter ${name}`);
      return [...unique];
    },
  };
}

const u64Digits = /^[0-9]{1,20}$/;
const maxU64 = 2n ** 64n - 1n;
/** Numbers with at most this many digits are exact as JavaScript numbers. */
const exactDigits = 15;

/** Parses an fid: a u64 in decimal digits. Returns undefined for any other text. The value is never rounded. */
export function parseFid(text: string): number | undefined {
  if (!u64Digits.test(text)) return undefined;
  if (text.length <= exactDigits) return Number(text);
  const exact = BigInt(text);
  if (exact > maxU64) return undefined;
  return fidOfU64(exact);
}

const fidSchema = (documented: Documented = {}) =>
  Type.Integer({ format: "int64", minimum: 0, examples: [3], ...documented });

function fidOf(text: string, name: string): number {
  const parsed = parseFid(text);
  if (parsed === undefined) throw badRequest(`${name} must be an unsigned integer`);
  return parsed;
}

export function fid(documented?: Documented): QueryParam<number> {
  return scalar(fidSchema(documented), fidOf);
}

export function fidList(options: ListOptions): QueryParam<readonly number[]> {
  const parse: ParseText<number> = (text, name) => {
    const parsed = parseFid(text);
    if (parsed === undefined) throw badRequest(`${name} must be a list of unsigned integers`);
    return parsed;
  };
  return list(Type.Integer({ format: "int64", minimum: 0 }), parse, { examples: [[2, 3]], ...options });
}

export type Hex = `0x${string}`;

const hex20Bytes = /^0x[0-9a-fA-F]{40}$/;
const hex20Schema = (documented: Documented = {}) =>
  Type.String({ pattern: "^0x[0-9a-fA-F]{40}$", ...documented });

/** Parses a cast hash or an Ethereum address, both 20 bytes: `0x` and 40 hex digits of either case. The result is in lowercase. */
function hex20Of(text: string, name: string): Hex {
  if (!hex20Bytes.test(text)) throw badRequest(`${name} must be 0x and 40 hex digits`);
  return text.toLowerCase() as Hex;
}

export function hash(documented?: Documented): QueryParam<Hex> {
  return scalar(hex20Schema(documented), hex20Of);
}

export function hashList(options: ListOptions): QueryParam<readonly Hex[]> {
  return list(hex20Schema(), hex20Of, options);
}

export function address(documented?: Documented): QueryParam<Hex> {
  return scalar(hex20Schema(documented), hex20Of);
}

export function addressList(options: ListOptions): QueryParam<readonly Hex[]> {
  return list(hex20Schema(), hex20Of, options);
}

/** UTF-16 units; enough for any name, query or URL that the protocol allows. */
const defaultMaxChars = 1024;

export interface TextOptions extends Documented {
  readonly maxChars?: number;
}

function boundedText(maxChars: number): ParseText<string> {
  return (text, name) => {
    if (text.length > maxChars) throw badRequest(`${name} must be at most ${maxChars} characters`);
    return text;
  };
}

export function text({ maxChars = defaultMaxChars, ...documented }: TextOptions = {}): QueryParam<string> {
  return scalar(Type.String({ minLength: 1, maxLength: maxChars, ...documented }), boundedText(maxChars));
}

export function textList(options: ListOptions & TextOptions): QueryParam<readonly string[]> {
  const { maxChars = defaultMaxChars, ...rest } = options;
  return list(Type.String({ minLength: 1, maxLength: maxChars }), boundedText(maxChars), rest);
}

/** One of a fixed set of words. */
export function choice<const T extends string>(words: readonly T[], documented?: Documented): QueryParam<T> {
  const schema = Type.Unsafe<T>({ type: "string", enum: [...words], ...documented });
  return scalar(schema, (text, name) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw badRequest(`${name} must be one of ${words.join(", ")}`);
    return word;
  });
}

const digits = /^[0-9]{1,20}$/;

/** An integer within a range. */
export function integer(
  options: Documented & { readonly min: number; readonly max: number },
): QueryParam<number> {
  const { min, max, ...documented } = options;
  return scalar(Type.Integer({ minimum: min, maximum: max, ...documented }), (text, name) => {
    const value = digits.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw badRequest(`${name} must be an integer from ${min} to ${max}`);
    return value;
  });
}

const defaultLimit = 10;
const maxLimit = 100;

/** Page size. A value above the maximum means the maximum. */
export function limit(fallback = defaultLimit, max = maxLimit): QueryParam<number> {
  const schema = Type.Integer({
    minimum: 1,
    maximum: max,
    description: `Size of a page; more than ${max} means ${max}`,
  });
  const param = scalar(schema, (text, name) => {
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= 1)) throw badRequest(`${name} must be a positive integer`);
    return Math.min(value, max);
  });
  return { ...optional(param, fallback), asks: "rows" };
}

/** Longer than any cursor that the service issues. */
const maxCursorChars = 512;

/** The `next.cursor` of the previous page. The route validates its content. */
export function cursor(): QueryParam<string | undefined> {
  return optional(
    text({ maxChars: maxCursorChars, description: "`next.cursor` of the previous page, unchanged" }),
  );
}
