/**
 * A position in the walk through the trie below a virtual shard, as the reference node encodes it into the token of a page.
 * The token is not an interface of that node: tokens made here read what its own tokens cannot reach, and may be refused.
 */
export interface PageToken {
  /** The nibbles below the virtual shard that lead to the current node. */
  readonly path: readonly number[];
  /** The remaining children: of the virtual shard's node, and of each node on the path. Descending. */
  readonly levels: readonly (readonly number[])[];
}

const FID_NIBBLES = 8;
/** A path is shorter than any key. */
const MAX_LEVELS = 128;
const LENGTH_BYTES = 4;
/** The subtree of an account that contains the messages of gasless keys. */
export const KEYS_NIBBLE = 8;

/** Returns the token in a text; undefined if it has another form. */
export function decodePageToken(text: string): PageToken | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length < LENGTH_BYTES) return undefined;
  const count = bytes.readUInt32BE(0);
  if (count < 2 || count > MAX_LEVELS) return undefined;
  const parts: number[][] = [];
  let at = LENGTH_BYTES;
  while (parts.length < count) {
    if (at + LENGTH_BYTES > bytes.length) return undefined;
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    parts.push([...bytes.subarray(at + LENGTH_BYTES, end)]);
    at = end;
  }
  const [path = [], ...levels] = parts;
  return path.length === levels.length - 1 && at === bytes.length ? { path, levels } : undefined;
}

export function encodePageToken({ path, levels }: PageToken): string {
  const parts = [path, ...levels].flatMap((part) => [lengthBytes(part.length), Buffer.from(part)]);
  return Buffer.concat([lengthBytes(levels.length + 1), ...parts]).toString("base64");
}

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32BE(length);
  return bytes;
}

/** Returns the token that reads some subtrees of an account and nothing else. */
export function accountToken(fid: number, kinds: readonly number[]): PageToken {
  const path = nibblesOf(fid);
  return { path, levels: [...path.map(() => []), descending(kinds)] };
}

/**
 * Returns the token that reads the rest of an account from a position in it, except its gasless keys; undefined for a
 * position outside of it.
 */
export function restOfAccount(place: PageToken | undefined, fid: number): PageToken | undefined {
  const nibbles = nibblesOf(fid);
  if (!place || !nibbles.every((nibble, depth) => place.path[depth] === nibble)) return undefined;
  const isInKeys = place.path[FID_NIBBLES] === KEYS_NIBBLE;
  const path = isInKeys ? nibbles : place.path;
  const levels = place.levels.slice(0, path.length + 1).map((level, depth) => {
    if (depth < FID_NIBBLES) return [];
    return depth === FID_NIBBLES ? level.filter((nibble) => nibble !== KEYS_NIBBLE) : level;
  });
  return { path, levels };
}

/**
 * Returns the token that reads the accounts after an fid.
 *
 * @param fids the accounts of the virtual shard.
 */
export function tokenAfter(fid: number, fids: readonly number[]): PageToken {
  const path = nibblesOf(fid);
  const levels = path.map((nibble, depth) =>
    childrenAt(path.slice(0, depth), fids).filter((n) => n > nibble),
  );
  return { path, levels: [...levels.map(descending), []] };
}

/**
 * Returns the tokens that read, in order, what is between a position and an account.
 *
 * @param place undefined for the start.
 * @param fids the accounts of the virtual shard.
 */
export function tokensBetween(
  place: PageToken | undefined,
  fid: number,
  fids: readonly number[],
): PageToken[] {
  const nibbles = nibblesOf(fid);
  const tokens: PageToken[] = [];
  let shared = 0;
  if (place) {
    const { path, levels } = place;
    while (shared < FID_NIBBLES && path[shared] === nibbles[shared]) shared++;
    if (shared === FID_NIBBLES) return [];
    const left = levels.map((level, depth) => {
      if (depth > shared) return level;
      return depth < shared ? [] : level.filter((nibble) => nibble < (nibbles[depth] ?? 0));
    });
    if (left.some((level) => level.length > 0)) tokens.push({ path, levels: left });
    shared += 1;
  }
  for (let depth = shared; depth < FID_NIBBLES; depth++) {
    const path = nibbles.slice(0, depth);
    const before = childrenAt(path, fids).filter((nibble) => nibble < (nibbles[depth] ?? 0));
    if (before.length > 0) tokens.push({ path, levels: [...path.map(() => []), descending(before)] });
  }
  return tokens;
}

/** Returns the children that the accounts create below the node at a path. */
function childrenAt(path: readonly number[], fids: readonly number[]): number[] {
  const children = new Set<number>();
  for (const fid of fids) {
    const nibbles = nibblesOf(fid);
    if (path.every((nibble, depth) => nibbles[depth] === nibble)) children.add(nibbles[path.length] ?? 0);
  }
  return [...children];
}

function descending(nibbles: readonly number[]): number[] {
  return nibbles.toSorted((a, b) => b - a);
}

function nibblesOf(fid: number): number[] {
  return Array.from({ length: FID_NIBBLES }, (_, depth) => (fid >>> (4 * (FID_NIBBLES - 1 - depth))) & 15);
}
