import { CastAddBody } from "../../../protocol/wire/generated/message.ts";
import { CastTag } from "./fields.ts";

const NOTHING: CastAddBody = CastAddBody.decode(new Uint8Array());
/** The lists of mentions and of positions, empty. The public client library writes them in every cast without mentions. */
const EMPTY_LISTS_BYTES = 4;

/**
 * Decodes `casts.rest`: embeds, mentions with their positions, and the type of a cast. Text and parent of the result are
 * empty. The result for a cast that has none of these is shared: do not change it.
 */
export function decodeRest(rest: Uint8Array | null): CastAddBody {
  return rest === null || hasEmptyListsOnly(rest) ? NOTHING : CastAddBody.decode(rest);
}

function hasEmptyListsOnly(rest: Uint8Array): boolean {
  return (
    rest.length === EMPTY_LISTS_BYTES &&
    rest[0] === CastTag.Mentions &&
    rest[1] === 0 &&
    rest[2] === CastTag.MentionsPositions &&
    rest[3] === 0
  );
}

/**
 * `rest` is two parts of a body: deprecated embeds and mentions, which stand before parent and text, and positions, embeds
 * and type, which stand after them. Returns where the second begins.
 */
export function startOfSecondPart(rest: Uint8Array): number {
  let at = 0;
  while (at < rest.length) {
    const tag = rest[at];
    if (tag !== CastTag.EmbedDeprecated && tag !== CastTag.Mentions) break;
    let length = 0;
    let scale = 1;
    for (at++; at < rest.length; scale *= 128) {
      const byte = rest[at++] ?? 0;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    at += length;
  }
  return Math.min(at, rest.length);
}
