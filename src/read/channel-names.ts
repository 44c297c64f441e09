import { registrarOfIndex } from "../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { channelIdOf, parentUrlsOf } from "../protocol/channel-url.ts";
import { followedChannelOf, followUriOf } from "../protocol/channels/follow-uri.ts";

/** Resolves names of channels: ids, ids of the protocol, URLs, and names of an imported registry. */

export interface RegisteredChannel {
  /** keccak256 of the key. */
  readonly channelId: Uint8Array;
  /** The public id in the API. */
  readonly id: string;
  readonly key: string;
  readonly ownerAddress: Uint8Array;
}

const registeredColumns = "c.channel_id AS channelId, c.id, c.key, c.owner_address AS ownerAddress";
const byIds = statement<RegisteredChannel, [idsJson: string]>(
  "skeleton.registered-channels.by-ids",
  `SELECT ${registeredColumns} FROM json_each(?) j CROSS JOIN channels c ON c.id = j.value`,
);
const byChannelIds = statement<RegisteredChannel, [channelIdsJson: string]>(
  "skeleton.registered-channels.by-channel-ids",
  `SELECT ${registeredColumns} FROM json_each(?) j CROSS JOIN channels c ON c.channel_id = unhex(j.value)`,
);
const importedIds = statement<{ id: string }, [idsJson: string]>(
  "skeleton.registered-channels.imported",
  "SELECT r.id FROM json_each(?) j CROSS JOIN channel_registry r ON r.id = j.value",
);
const registryIds = statement<{ name: string; id: string }, [idsJson: string]>(
  "skeleton.channels.registry-ids",
  `SELECT j.value AS name, r.id FROM json_each(?) j CROSS JOIN channel_registry r ON r.registry_id = j.value
   WHERE NOT EXISTS (SELECT 1 FROM channel_activity a WHERE a.id = j.value)
     AND NOT EXISTS (SELECT 1 FROM channel_registry s WHERE s.id = j.value)
     AND NOT EXISTS (SELECT 1 FROM channels c WHERE c.id = j.value)`,
);

/** Returns the registered channels among `ids`. */
export function registeredChannels(db: IndexDatabase, ids: readonly string[]): readonly RegisteredChannel[] {
  return ids.length === 0 ? [] : db.all(byIds, JSON.stringify(ids));
}

/** Returns the registered channel that a name stands for; undefined if it is not registered. */
export function registeredChannel(db: IndexDatabase, name: string): RegisteredChannel | undefined {
  return registeredChannels(db, resolveChannelIds(db, [name]))[0];
}

/**
 * Returns the registered channels among `ids` whose roles, follows and hidden casts count: those that are not replaced by an
 * import.
 */
export function countingChannels(db: IndexDatabase, ids: readonly string[]): readonly RegisteredChannel[] {
  const registered = registeredChannels(db, ids);
  if (db.protocolNames === "win" || registered.length === 0) return registered;
  const json = JSON.stringify(registered.map(({ id }) => id));
  const imported = new Set(db.all(importedIds, json).map(({ id }) => id));
  return registered.filter(({ id }) => !imported.has(id));
}

/** Returns the registered channel that a name stands for, if it counts (see `countingChannels`). */
export function countingChannel(db: IndexDatabase, name: string): RegisteredChannel | undefined {
  return countingChannels(db, resolveChannelIds(db, [name]))[0];
}

/**
 * Returns the registered channel that a write names. A channel that does not count can only be named by its id of the
 * protocol.
 */
export function writableChannel(db: IndexDatabase, name: string): RegisteredChannel | undefined {
  return protocolIdOf(db, name) ? registeredChannel(db, name) : countingChannel(db, name);
}

/** Returns the registered channels with these ids of the protocol, by those ids in hex. */
export function channelsOfProtocol(
  db: IndexDatabase,
  channelIds: readonly Uint8Array[],
): ReadonlyMap<string, RegisteredChannel> {
  const json = JSON.stringify(channelIds.map((channelId) => channelId.toHex()));
  return new Map(db.all(byChannelIds, json).map((row) => [row.channelId.toHex(), row]));
}

const PROTOCOL_ID = /^0x[0-9a-f]{64}$/i;

/** Returns the id of the protocol that a name spells, in hex or as the URI of the channel's token. */
function protocolIdOf(db: IndexDatabase, name: string): Uint8Array | undefined {
  if (PROTOCOL_ID.test(name)) return Uint8Array.fromHex(name.slice(2));
  // Rejects most names cheaply.
  return name.startsWith("eip155:") ? followedChannelOf(registrarOfIndex(db), name) : undefined;
}

/** Returns the ids of registered channels, by those names that spell an id of the protocol. */
export function channelAliases(db: IndexDatabase, names: Iterable<string>): ReadonlyMap<string, string> {
  const spelled: (readonly [name: string, channelId: Uint8Array])[] = [];
  for (const name of names) {
    const channelId = protocolIdOf(db, name);
    if (channelId) spelled.push([name, channelId]);
  }
  if (spelled.length === 0) return new Map();
  const found = channelsOfProtocol(
    db,
    spelled.map(([, channelId]) => channelId),
  );
  return new Map(
    spelled.flatMap(([name, channelId]) => {
      const channel = found.get(channelId.toHex());
      return channel ? [[name, channel.id] as const] : [];
    }),
  );
}

/**
 * Returns the channel ids that `names` stand for. A name is a channel id, an id of the protocol in hex, a URL of a channel
 * or, if no channel has that id, the registry's id of a channel with another URL. An unknown name is returned unchanged.
 */
export function resolveChannelIds(db: IndexDatabase, names: readonly string[]): string[] {
  const ids = names.map(channelIdOf);
  const aliases = channelAliases(db, ids);
  const byRegistry = new Map(db.all(registryIds, JSON.stringify(ids)).map((row) => [row.name, row.id]));
  return [...new Set(ids.map((id) => aliases.get(id) ?? byRegistry.get(id) ?? id))];
}

/** Returns the parent URLs of casts in each channel: clients' URLs, and the token URI of a registered channel. */
export function parentUrlsByChannel(
  db: IndexDatabase,
  ids: readonly string[],
): (readonly [id: string, url: string])[] {
  const registered = registeredChannels(db, ids);
  const registrar = registered.length === 0 ? undefined : registrarOfIndex(db);
  const uris = registered.flatMap(({ id, channelId }) => {
    const uri = followUriOf(registrar, channelId);
    return uri === undefined ? [] : [[id, uri] as const];
  });
  return [...ids.flatMap((id) => parentUrlsOf(id).map((url) => [id, url] as const)), ...uris];
}

export function parentUrlsOfChannels(db: IndexDatabase, ids: readonly string[]): string[] {
  return parentUrlsByChannel(db, ids).map(([, url]) => url);
}

/**
 * Returns the parent URLs that a filter by channel, by parent URL or by both accepts; undefined without a filter. With
 * both, a URL must match both.
 */
export function parentUrlFilter(
  db: IndexDatabase,
  { parentUrl, channelId }: { parentUrl: string | undefined; channelId: string | undefined },
): readonly string[] | undefined {
  if (channelId === undefined) return parentUrl === undefined ? undefined : [parentUrl];
  const urls = parentUrlsOfChannels(db, resolveChannelIds(db, [channelId]));
  return parentUrl === undefined ? urls : urls.filter((url) => url === parentUrl);
}
