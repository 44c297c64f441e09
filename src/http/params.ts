import { type TSchema, Type } from "@sinclair/typebox";
import { ApiError } from "./errors.ts";
import type { RawQuery } from "./query-string.ts";

/** One query parameter: how it is documented and how its text becomes a value. */
export interface QueryParam<T> {
  /** What the OpenAPI document says about it; its type is the value's, not that of the text. */
  readonly schema: TSchema;
  readonly required: boolean;
  /** The keys that it is taken from, the documented one first; its own name alone where this is left out. */
  readonly keys?: readonly string[];
  /**
   * @param values all values of the key, none where the key is absent
   * @throws ApiError `badRequest` naming the parameter
   */
  readonly decode: (values: readonly string[], name: string) => T;
}

export type QueryParams = Readonly<Record<string, QueryParam<unknown>>>;

export type DecodedQuery<Q extends QueryParams> = {
  [K in keyof Q]: Q[K] extends QueryParam<infer T> ? T : never;
};

/** Decodes the parameters that a route knows; others are ignored. */
export function decodeQuery<Q extends QueryParams>(params: Q, raw: RawQuery): DecodedQuery<Q> {
  const decoded: Record<string, unknown> = {};
  for (const name in params) {
    const param = params[name];
    const key = param?.keys === undefined ? name : givenKey(param.keys, raw);
    decoded[name] = param?.decode(raw[key] ?? [], key);
  }
  return decoded as DecodedQuery<Q>;
}

/** The first of the keys that is there, else the documented one, which the refusal then names. */
function givenKey(keys: readonly string[], raw: RawQuery): string {
  return keys.find((key) => raw[key] !== undefined) ?? keys[0] ?? "";
}

/** The same parameter taken from other keys, the documented one first. */
export function renamed<T>(param: QueryParam<T>, ...keys: readonly [string, ...string[]]): QueryParam<T> {
  return { ...param, keys };
}

/**
 * Stands for every fid above 2^53 - 1. Such a fid is well formed and does not exist; real fids start at 1, so no row
 * ever matches this one, and nothing is rounded to somebody else's fid.
 */
export const UNKNOWN_FID = -1;

