import { channelsActiveAt } from "../../db/index/channels/follows.ts";
import { registrarOfIndex } from "../../db/index/channels/registrar.ts";
import { NO_TARGET, settingsOf } from "../../db/index/channels/registrations.ts";
import { findSlot } from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { hasVerification, isPro, isRegistered } from "../../db/index/project/on-chain.ts";
import { findOtherMessage } from "../../db/index/project/other-messages.ts";
import { viewOfChannel } from "../../ingest/merge/channels.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import { followUriOf } from "../../protocol/channels/follow-uri.ts";
import { ChannelSlotKind } from "../../protocol/channels/slots.ts";
import { Kind, Store } from "../../protocol/message/merge-rules.ts";
import { resolveChannelIds, writableChannel } from "../../read/channel-names.ts";
import { bytesOf, castByHash, hex } from "../../read/hydrate/casts.ts";
import { loadChannels } from "../../read/hydrate/channels.ts";
import { castOfUrl, parseCastUrl } from "../../read/queries/casts/cast-lists.ts";
import { usernameProof } from "../../read/queries/users/users.ts";
import type { ComposeCastLookups } from "./cast.ts";
import type { ChannelActLookups } from "./channel-act.ts";
import type { ChannelLookups } from "./channel-follow.ts";
import type { ProfileLookups } from "./profile.ts";

/** Creates the lookups for casts and reactions from the index. */
export function castLookups(db: IndexDatabase): ComposeCastLookups {
  return {
    fidOfName: (name) => usernameProof(db, name)?.fid,
    isRegistered: (fid) => isRegistered(db, fid),
    authorOf: (hash) => castByHash(db, hex(hash))?.fid,
    hashOfUrl: (text) => {
      const url = parseCastUrl(text);
      if (!url) return "other";
      const hash = castOfUrl(db, url);
      return hash === undefined ? "unknown" : new Uint8Array(bytesOf(hash));
    },
    urlOfChannel: (name) => {
      const [id = name] = resolveChannelIds(db, [name]);
      return loadChannels(db, [id]).get(id)?.current.url;
    },
    channelOf: channelIdOf,
  };
}

/** Creates the lookups for follows of channels from the index. */
export function channelLookups(db: IndexDatabase): ChannelLookups {
  const registrar = registrarOfIndex(db);
  return {
    hasRegistrar: registrar !== undefined,
    followUriOf(name) {
      const channel = writableChannel(db, name);
      return channel && followUriOf(registrar, channel.channelId);
    },
  };
}

/** Creates the lookups for messages of channels from the index. */
export function channelActLookups(db: IndexDatabase, nowSecs: number): ChannelActLookups {
  const activeAt = channelsActiveAt(db);
  return {
    areActive: activeAt !== undefined && activeAt <= nowSecs,
    channelIdOf: (name) => writableChannel(db, name)?.channelId,
    viewOf: (channelId) => viewOfChannel(db, channelId),
    settingsOf(channelId) {
      const slot = findSlot(db, { channelId, kind: ChannelSlotKind.Settings, target: NO_TARGET });
      return { settings: settingsOf(db, channelId), basis: slot?.seqnum ?? null };
    },
  };
}

/** Creates the lookups for an fid's profile from the index. */
export function profileLookups(db: IndexDatabase, fid: number, nowSecs: number): ProfileLookups {
  return {
    fidOfName: (name) => usernameProof(db, name)?.fid,
    hasVerification: (address) => hasVerification(db, fid, address),
    isPro: () => isPro(db, fid, nowSecs),
  };
}

/** Reports whether an fid has deleted a cast with this hash. */
export function hasRemovedCast(db: IndexDatabase, fid: number, hash: Uint8Array): boolean {
  return findOtherMessage(db, fid, Store.Casts, hash)?.kind === Kind.Remove;
}
