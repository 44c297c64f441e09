import { invalid, type Rejection } from "../rejection.ts";
import { type CastAddBody, type CastRemoveBody, CastType, type Embed } from "../wire/generated/message.ts";
import { checkCastHash, checkCastId, checkFid, checkUrl, utf8Length } from "./fields.ts";

/** Limits of the text in bytes, inclusive, by cast type. */
const TEXT_BYTES: Readonly<Record<number, readonly [min: number, max: number]>> = {
  [CastType.CAST_TYPE_CAST]: [0, 320],
  [CastType.CAST_TYPE_LONG_CAST]: [321, 1024],
  [CastType.CAST_TYPE_TEN_K_CAST]: [1025, 10_000],
};

const MAX_EMBEDS = 4;
const MAX_DEPRECATED_EMBEDS = 2;
const MAX_MENTIONS = 10;

/** Farcaster seconds. From this time on, casts use `embeds` instead of `embeds_deprecated`. */
const DEPRECATED_EMBEDS_END = 73_612_800;

/** Validates a CastAdd. `timestamp` is the message's, in Farcaster seconds. */
export function validateCastAdd(body: CastAddBody, timestamp: number): Rejection | undefined {
  const limits = TEXT_BYTES[body.type];
  if (limits === undefined) return invalid("cast type is unknown");
  const textBytes = utf8Length(body.text);
  if (textBytes < limits[0] || textBytes > limits[1]) {
    return invalid(`text must be ${limits[0]} to ${limits[1]} bytes for this cast type`);
  }
  return (
    validateEmbeds(body, timestamp) ??
    validateMentions(body, textBytes) ??
    (isEmpty(body) ? invalid("cast is empty") : validateParent(body))
  );
}

export function validateCastRemove(body: CastRemoveBody): Rejection | undefined {
  return checkCastHash(body.targetHash, "target_hash");
}

function isEmpty(body: CastAddBody): boolean {
  return (
    body.text === "" &&
    body.embeds.length === 0 &&
    body.embedsDeprecated.length === 0 &&
    body.mentions.length === 0
  );
}

function validateEmbeds(body: CastAddBody, timestamp: number): Rejection | undefined {
  if (body.embeds.length > MAX_EMBEDS) return invalid(`more than ${MAX_EMBEDS} embeds`);
  if (body.embedsDeprecated.length > 0) {
    if (timestamp >= DEPRECATED_EMBEDS_END) return invalid("embeds_deprecated is no longer allowed");
    if (body.embeds.length > 0) return invalid("embeds and embeds_deprecated exclude each other");
    if (body.embedsDeprecated.length > MAX_DEPRECATED_EMBEDS) {
      return invalid(`more than ${MAX_DEPRECATED_EMBEDS} deprecated embeds`);
    }
  }
  for (const embed of body.embeds) {
    const rejection = validateEmbed(embed);
    if (rejection) return rejection;
  }
  for (const url of body.embedsDeprecated) {
    const rejection = checkUrl(url, "embed");
    if (rejection) return rejection;
  }
  return undefined;
}

function validateEmbed({ embed }: Embed): Rejection | undefined {
  switch (embed?.$case) {
    case "url":
      return checkUrl(embed.value, "embed");
    case "castId":
      return checkCastId(embed.value, "embed");
    default:
      return invalid("embed is empty");
  }
}

/**
 * Validates mentions. Positions are byte offsets. They may point into the middle of a character, because the reference node
 * only checks that they do not exceed the length of the text.
 */
function validateMentions(body: CastAddBody, textBytes: number): Rejection | undefined {
  const { mentions, mentionsPositions } = body;
  if (mentions.length > MAX_MENTIONS) return invalid(`more than ${MAX_MENTIONS} mentions`);
  if (mentions.length !== mentionsPositions.length) {
    return invalid("mentions and mentions_positions differ in count");
  }
  for (const fid of mentions) {
    const rejection = checkFid(fid, "mention");
    if (rejection) return rejection;
  }
  let previous = 0;
  for (const position of mentionsPositions) {
    if (position > textBytes) return invalid("mention position is beyond the text");
    if (position < previous) return invalid("mention positions must not decrease");
    previous = position;
  }
  return undefined;
}

function validateParent({ parent }: CastAddBody): Rejection | undefined {
  switch (parent?.$case) {
    case "parentCastId":
      return checkCastId(parent.value, "parent");
    case "parentUrl":
      return checkUrl(parent.value, "parent_url");
    default:
      return undefined;
  }
}
