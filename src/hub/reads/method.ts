import { err, mapOk, type Result } from "../../lib/result.ts";
import type { Page } from "../../read/hub/page.ts";
import type { Refusal } from "../../read/hub/refusal.ts";
import { encodeList } from "../../read/hub/wire-bytes.ts";
import type { RawMethod } from "../raw-service.ts";
import type { RawCall } from "../running-call.ts";
import { bytes, flag, type RequestOf, readRequest, u32 } from "./request.ts";

/** Declares read methods. */

type Shape = Parameters<typeof readRequest>[1];
type Listed<Item> = Promise<Result<Page<Item>, Refusal>>;

export const NOTHING = new Uint8Array();

/** The fields of a page, whose first field number differs between requests. */
export const page = (first: number) => ({
  pageSize: u32(first),
  pageToken: bytes(first + 1),
  reverse: flag(first + 2),
});
/** Declares a method that returns a single object. */
export function one<const S extends Shape>(
  shape: S,
  read: (
    request: RequestOf<S>,
    call: RawCall,
  ) => Result<Uint8Array, Refusal> | Promise<Result<Uint8Array, Refusal>>,
): RawMethod {
  return async (encoded, call) => {
    const request = readRequest(encoded, shape);
    return request.ok ? read(request.value, call) : err(request.error);
  };
}

/** Declares a method that returns a page of encoded messages or events. */
export function list<const S extends Shape>(
  shape: S,
  read: (request: RequestOf<S>, call: RawCall) => Listed<Uint8Array>,
): RawMethod {
  return one(shape, async (request, call) => mapOk(await read(request, call), encodePage));
}

export function encodePage({ items, nextToken }: Page<Uint8Array>): Uint8Array {
  return encodeList(items, { field: 1, tokenField: 2, token: nextToken });
}

export function withFid<Query extends { readonly fid: number | undefined }>(query: Query) {
  return { ...query, fid: query.fid ?? 0 };
}
