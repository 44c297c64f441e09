import { ApiError } from "../../http/errors.ts";
import type { CursorCodec, Key, KeyShape } from "../../read/cursor.ts";

/**
 * Decodes a `cursor` parameter to its position; undefined if the parameter is absent.
 * @throws ApiError `badRequest` for a cursor that this endpoint did not issue
 */
export function decodeCursor<Shape extends KeyShape>(
  codec: CursorCodec<Shape>,
  cursor: string | undefined,
): Key<Shape> | undefined {
  if (cursor === undefined) return undefined;
  const key = codec.decode(cursor);
  if (!key) throw new ApiError("badRequest", "cursor is not one of this endpoint");
  return key;
}
