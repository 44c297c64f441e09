import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue, readList, readObject } from "../../management/fields.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import { type CastAddBody, CastType, type Embed } from "../../protocol/wire/generated/message.ts";
import { type CastLookups, readCastHash, readFid, readUrl, resolveCastOrUrl } from "./fields.ts";
import { cutMentions, type MentionLookups } from "./mentions.ts";

const MAX_EMBEDS = 4;

/** Maximum number of bytes of the text without mentions, by cast type. Rules of the protocol. */
const TEXT_BYTES = [
  [320, CastType.CAST_TYPE_CAST],
  [1024, CastType.CAST_TYPE_LONG_CAST],
  [10_000, CastType.CAST_TYPE_TEN_K_CAST],
] as const;
/** Longer texts are refused before their names are looked up: even without ten names of 25 characters they would be too long. */
const MAX_SENT_BYTES = 10_000 + 10 * "@".length + 10 * 25;
const TOO_LONG = "text must have at most 10000 bytes without its mentions";

export interface ComposeCastLookups extends MentionLookups, CastLookups {
  /** Returns the parent URL of a channel, as reads show it. */
  urlOfChannel(channelId: string): string | undefined;
  /** Returns the channel of a parent URL. */
  channelOf(parentUrl: string): string;
}

/** A cast to publish, and the text as it was sent. */
export interface ComposedCast {
  readonly body: CastAddBody;
  readonly text: string;
}

/**
 * Builds the body of a cast from that of a request: `text`, `embeds`, `parent`, `parent_author_fid`, `channel_id`. The text is changed
 * only by cutting out the mentions.
 */
export function composeCast(lookups: ComposeCastLookups, request: JsonObject): Result<ComposedCast, Refusal> {
  const text = readCastText(ownValue(request, "text"));
  if (!text.ok) return text;
  const embeds = readEmbeds(ownValue(request, "embeds"));
  if (!embeds.ok) return embeds;
  const parent = readParent(lookups, request);
  if (!parent.ok) return parent;
  const cut = cutMentions(text.value, lookups);
  if (cut.text === "" && cut.mentions.length === 0 && embeds.value.length === 0) {
    return badField("a cast needs text or embeds");
  }
  const type = castTypeOf(cut.text);
  if (!type.ok) return type;
  const body: CastAddBody = {
    ...cut,
    type: type.value,
    embeds: embeds.value,
    embedsDeprecated: [],
    parent: parent.value,
  };
  return ok({ body, text: text.value });
}

function readCastText(value: unknown): Result<string, Refusal> {
  if (value === undefined || value === null) return ok("");
  if (typeof value !== "string" || !value.isWellFormed()) {
    return badField("text must be a string of well-formed Unicode");
  }
  return Buffer.byteLength(value) <= MAX_SENT_BYTES ? ok(value) : badField(TOO_LONG);
}

function castTypeOf(text: string): Result<CastType, Refusal> {
  const bytes = Buffer.byteLength(text);
  const found = TEXT_BYTES.find(([maxBytes]) => bytes <= maxBytes);
  return found ? ok(found[1]) : badField(TOO_LONG);
}

function readEmbeds(value: unknown): Result<Embed[], Refusal> {
  return value === undefined || value === null ? ok([]) : readList(MAX_EMBEDS, readEmbed)(value, "embeds");
}

function readEmbed(value: unknown, name: string): Result<Embed, Refusal> {
  const entry = readObject(value, name);
  if (!entry.ok) return entry;
  const [key, ...others] = Object.keys(entry.value);
  if (others.length > 0 || key === undefined) return badField(`${name} must have url or cast_id alone`);
  const member = entry.value[key];
  switch (key) {
    case "url": {
      const url = readUrl(member, `${name}.url`);
      return url.ok ? ok({ embed: { $case: "url", value: url.value } }) : url;
    }
    case "cast_id":
    case "castId": {
      const castId = readObject(member, `${name}.${key}`);
      if (!castId.ok) return castId;
      const hash = readCastHash(ownValue(castId.value, "hash"), `${name}.${key}.hash`);
      if (!hash.ok) return hash;
      const fid = readFid(ownValue(castId.value, "fid"), `${name}.${key}.fid`);
      if (!fid.ok) return fid;
      return ok({ embed: { $case: "castId", value: { fid: fid.value, hash: hash.value } } });
    }
    default:
      return badField(`${name} must have url or cast_id`);
  }
}

function readParent(
  lookups: ComposeCastLookups,
  request: JsonObject,
): Result<CastAddBody["parent"], Refusal> {
  const value = ownValue(request, "parent");
  const channelId = ownValue(request, "channel_id");
  const hasParent = value !== undefined && value !== null && value !== "";
  const channelUrl = readChannel(lookups, channelId);
  if (!channelUrl.ok) return channelUrl;
  if (!hasParent) {
    return ok(channelUrl.value === undefined ? undefined : { $case: "parentUrl", value: channelUrl.value });
  }
  const names = { field: "parent", authorField: "parent_author_fid" };
  const parent = resolveCastOrUrl(lookups, value, names, ownValue(request, "parent_author_fid"));
  if (!parent.ok) return parent;
  if ("castId" in parent.value) {
    return channelUrl.value === undefined
      ? ok({ $case: "parentCastId", value: parent.value.castId })
      : badField("channel_id excludes a cast as parent: a reply is in the channel of its parent");
  }
  const { url } = parent.value;
  if (channelUrl.value !== undefined && lookups.channelOf(url) !== lookups.channelOf(channelUrl.value)) {
    return badField("parent is the URL of another channel than channel_id");
  }
  return ok({ $case: "parentUrl", value: url });
}

function readChannel(lookups: ComposeCastLookups, value: unknown): Result<string | undefined, Refusal> {
  if (value === undefined || value === null || value === "") return ok(undefined);
  if (typeof value !== "string") return badField("channel_id must be a string");
  const url = lookups.urlOfChannel(value);
  return url === undefined ? refused("notFound", "channel_id is an unknown channel") : ok(url);
}
