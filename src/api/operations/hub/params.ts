import { type TSchema, Type } from "@sinclair/typebox";
import {
  badRequest,
  type Documented,
  list,
  optional,
  parseFid,
  type QueryParam,
  scalar,
  text,
} from "../../../http/request/params.ts";
import { decodeBase58 } from "../../../lib/base58.ts";
import { MESSAGE_PAGES } from "../../../read/hub/page.ts";
import { type EnumNames, numberOf } from "./names.ts";

/** Returns a parameter that clients may write in snake case or camel case. The document shows the snake case. */
function spelled<T>(snakeCase: string, param: QueryParam<T>): QueryParam<T> {
  const camelCase = snakeCase.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { ...param, keys: [...new Set([snakeCase, camelCase])] };
}

const MAX_BYTES = 1024;
const SOLANA_BYTES = 32;

/** An fid, or `UNKNOWN_FID`. */
function fidOf(value: string, name: string): number {
  const fid = parseFid(value);
  if (fid === undefined) throw badRequest(`${name} must be an unsigned integer`);
  return fid;
}

const fidSchema = (documented: Documented = {}): TSchema =>
  Type.Integer({ format: "int64", minimum: 0, ...documented });

export const fidParam = (name = "fid", documented?: Documented): QueryParam<number> =>
  spelled(name, scalar(fidSchema(documented), fidOf));

export const fidListParam = (name: string, maxItems: number): QueryParam<readonly number[]> =>
  spelled(name, list(fidSchema(), fidOf, { maxItems: maxItems + 1 }));

/** Bytes in hex, with or without `0x`. 32 bytes may also be in base58. */
export function bytesParam(name: string, documented: Documented = {}): QueryParam<Uint8Array> {
  const schema = Type.String({
    description: "Hex, with or without `0x`; 32 bytes also as base58",
    ...documented,
  });
  return spelled(
    name,
    scalar(schema, (value) => {
      const digits = value.startsWith("0x") || value.startsWith("0X") ? value.slice(2) : value;
      if (digits.length <= 2 * MAX_BYTES && /^([0-9a-fA-F]{2})*$/.test(digits))
        return new Uint8Array(Buffer.from(digits, "hex"));
      const solana = decodeBase58(value, SOLANA_BYTES);
      if (solana === undefined) throw badRequest(`${name} must be hex`);
      return solana;
    }),
  );
}

/** A number of the protocol: the number, its name, or its name without the prefix, in any case. */
export function enumParam(name: string, names: EnumNames, documented: Documented = {}): QueryParam<number> {
  const words = Object.values(names.byNumber).join(", ");
  const schema = Type.String({
    description: `A number or a name, also without its prefix: ${words}`,
    ...documented,
  });
  return spelled(
    name,
    scalar(schema, (value) => {
      const number = numberOf(names, value);
      if (number === undefined) throw badRequest(`${name} must be a number or one of ${words}`);
      return number;
    }),
  );
}

export const textParam = (name: string, documented?: Documented): QueryParam<string> =>
  spelled(name, text({ maxChars: MAX_BYTES, ...documented }));

export function integerParam(name: string, description: string): QueryParam<number> {
  return spelled(
    name,
    scalar(Type.Integer({ minimum: 0, description }), (value) => {
      if (!/^\d{1,15}$/.test(value)) throw badRequest(`${name} must be an unsigned integer`);
      return Number(value);
    }),
  );
}

function flagParam(name: string, description: string): QueryParam<boolean> {
  return spelled(
    name,
    scalar(Type.Boolean({ description }), (value) => {
      if (value === "1" || value === "true") return true;
      if (value === "0" || value === "false") return false;
      throw badRequest(`${name} must be 1, true, 0 or false`);
    }),
  );
}

/** The token of the previous page, in base64 of either alphabet. A `+` is received as a space. */
const tokenParam = spelled(
  "page_token",
  scalar(Type.String({ description: "`nextPageToken` of the previous page" }), (value) =>
    Buffer.from(value.replaceAll(" ", "+"), "base64"),
  ),
);

const DEFAULT_PAGE_SIZE = 1000;
const pageSizeText = integerParam("page_size", "More than 10000 means 10000; 0 is the default");

/** A page size of 0 means the default. */
const pageSizeParam: QueryParam<number> = {
  ...optional(
    {
      ...pageSizeText,
      decode: (values, name) =>
        Math.min(pageSizeText.decode(values, name) || DEFAULT_PAGE_SIZE, MESSAGE_PAGES.max),
    },
    DEFAULT_PAGE_SIZE,
  ),
  asks: "rows",
};

/** The parameters of a page. */
export const pageParams = {
  pageSize: pageSizeParam,
  pageToken: optional(tokenParam),
  reverse: optional(flagParam("reverse", "Newest first"), false),
};

/** Returns only the parameters of a page. */
export function pageOf({
  pageSize,
  pageToken,
  reverse,
}: {
  readonly pageSize: number;
  readonly pageToken: Uint8Array | undefined;
  readonly reverse: boolean;
}) {
  return { pageSize, pageToken, reverse };
}

export const timeParams = {
  startTimestamp: optional(
    integerParam("start_timestamp", "Farcaster seconds: seconds since 2021-01-01T00:00:00Z; inclusive"),
  ),
  stopTimestamp: optional(integerParam("stop_timestamp", "Farcaster seconds, inclusive")),
};

export const eventIdParam = (name: string, description: string): QueryParam<number> =>
  spelled(
    name,
    scalar(Type.Integer({ format: "int64", minimum: 0, description }), (value) => {
      const id = Number(value);
      if (!/^\d{1,16}$/.test(value) || !Number.isSafeInteger(id))
        throw badRequest(`${name} must be an unsigned integer below 2^53`);
      return id;
    }),
  );

export const shardIndexParam = optional(
  integerParam("shard_index", "A data shard; 0 or none stands for all of them"),
);

export const shardParam = optional(integerParam("shard_id", "A data shard; all of them without it"));

/** Whether messages are shown with their signed bytes. */
export const dataBytesParam = {
  withDataBytes: optional(
    flagParam("with_data_bytes", "Adds `dataBytes`, the signed bytes in base64, to each message"),
    false,
  ),
};
