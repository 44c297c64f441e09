const MAX_SNIFFED_BYTES = 1024;
// Two adjacent `\s*` would backtrack in quadratic time, and a stranger decides how many spaces a header contains.
const IN_META = /<meta[^>]{0,512}?charset\s*=\s*(?:["']\s*)?([a-z0-9_:-]{1,40})/i;
const IN_HEADER = /charset\s*=\s*(?:"\s*)?([a-z0-9_:-]{1,40})/i;

/** Decodes a page by its byte order mark, its header, or a `meta` in its first KB, otherwise as UTF-8. Invalid bytes become U+FFFD. */
export function decodePage(body: Uint8Array, contentType: string): string {
  const label = markOf(body) ?? knownLabel(IN_HEADER.exec(contentType)?.[1]) ?? knownLabel(metaOf(body));
  return new TextDecoder(label as never).decode(body);
}

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0xff && b === 0xfe ? "utf-16le" : undefined;
}

function metaOf(body: Uint8Array): string | undefined {
  const head = Buffer.from(body.subarray(0, MAX_SNIFFED_BYTES)).toString("latin1");
  const label = IN_META.exec(head)?.[1];
  // A page whose `meta` is readable as ASCII is not in UTF-16.
  return label !== undefined && /^utf-?16/i.test(label) ? "utf-8" : label;
}

function knownLabel(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    new TextDecoder(label as never);
    return label;
  } catch {
    return undefined;
  }
}
