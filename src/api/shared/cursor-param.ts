import { ApiError } from "../../http/errors.ts";
import type { CursorCodec, Key, KeyShape } from "../../read/cursor.ts";

/**
 * The position that a `cursor` parameter holds; undefined where none was given.
 * @throws ApiError `badRequest` for anything that this endpoint did not hand out.
 */
export function decodeCursor<Shape extends KeyShape>(
  codec: CursorCodec<Shape>,
  given: string | undefined,
): Key<Shape> | undefined {
  if (given === undefined) return undefined;
  const key = codec.decode(given);
  if (!key) throw new ApiError("badRequest", "cursor is not one of this endpoint");
  return key;
}
