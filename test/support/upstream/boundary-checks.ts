import { channelHistoryOf } from "../../../src/db/index/channels/history.ts";
import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { eventsAfter } from "../../../src/db/index/log/outbox.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { decodeStored } from "../../../src/ingest/merge/message-store.ts";
import {
  type ChannelRegistration,
  channelIdOfEvent,
  registrationAfter,
} from "../../../src/protocol/channels/registrations.ts";
import { channelSlotOf } from "../../../src/protocol/channels/slots.ts";
import { Kind, Store, slotOf } from "../../../src/protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import { Stage } from "../../../src/upstream/positions.ts";
import { liveMessages } from "../live-messages.ts";
import { heightAt, sha256 } from "./blocks.ts";
import type { Chain } from "./chain.ts";
import { type Decided, type DecidingShard, isVerification } from "./deciding-shard.ts";
import type { CommitCheck } from "./followed-index.ts";
import { dataOf } from "./hub-events.ts";
import type { UpstreamNode } from "./node.ts";
import { DATA_SHARDS, shardOf } from "./shards.ts";

/** What a follower must have of the decisions of shard 0, by a plain reading of them. */

/** Returns the last verification of each fid and address that shard 0 has decided up to a second. */
function lastVerifications(decided: readonly Decided[], tick: number, from = 0): Map<string, SignedMessage> {
  const last = new Map<string, SignedMessage>();
  for (const one of decided)
    if (one.message && isVerification(one.message.data.type) && one.tick <= tick && one.tick >= from)
      last.set(nameOf(one.message), one.message);
  return last;
}

function nameOf(message: Pick<SignedMessage, "data" | "hash">): string {
  return `${message.data.fid} ${slotOf(message).slot.toHex()}`;
}

/**
 * After each commit, what shard 0 decided up to its position is what is served, whatever the data shards have replayed: but for what
 * the shard of the author prunes.
 */
export function decisionsCheck(chain: Chain, { decided }: DecidingShard): CommitCheck {
  const pruned = new Set(
    chain.ticks.flatMap(({ data }) =>
      data.flatMap(({ shard, events }) =>
        events.flatMap(({ body }) => {
          const message = body?.$case === "pruneMessageBody" ? body.value.message : undefined;
          return message && shardOf(dataOf(message).fid) === shard ? [message.hash.toHex()] : [];
        }),
      ),
    ),
  );
  const tickOfHash = new Map(decided.map(({ message, tick }) => [message?.hash.toHex(), tick]));
  return (db) => {
    const applied = getPosition(db, "upstream 0 applied");
    const { followedFrom, isDone } = channelHistoryOf(db);
    if (applied === undefined || followedFrom === undefined) return [];
    if (getPosition(db, "upstream stage") !== Stage.Applying) return [];
    const tickOf = (height: number) => height - heightAt(0, 0);
    const tick = tickOf(applied);
    const served = verificationsIn(db);
    // What was decided before the following is read from older blocks.
    const from = isDone ? 0 : tickOf(followedFrom);
    return [...lastVerifications(decided, tick, from)].flatMap(([name, message]) => {
      const hash = message.hash.toHex();
      const held = served.get(name);
      if (held === hash || (held === undefined && pruned.has(hash))) return [];
      // After missed events the state of the author's shard is read, which may be ahead of the position.
      if (held !== undefined && (tickOfHash.get(held) ?? 0) > tick) return [];
      return [`${name}: ${held} is there instead of ${hash} at tick ${tick}`];
    });
  };
}

/** The hashes of the verifications and their removals that an index has, by fid and address. */
function verificationsIn(db: IndexDatabase): Map<string, string> {
  const rows = liveMessages(db).filter(({ store }) => store === Store.Verifications);
  return new Map(rows.map((row) => [`${row.fid} ${row.slot.toHex()}`, row.hash.toHex()]));
}

/**
 * The `user.updated` events of verifications that an index has, and those that it must have: one for each that became live or ceased to
 * be. Left out are verifications that the shard of their author pruned since the boundary: shard 0 may be ahead of that.
 *
 * @param history how many seconds of the chain the index was filled with, before it followed.
 */
