import { cursorCodec } from "../../cursor.ts";

/** Creates the cursor codec of an endpoint whose list has the newest casts first; equal times by hash, greatest first. */
export function timedCursor(endpoint: string) {
  return cursorCodec(endpoint, ["int", "hash"]);
}
