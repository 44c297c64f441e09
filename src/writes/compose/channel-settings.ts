import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import {
  CastingMode,
  ChannelModerateAction,
  ChannelUpdateBody,
  MembershipMode,
  MessageType,
} from "../../protocol/wire/generated/message.ts";
import { refuse } from "../../signers/refusal.ts";
import { admitted, type ChannelAct, type Composed, findChannel } from "./channel-act.ts";
import { readCastHash } from "./fields.ts";

/** Pins `cast_hash`, or unpins the pinned cast. */
export function composePin(act: ChannelAct, isPinned: boolean): Composed {
  const castHash = isPinned
    ? readCastHash(ownValue(act.fields, "cast_hash"), "cast_hash")
    : ok(new Uint8Array());
  if (!castHash.ok) return castHash;
  const channel = findChannel(act);
  if (!channel.ok) return channel;
  const { channelId, view } = channel.value;
  return admitted(act, view, {
    type: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
    body: { $case: "channelPinBody", value: { channelId, castHash: castHash.value } },
  });
}

/** Hides `cast_hash` in the channel, or shows it again. */
export function composeModeration(act: ChannelAct, isHidden: boolean): Composed {
  const castHash = readCastHash(ownValue(act.fields, "cast_hash"), "cast_hash");
  if (!castHash.ok) return castHash;
  const channel = findChannel(act);
  if (!channel.ok) return channel;
  const { channelId, view } = channel.value;
  const action = isHidden
    ? ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE
    : ChannelModerateAction.CHANNEL_MODERATE_ACTION_UNHIDE;
  return admitted(act, view, {
    type: MessageType.MESSAGE_TYPE_CHANNEL_MODERATE,
    body: { $case: "channelModerateBody", value: { channelId, castHash: castHash.value, action } },
  });
}

/** The text settings, by their request names. */
const TEXTS = {
  name: "name",
  description: "description",
  image_url: "imageUrl",
  header: "header",
  rules: "rules",
} as const;

const CASTING_MODES: ReadonlyMap<unknown, CastingMode> = new Map([
  ["everyone", CastingMode.CASTING_MODE_EVERYONE],
  ["members_only", CastingMode.CASTING_MODE_MEMBERS_ONLY],
  ["recommended", CastingMode.CASTING_MODE_RECOMMENDED],
]);
const MEMBERSHIP_MODES: ReadonlyMap<unknown, MembershipMode> = new Map([
  ["open", MembershipMode.MEMBERSHIP_MODE_OPEN],
  ["approval", MembershipMode.MEMBERSHIP_MODE_APPROVAL],
]);

/** Older settings would clear newer ones that the index does not have yet. */
const BEHIND =
  "the index of this node is behind the network, and a change is made from the settings that it has";

/** Larger messages are refused; the rest of the data needs fewer bytes than remain. */
const MAX_SETTINGS_BYTES = 1_900;

/**
 * Changes the given settings. A message replaces all of them, so the others are taken from the index, and the message is submitted only
 * while these are still current. Null unsets a setting.
 */
export function composeSettings(act: ChannelAct): Composed {
  const changes = readSettings(act.fields);
  if (!changes.ok) return changes;
  if (Object.keys(changes.value).length === 0) return badField("no setting of the channel is given");
  const channel = findChannel(act);
  if (!channel.ok) return channel;
  const { channelId, view } = channel.value;
  if (act.isStale) return refuse("unavailable", BEHIND);
  const { settings, basis } = act.lookups.settingsOf(channelId);
  const value = { ...(settings ?? ChannelUpdateBody.create()), ...changes.value, channelId };
  if (ChannelUpdateBody.encode(value).finish().byteLength > MAX_SETTINGS_BYTES)
    return badField(`all settings of a channel together may have ${MAX_SETTINGS_BYTES} bytes`);
  return admitted(act, view, {
    type: MessageType.MESSAGE_TYPE_CHANNEL_UPDATE,
    body: { $case: "channelUpdateBody", value },
    basis,
  });
}

type Settings = Partial<Omit<ChannelUpdateBody, "channelId">>;

function readSettings(fields: JsonObject): Result<Settings, Refusal> {
  const settings: { -readonly [K in keyof Settings]: Settings[K] } = {};
  for (const [name, key] of Object.entries(TEXTS)) {
    const value = ownValue(fields, name);
    if (value === undefined) continue;
    if (value !== null && (typeof value !== "string" || !value.isWellFormed()))
      return badField(`${name} must be a text or null`);
    if (name === "image_url" && value && !isWebUrl(value))
      return badField("image_url must be an http or https URL, an empty text or null");
    settings[key] = value ?? undefined;
  }
  const casting = ownValue(fields, "casting_mode");
  if (casting !== undefined) {
    const mode = CASTING_MODES.get(casting);
    if (casting !== null && mode === undefined)
      return badField(`casting_mode must be ${[...CASTING_MODES.keys()].join(", ")} or null`);
    settings.castingMode = mode;
  }
  const membership = ownValue(fields, "membership_mode");
  if (membership !== undefined) {
    const mode = MEMBERSHIP_MODES.get(membership);
    if (membership !== null && mode === undefined)
      return badField(`membership_mode must be ${[...MEMBERSHIP_MODES.keys()].join(", ")} or null`);
    settings.membershipMode = mode;
  }
  return ok(settings);
}

function isWebUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}
