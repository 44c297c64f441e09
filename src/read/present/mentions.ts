import type { Mention } from "../hydrate/casts.ts";

/** A text with names put in, and where they stand in it (UTF-16 offsets, end exclusive), in text order. */
export interface TextWithNames {
  readonly text: string;
  readonly ranges: readonly { readonly start: number; readonly end: number }[];
}

/**
 * Puts `@name` in at the byte offsets at which the protocol stores mentions. Offsets are clamped to the text and to
 * the character that they fall into, since the protocol lets them point anywhere up to its length.
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

/** The offset of the first byte of the character that `offset` falls into. */
function characterStart(bytes: Buffer, offset: number): number {
  let start = offset;
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