/** What the OpenAPI document may say about a parameter. */
export interface Documented {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** The error about a parameter that is not as it must be. */
export const refuse = (message: string) => new ApiError("badRequest", message);

/** The one value of a key; undefined where it is absent or empty. */
function single(values: readonly string[], name: string): string | undefined {
  if (values.length > 1) throw refuse(`query parameter ${name} must be given once`);
  return values[0] === "" ? undefined : values[0];
}

type ParseText<T> = (text: string, name: string) => T;

/** A parameter that must be there. The empty value counts as absent. */
export function scalar<T>(schema: TSchema, parse: ParseText<T>): QueryParam<T> {
  return {
    schema,
    required: true,
    decode(values, name) {
      const text = single(values, name);
      if (text === undefined) throw refuse(`missing query parameter ${name}`);
      return parse(text, name);
    },
  };
}

/** The same parameter, but it may be absent. */
export function optional<T>(param: QueryParam<T>): QueryParam<T | undefined>;
export function optional<T>(param: QueryParam<T>, fallback: T): QueryParam<T>;
export function optional<T>(param: QueryParam<T>, fallback?: T): QueryParam<T | undefined> {
  const { schema, decode } = param;
  const documented = fallback === undefined ? schema : { ...schema, default: fallback };
  return {
    schema: documented,
    required: false,
    decode: (values, name) => (values.every((value) => value === "") ? fallback : decode(values, name)),
  };
}

export interface ListOptions extends Documented {
  /** More items than this are refused (`http.max_ids` for ids). */
  readonly maxItems: number;
}

/**
 * A list that must have an item: comma-separated, or by repeating the key, or both. Empty items are dropped, a repeated
 * item counts towards the limit and is taken once, in the order of first mention.
 */
export function list<T>(items: TSchema, parse: ParseText<T>, options: ListOptions): QueryParam<readonly T[]> {
  const { maxItems, ...documented } = options;
  return {
    schema: Type.Array(items, { minItems: 1, maxItems, ...documented }),
    required: true,
    decode(values, name) {
      const unique = new Set<T>();
      let count = 0;
      for (const value of values) {
        for (const item of value.split(",")) {
          const text = item.trim();
          if (text === "") continue;
          count += 1;
          if (count > maxItems) throw refuse(`${name} must hold at most ${maxItems} items`);
          unique.add(parse(text, name));
        }
      }
      if (count === 0) throw refuse(`missing query parameter ${name}`);
      return [...unique];
    },
  };
}

const u64Digits = /^[0-9]{1,20}$/;
const maxU64 = 2n ** 64n - 1n;
/** Numbers of fewer digits are exact as they are. */
const exactDigits = 15;

/** The text of a u64, decimal digits only, as a fid; undefined where it is none. Never goes through a rounded number. */
export function parseFid(text: string): number | undefined {
  if (!u64Digits.test(text)) return undefined;
  if (text.length <= exactDigits) return Number(text);
  const exact = BigInt(text);
  if (exact > maxU64) return undefined;
  return exact > BigInt(Number.MAX_SAFE_INTEGER) ? UNKNOWN_FID : Number(exact);
}

const fidSchema = (documented: Documented = {}) =>
  Type.Integer({ format: "int64", minimum: 0, examples: [3], ...documented });

function fidOf(text: string, name: string): number {
  const parsed = parseFid(text);
  if (parsed === undefined) throw refuse(`${name} must be an unsigned integer`);
  return parsed;
}

export function fid(documented?: Documented): QueryParam<number> {
  return scalar(fidSchema(documented), fidOf);
}

export function fidList(options: ListOptions): QueryParam<readonly number[]> {
  const parse: ParseText<number> = (text, name) => {
    const parsed = parseFid(text);
    if (parsed === undefined) throw refuse(`${name} must be a list of unsigned integers`);
    return parsed;
  };
  return list(Type.Integer({ format: "int64", minimum: 0 }), parse, { examples: [[2, 3]], ...options });
}

export type Hex = `0x${string}`;

const hex20Bytes = /^0x[0-9a-fA-F]{40}$/;
const hex20Schema = (documented: Documented = {}) =>
  Type.String({ pattern: "^0x[0-9a-fA-F]{40}$", ...documented });

/** Cast hashes and Ethereum addresses are both 20 bytes: `0x` and 40 hex digits of either case, taken as lower case. */
function hex20Of(text: string, name: string): Hex {
  if (!hex20Bytes.test(text)) throw refuse(`${name} must be 0x and 40 hex digits`);
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

/** UTF-16 units; room for any name, query or URL that the protocol allows. */
const defaultMaxChars = 1024;

export interface TextOptions extends Documented {
  readonly maxChars?: number;
}

function boundedText(maxChars: number): ParseText<string> {
  return (text, name) => {
    if (text.length > maxChars) throw refuse(`${name} must be at most ${maxChars} characters`);
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

/** One of a few words. */
export function choice<const T extends string>(words: readonly T[], documented?: Documented): QueryParam<T> {
  const schema = Type.Unsafe<T>({ type: "string", enum: [...words], ...documented });
  return scalar(schema, (given, name) => {
    const word = words.find((candidate) => candidate === given);
    if (word === undefined) throw refuse(`${name} must be one of ${words.join(", ")}`);
    return word;
  });
}

const digits = /^[0-9]{1,20}$/;

/** A whole number within a range. */
export function integer(
  options: Documented & { readonly min: number; readonly max: number },
): QueryParam<number> {
  const { min, max, ...documented } = options;
  return scalar(Type.Integer({ minimum: min, maximum: max, ...documented }), (given, name) => {
    const value = digits.test(given) ? Number(given) : Number.NaN;
    if (!(value >= min && value <= max)) throw refuse(`${name} must be an integer from ${min} to ${max}`);
    return value;
  });
}

const defaultLimit = 10;
const maxLimit = 100;

/** The size of a page. More than is allowed means as much as is allowed. */
export function limit(fallback = defaultLimit, max = maxLimit): QueryParam<number> {
  const schema = Type.Integer({
    minimum: 1,
    maximum: max,
    description: `Size of a page; more than ${max} means ${max}`,
  });
  const param = scalar(schema, (given, name) => {
    const value = /^[0-9]+$/.test(given) ? Number(given) : Number.NaN;
    if (!(value >= 1)) throw refuse(`${name} must be a positive integer`);
    return Math.min(value, max);
  });
  return optional(param, fallback);
}

/** Longer than any cursor that is ever given out. */
const maxCursorChars = 512;

/** The `next.cursor` of the page before; what it says is for the route to check. */
export function cursor(): QueryParam<string | undefined> {
  return optional(
    text({ maxChars: maxCursorChars, description: "`next.cursor` of the previous page, as it was given" }),
  );
}
