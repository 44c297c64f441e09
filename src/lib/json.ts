const utf8 = new TextDecoder("utf-8", { fatal: true });
const utf8WithBom = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Parses JSON. Returns undefined, which no JSON text produces, for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8 and removes its byte order mark. Returns undefined for invalid bytes. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Like `parseJson`, for UTF-8 bytes. A byte order mark, which some clients send, is ignored. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  return parseDecoded(bytes, utf8);
}

/** Like `parseJsonBytes`, but rejects a byte order mark. */
export function parseStrictJsonBytes(bytes: Uint8Array): unknown {
  return parseDecoded(bytes, utf8WithBom);
}

function parseDecoded(bytes: Uint8Array, decoder: TextDecoder): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Reports whether lists and objects in a parsed value are nested at most `maxLevels` deep. */
export function isNestedWithin(value: unknown, maxLevels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return maxLevels > 0 && Object.values(value).every((member) => isNestedWithin(member, maxLevels - 1));
}
