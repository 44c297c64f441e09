import { firstCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { LinkType, storedLinkType } from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";
import type { LookUps, TreeKey } from "../../db/sqlite/leaf-pages.ts";
import { unpackBytes } from "../../lib/bytes.ts";
import { slotOf } from "../../protocol/message/merge-rules.ts";
import { decodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { RelayedOp } from "../relayed-op.ts";

const PREFIX_BYTES = 6;

/** Reads the index only. */
const castsByPrefix = statement<{ prefix: Uint8Array; id: number }, [prefixesJson: string]>(
  "read-ahead.casts",
  `SELECT unhex(j.value) AS prefix, c.id FROM json_each(?) j
   CROSS JOIN casts c ON substr(c.hash, 1, ${PREFIX_BYTES}) = unhex(j.value)`,
);

/** Keys by the name of their table or index. */
class Announced {
  readonly #keys = new Map<string, TreeKey[]>();

  add(tree: string, ...keys: readonly TreeKey[]): void {
    const known = this.#keys.get(tree);
    if (known) known.push(...keys);
    else this.#keys.set(tree, [...keys]);
  }

  lookUps(): LookUps[] {
    return [...this.#keys].map(([tree, keys]) => ({ tree, keys }));
  }
}

/**
 * Announces what merging messages will read and write, so that an index larger than the memory reads the pages of the whole
 * group together: first what the messages name themselves, then the rows that name the casts by id.
 */
export function willMerge(db: IndexDatabase, decode: () => readonly SignedMessage[]): void {
  let messages: readonly SignedMessage[] = [];
  db.willRead(() => {
    messages = decode();
    return ofMessages(messages);
  });
  db.willRead(() => ofNamedCasts(db, messages));
}

/** Returns the messages of operations. Those that cannot be decoded are skipped, because applying them reports it. */
export function messagesIn(ops: readonly RelayedOp[]): SignedMessage[] {
  const encoded = ops.flatMap((op) => {
    if (op.kind === "merge" || op.kind === "put") return [op.message];
    return op.kind === "putAll" ? [...unpackBytes(op.messages)] : [];
  });
  return encoded.flatMap((bytes) => {
    const message = decodeMessage(bytes);
    return message.ok ? [message.value] : [];
  });
}

function ofMessages(messages: readonly SignedMessage[]): LookUps[] {
  const keys = new Announced();
  for (const message of messages) {
    const { data, hash } = message;
    const { fid, body, timestamp } = data;
    const at = toUnixSecs(timestamp);
    const { store, slot } = slotOf(message);
    keys.add("fids", fid);
    keys.add("signers", [fid, message.signer]);
    keys.add("message_signers_by_key", [message.signer]);
    keys.add("on_chain_events", [OnChainEventType.EVENT_TYPE_STORAGE_RENT, fid]);
    keys.add("store_counts", [fid, store]);
    keys.add("messages_by_slot", [fid, store, slot]);
    if (body?.$case === "castAddBody") {
      const isReply = body.value.parent?.$case === "parentCastId" ? 1 : 0;
      keys.add("casts_by_hash", [prefixOf(hash)]);
      keys.add("casts_by_author", [fid, isReply, firstCastId(at, hash)]);
      if (body.value.parent?.$case === "parentUrl") keys.add("casts_by_author_in_channel", [fid]);
    } else if (body?.$case === "linkBody") {
      const type = storedLinkType(body.value.type);
      const target = body.value.target?.value ?? 0;
      keys.add("links", [fid, type, target]);
      keys.add("links_by_source", [fid, type, at]);
      keys.add("links_by_target", [target, type, at]);
      if (type !== LinkType.Follow) continue;
      keys.add("links", [target, type, fid]);
      keys.add("mutual_follows", [fid, target], [target, fid]);
      keys.add("follow_counts", fid, target);
      keys.add("notifications", [target, at]);
    } else if (body?.$case === "reactionBody") keys.add("reactions_by_user", [fid, body.value.type, at]);
    else if (body?.$case === "userDataBody") keys.add("user_data", [fid, body.value.type]);
    const named = castNamedBy(message);
    if (named === undefined) continue;
    keys.add("casts_by_hash", [prefixOf(named.hash)]);
    keys.add("notifications", [named.fid, at]);
    keys.add("cast_counts_by_author", [named.fid]);
  }
  return keys.lookUps();
}

function ofNamedCasts(db: IndexDatabase, messages: readonly SignedMessage[]): LookUps[] {
  const keys = new Announced();
  const prefixes = messages.flatMap((message) => {
    const named = castNamedBy(message);
    return named ? [prefixOf(named.hash).toHex()] : [];
  });
  const ids = new Map<string, number>();
  for (const { prefix, id } of db.all(castsByPrefix, JSON.stringify([...new Set(prefixes)])))
    ids.set(prefix.toHex(), id);
  for (const message of messages) {
    const { fid, body, timestamp } = message.data;
    const named = castNamedBy(message);
    const id = named && ids.get(prefixOf(named.hash).toHex());
    if (named === undefined || id === undefined) continue;
    const at = toUnixSecs(timestamp);
    keys.add("casts", id);
    keys.add("cast_counts", id);
    if (body?.$case === "reactionBody") {
      keys.add("reactions", [fid, named.fid, id, body.value.type]);
      keys.add("reactions_by_target", [id, body.value.type, at, fid]);
    } else {
      keys.add("casts_by_parent", [id]);
      keys.add("casts_by_author_and_parent", [fid, id]);
      keys.add("notifications_of_casts", [named.fid, at]);
    }
  }
  return keys.lookUps();
}

/** Returns the cast that a reaction targets, or that a cast replies to. */
function castNamedBy({
  data: { body },
}: SignedMessage): { readonly fid: number; readonly hash: Uint8Array } | undefined {
  if (body?.$case === "reactionBody")
    return body.value.target?.$case === "targetCastId" ? body.value.target.value : undefined;
  if (body?.$case !== "castAddBody") return undefined;
  return body.value.parent?.$case === "parentCastId" ? body.value.parent.value : undefined;
}

function prefixOf(hash: Uint8Array): Uint8Array {
  return hash.subarray(0, PREFIX_BYTES);
}
