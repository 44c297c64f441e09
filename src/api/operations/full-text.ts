import { ApiError } from "../../http/errors.ts";
import type { ReadSource } from "../../read/run-query.ts";

const NO_FULL_TEXT = "the node does not index the words of casts (index.full_text)";

/** The 501 response of operations that need the full-text index. */
export const WITHOUT_FULL_TEXT = {
  when: "With `index.full_text = false`.",
  message: NO_FULL_TEXT,
} as const;

/** @throws ApiError `notImplemented` if the node has no full-text index. */
export function requireFullText({ fullText }: Pick<ReadSource, "fullText">): void {
  if (!fullText) throw new ApiError("notImplemented", NO_FULL_TEXT);
}
