import { ApiError } from "../http/errors.ts";

/** Longer than any operation name. */
const MAX_OP_CHARS = 64;

/** Reads one header of a signed request. It throws 401 if the header is missing or `decode` returns undefined. */
export function headerReader<T>(
  name: string,
  decode: (text: string) => T | undefined,
): (headers: Headers) => T {
  return (headers) => {
    const text = headers.get(name);
    if (text === null) throw new ApiError("unauthorized", `missing header ${name}`);
    const decoded = decode(text);
    if (decoded === undefined) throw new ApiError("unauthorized", `malformed header ${name}`);
    return decoded;
  };
}

/** Returns the name of an operation; undefined if it is longer than any. */
export const decodeOp = (text: string) => (text.length <= MAX_OP_CHARS ? text : undefined);
