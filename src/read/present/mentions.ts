import type { Mention } from "../hydrate/casts.ts";

/** A text with inserted names, and their ranges in text order (UTF-16 offsets, end exclusive). */
export interface TextWithNames {
  readonly text: string;
  readonly ranges: readonly { readonly start: number; readonly end: number }[];
}

/**
 * Inserts `@name` at the byte offsets at which the protocol stores mentions. An offset beyond the text is clamped to its
 * end, and one inside a character to the start of the character: the protocol accepts any offset up to the text's length.
 */
export function insertMentionNames(
  text: string,
  mentions: readonly Mention[],
  nameOf: (fid: number) => string,
): TextWithNames {
  if (mentions.length === 0) return { text, ranges: [] };
  const bytes = Buffer.from(text);
  const ranges: { start: number; end: number }[] = [];
  let out = "";
  let at = 0;
  for (const [fid, byteOffset] of mentions) {
    const until = Math.max(at, characterStart(bytes, Math.min(byteOffset, bytes.length)));
    out += bytes.toString("utf8", at, until);
    at = until;
    const name = `@${nameOf(fid)}`;
    ranges.push({ start: out.length, end: out.length + name.length });
    out += name;
  }
  return { text: out + bytes.toString("utf8", at), ranges };
}

/** Returns the offset of the first byte of the character that contains `offset`. */
function characterStart(bytes: Buffer, offset: number): number {
  let start = offset;
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