export function verificationEvents(
  db: IndexDatabase,
  { chain }: UpstreamNode,
  history: number,
): { readonly has: readonly string[]; readonly must: readonly string[] } {
  const activeAt = chain.boundary?.activeAt ?? 0;
  const live = new Map<string, boolean>();
  const pruned = new Set<string>();
  const must: string[] = [];
  const hashes = new Map<string, Pick<SignedMessage, "data" | "hash">>();
  const becomes = (message: Pick<SignedMessage, "data" | "hash">, isLive: boolean, tick: number) => {
    const name = nameOf(message);
    hashes.set(message.hash.toHex(), message);
    if ((live.get(name) ?? false) !== isLive && tick >= history)
      must.push(`${name} ${updateId(message, isLive || isRemoval(message) ? "" : "drop")}`);
    live.set(name, isLive);
  };
  for (const [tick, { at, data }] of chain.ticks.entries())
    for (const { shard, events } of data)
      for (const { body } of events) {
        const wire =
          body?.$case === "mergeMessageBody" || body?.$case === "pruneMessageBody"
            ? body.value.message
            : undefined;
        const message = wire && { data: dataOf(wire), hash: wire.hash };
        if (!message || !isVerification(message.data.type) || shardOf(message.data.fid) !== shard) continue;
        const isPrune = body?.$case === "pruneMessageBody";
        if (at < activeAt) becomes(message, !isPrune && !isRemoval(message), tick);
        else if (isPrune) pruned.add(nameOf(message));
      }
  for (const { message, tick } of chain.decided?.decided ?? [])
    if (message && isVerification(message.data.type)) becomes(message, !isRemoval(message), tick);
  const isCompared = (line: string) => !pruned.has(line.split(" ").slice(0, 2).join(" "));
  const possible = new Map(
    [...hashes.values()].flatMap((message) =>
      ["", "drop"].map((prefix) => {
        const id = updateId(message, prefix);
        return [id, `${nameOf(message)} ${id}`] as [string, string];
      }),
    ),
  );
  const events = eventsAfter(db, 0, 100_000).filter(({ kind }) => kind === "user.updated");
  const has = events.flatMap(({ eventId }) => possible.get(eventId.toHex()) ?? []);
  return { has: has.filter(isCompared).sort(), must: must.filter(isCompared).sort() };
}

const isRemoval = ({ data }: Pick<SignedMessage, "data">) => data.body?.$case === "verificationRemoveBody";

function updateId({ data, hash }: Pick<SignedMessage, "data" | "hash">, prefix: string): string {
  const reference = Buffer.concat([Buffer.from(`user.updated\0${data.fid}\0${prefix}`), hash]);
  return sha256(reference).toHex().slice(0, 32);
}

/** What an index has of verifications, owners and channels, and what it must have at the end of a chain. */
export function boundaryState(db: IndexDatabase, node: UpstreamNode) {
  const decided = node.chain.decided?.decided ?? [];
  const claims = [...lastVerifications(decided, Number.POSITIVE_INFINITY)];
  const slots = new Map<string, Decided>();
  const channels = new Map<string, ChannelRegistration>();
  const events = new Set<string>();
  for (const one of decided) {
    const slot = one.message && channelSlotOf(one.message.data);
    if (slot) slots.set(`${slot.channelId.toHex()} ${slot.kind} ${slot.target.toHex()}`, one);
    const channelId = one.event && channelIdOfEvent(one.event);
    if (!one.event || !channelId) continue;
    const place = `${one.event.blockNumber} ${one.event.logIndex}`;
    // The first event of a place is the one that counts.
    if (events.has(place)) continue;
    events.add(place);
    const name = channelId.toHex();
    const next = registrationAfter(channels.get(name), one.event);
    if (next) channels.set(name, next);
  }
  const rows = (sql: string) =>
    db.sqlite
      .query<Record<string, unknown>, []>(sql)
      .values()
      .map((row) => row.map(textOf).join(" "))
      .sort();
  return {
    has: {
      verifications: [...verificationsIn(db).values()].sort(),
      claims: rows("SELECT fid, address, is_add, hash FROM owner_claims"),
      slots: rows("SELECT channel_id, kind, target, author_fid, seqnum FROM channel_slots"),
      messages: db.sqlite
        .query<{ message: Uint8Array }, []>("SELECT message FROM channel_slots")
        .all()
        .map(({ message }) => decodeStored(message).hash.toHex())
        .sort(),
      channels: rows("SELECT channel_id, owner_address, expiry FROM channels"),
      events: rows("SELECT block_number, log_index FROM on_chain_events WHERE type = 6"),
    },
    must: {
      verifications: node.states
        .flatMap((state, at) =>
          state
            .allMessages()
            .filter(({ fid, type }) => isVerification(type) && shardOf(fid) === DATA_SHARDS[at]),
        )
        .map(({ message }) => message.hash.toHex())
        .sort(),
      claims: claims
        .map(
          ([name, message]) => `${name} ${Number(slotOf(message).kind === Kind.Add)} ${message.hash.toHex()}`,
        )
        .sort(),
      slots: [...slots].map(([name, one]) => `${name} ${one.message?.data.fid} ${one.seqnum}`).sort(),
      messages: [...slots.values()].map(({ message }) => message?.hash.toHex() ?? "").sort(),
      channels: [...channels]
        .map(([name, { ownerAddress, expiry }]) => `${name} ${ownerAddress.toHex()} ${expiry}`)
        .sort(),
      events: [...events].sort(),
    },
  };
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? value.toHex() : String(value);
}
