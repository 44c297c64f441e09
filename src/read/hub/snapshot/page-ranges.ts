import { decodePageToken, encodePageToken, type PageToken } from "../../../trust/page-token.ts";
import { MAX_KEY_BYTES } from "../../../trust/trie-key.ts";

/** Keys of a virtual shard from `from` to `to`, both inclusive. */
export interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** Nibbles of the virtual shard, which precede those of a token. */
const TOP_NIBBLES = 2;
const MAX_NIBBLES = 2 * MAX_KEY_BYTES - TOP_NIBBLES;
const ALL = Array.from({ length: 16 }, (_, index) => 15 - index);
const WHOLE: PageToken = { path: [], levels: [ALL] };

/** The rest of a walk through a virtual shard. Accepts tokens of the reference node, and handmade ones in its format. */
export class PageWalk {
  readonly #virtualShard: number;
  readonly #token: PageToken;

  private constructor(virtualShard: number, token: PageToken) {
    this.#virtualShard = virtualShard;
    this.#token = token;
  }

  /** @returns undefined for a text that is not a token. */
  static at(virtualShard: number, text: string | undefined): PageWalk | undefined {
    const token = text === undefined || text === "" ? WHOLE : decodePageToken(text);
    if (!token || token.path.length > MAX_NIBBLES || !isWalk(token)) return undefined;
    return new PageWalk(virtualShard, token);
  }

  /** Returns the remaining keys, in ascending order. */
  ranges(): KeyRange[] {
    const { path, levels } = this.#token;
    const ranges: KeyRange[] = [];
    for (let depth = levels.length - 1; depth >= 0; depth--)
      for (const nibble of (levels[depth] ?? []).toSorted((a, b) => a - b))
        ranges.push(this.#range([...path.slice(0, depth), nibble]));
    return ranges;
  }

  /** Returns the token for what remains after a key in one of the ranges. */
  tokenAfter(key: Uint8Array): string {
    const nibbles = [...key].flatMap((byte) => [byte >> 4, byte & 15]).slice(TOP_NIBBLES);
    const { path, levels } = this.#token;
    // Finds the subtree that contains the key. Its earlier siblings have been read.
    let depth = 0;
    while (depth < path.length && path[depth] === nibbles[depth]) depth++;
    const left = nibbles.map((nibble, at) => {
      if (at > depth) return ALL.filter((other) => other > nibble);
      const level = levels[at] ?? [];
      return at < depth ? level : level.filter((other) => other > nibble);
    });
    return encodePageToken({ path: nibbles.slice(0, -1), levels: left });
  }

  #range(nibbles: readonly number[]): KeyRange {
    return { from: this.#key(nibbles, 0), to: this.#key(nibbles, 15) };
  }

  #key(nibbles: readonly number[], fill: number): Uint8Array {
    const key = new Uint8Array(MAX_KEY_BYTES).fill(fill * 17);
    key[0] = this.#virtualShard;
    for (const [index, nibble] of nibbles.entries()) {
      const at = (index + TOP_NIBBLES) >> 1;
      const before = key[at] as number;
      key[at] = index % 2 === 0 ? (nibble << 4) | (before & 15) : (before & 0xf0) | nibble;
    }
    return key;
  }
}

/**
 * Reports whether a token is valid: its values are nibbles, and each level lists, without repetition, only children after
 * the path, so that the walk is in ascending order.
 */
function isWalk({ path, levels }: PageToken): boolean {
  return (
    path.every((nibble) => nibble < 16) &&
    levels.every(
      (level, depth) =>
        new Set(level).size === level.length &&
        level.every((nibble) => nibble < 16 && (depth >= path.length || nibble > (path[depth] ?? 0))),
    )
  );
}
