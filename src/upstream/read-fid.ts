import type { IndexDatabase } from "../db/index/database.ts";
import type { MessageRef, RelayedOp } from "../ingest/relay.ts";
import type { RelayedNonces } from "../ingest/relay-keys.ts";
import { Store, slotOf } from "../protocol/merge-rules.ts";
import { claimedHash, encodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import { SignerSource } from "../protocol/wire/generated/state.ts";
import { MAX_REQUESTERS_PER_CALL, type MessagesMethod, type UpstreamClient } from "./client.ts";
import { walkPages } from "./pages.ts";
import { validatedEvent, validatedProof } from "./relayed.ts";
import { isRegistered, storedEvents, storedKeys, storedMessages, storedProofs } from "./stored.ts";
import { type RelayRules, validateRelayed } from "./validate-relayed.ts";

/** What reading the state of an fid works with. */
export interface FidReader {
  readonly client: UpstreamClient;
  readonly db: IndexDatabase;
  readonly rules: RelayRules;
  /** Takes operations, and the fids that have to be presented because of them; resolves when there is room for more. */
  readonly emit: (ops: readonly RelayedOp[], mentioned: readonly number[]) => Promise<void>;
}

/** The calls that together give all of a store. */
export const STORES: readonly (readonly [Store, readonly MessagesMethod[]])[] = [
  [Store.Verifications, ["getAllVerificationMessagesByFid"]],
  [Store.UserData, ["getAllUserDataMessagesByFid"]],
  [Store.Casts, ["getAllCastMessagesByFid"]],
  [Store.Reactions, ["getAllReactionMessagesByFid"]],
  [Store.Links, ["getAllLinkMessagesByFid", "getLinkCompactStateMessageByFid"]],
  [Store.StorageLends, ["getAllLendStorageMessagesByFid"]],
];

export const EVENT_TYPES = [
  OnChainEventType.EVENT_TYPE_ID_REGISTER,
  OnChainEventType.EVENT_TYPE_SIGNER,
  OnChainEventType.EVENT_TYPE_STORAGE_RENT,
  OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
];

/** A message that is read from a state is no news. */
const NO_NEWS = { happenedAt: 0 } as const;

/**
 * Reads all that the followed node holds of an fid and the index keeps, and emits what makes the index hold exactly that:
 * what is missing is put in, what is too much taken out, what is there already not looked at again.
 *
 * @param mayBeUnknown whether the answer that nobody registered the fid is taken, where the index knows nobody either:
 * blocks speak of such fids too.
 * @throws Error when an fid is not registered that should be: the node may answer with an empty list where its own store
 * fails.
 */
export async function readFid(reader: FidReader, fid: number, mayBeUnknown: boolean): Promise<void> {
  const { scope } = reader.rules;
  for (const type of EVENT_TYPES) await readEvents(reader, fid, type, mayBeUnknown);
  await dropUnheld(reader, fid);
  await readProofs(reader, fid);
  for (const [store, methods] of STORES)
    await readStore(reader, fid, store, scope.keepsStore(fid, store) ? methods : []);
  await readKeys(reader, fid);
  await reader.emit([{ kind: "fidComplete", fid, ...NO_NEWS }], []);
}

async function readEvents(
  { client, db, rules, emit }: FidReader,
  fid: number,
  type: OnChainEventType,
  mayBeUnknown: boolean,
): Promise<void> {
  const held = storedEvents(db, fid, type);
  const ops: RelayedOp[] = [];
  if (rules.scope.keepsEvent(fid, type)) {
    const answered = await client.onChainEvents(fid, type);
    const isUnknown = answered.length === 0 && type === OnChainEventType.EVENT_TYPE_ID_REGISTER;
    if (isUnknown && !(mayBeUnknown && !isRegistered(db, fid)))
      throw new Error(`the upstream answers that fid ${fid} is not registered`);
    for (const bytes of answered) {
      const event = validatedEvent(rules, bytes);
      if (event?.fid !== fid || event.type !== type) continue;
      const canonical = OnChainEvent.encode(event).finish();
      if (!held.delete(canonical.toHex())) ops.push({ kind: "onChainEvent", event: canonical, ...NO_NEWS });
    }
  }
  for (const ref of held.values()) ops.unshift({ kind: "removeOnChainEvent", ref, ...NO_NEWS });
  if (ops.length > 0) await emit(ops, []);
}

/** Proofs and keys stand in tables of their own; their messages come from times in which nobody was followed. */
async function dropUnheld({ db, emit }: FidReader, fid: number): Promise<void> {
  const held = [Store.UsernameProofs, Store.GaslessKeys].flatMap((store) => [
    ...storedMessages(db, fid, store).values(),
  ]);
  if (held.length > 0) await emit(held.map(dropOp), []);
}

async function readProofs({ client, db, rules, emit }: FidReader, fid: number): Promise<void> {
  const held = storedProofs(db, fid);
  const ops: RelayedOp[] = [];
  const answered = new Set<string>();
  for (const bytes of rules.scope.keepsNames(fid) ? await client.usernameProofs(fid) : []) {
    const proof = validatedProof(rules, bytes);
    if (proof?.fid !== fid) continue;
    const added = UserNameProof.encode(proof).finish();
    const key = added.toHex();
    if (answered.has(key)) continue;
    answered.add(key);
    if (!held.delete(key)) ops.push({ kind: "proof", added, ...NO_NEWS });
  }
  for (const removed of held.values()) ops.unshift({ kind: "proof", removed, ...NO_NEWS });
  if (ops.length > 0) await emit(ops, []);
}

async function readStore(
  reader: FidReader,
  fid: number,
  store: Store,
  methods: readonly MessagesMethod[],
): Promise<void> {
  const { client, db, rules, emit } = reader;
  const isWhole = rules.scope.shareOf(fid) === "all";
  const held = storedMessages(db, fid, store);
  for (const method of methods) {
    for await (const page of walkPages((token) => client.messages(method, fid, token))) {
      const ops: RelayedOp[] = [];
      const mentioned: number[] = [];
      for (const bytes of page) {
        // What the index holds has been validated; it is crossed off what it holds too much.
        if (held.size > 0 && held.delete(claimedHash(bytes)?.toHex() ?? "")) continue;
        const message = validateRelayed(rules, bytes, (one) => isOf(fid, store, one));
        if (!message) continue;
        ops.push({ kind: "put", message: encodeMessage(message), ...NO_NEWS });
        if (isWhole) mentioned.push(...rules.scope.mention(message.data));
      }
      if (ops.length > 0) await emit(ops, mentioned);
    }
  }
  if (held.size > 0) await emit([...held.values()].map(dropOp), []);
}

async function readKeys(reader: FidReader, fid: number): Promise<void> {
  const { client, db, rules, emit } = reader;
  const held = storedKeys(db, fid);
  const requesters = new Set([...held.values()].map(({ requestFid }) => requestFid));
  const ops: RelayedOp[] = [];
  if (rules.scope.shareOf(fid) === "all") {
    const signersPage = async (token: Uint8Array | undefined) => {
      const page = await client.signers(fid, token, []);
      ops.push(...nonceOps(page.nonces));
      return page;
    };
    for await (const page of walkPages(signersPage)) {
      for (const signer of page) {
        if (signer.source !== SignerSource.SIGNER_SOURCE_OFFCHAIN) continue;
        const { key, requestFid = 0, scopes, ttl = 0, addedAt = 0, lastUsedAt = addedAt, nonce = 0 } = signer;
        held.delete(key.toHex());
        requesters.add(requestFid);
        const times = { addedAt, lastUsedAt };
        const relayed = { key: key.slice(), fid, requestFid, scopes, ttlSecs: ttl, nonce, ...times };
        ops.push({ kind: "key", key: relayed, ...NO_NEWS });
      }
    }
    ops.push(...(await readRequesters(client, fid, requesters)));
  }
  for (const { key } of held.values()) ops.push({ kind: "removeKey", fid, key, ...NO_NEWS });
  if (ops.length > 0) await emit(ops, []);
}

/**
 * The nonces of the apps that requested keys of an fid. They are asked for behind the keys: a key that has removed itself is
 * in no list and its removal names no app, so the app's nonce must not be older than the list.
 */
async function readRequesters(
  client: UpstreamClient,
  fid: number,
  requesters: ReadonlySet<number>,
): Promise<RelayedOp[]> {
  const asked = [...requesters];
  const ops: RelayedOp[] = [];
  for (let at = 0; at < asked.length; at += MAX_REQUESTERS_PER_CALL) {
    const requesterFids = asked.slice(at, at + MAX_REQUESTERS_PER_CALL);
    ops.push(...nonceOps((await client.signers(fid, undefined, requesterFids)).nonces));
  }
  return ops;
}

function nonceOps(nonces: RelayedNonces): RelayedOp[] {
  return nonces.userNonce > 0 || nonces.apps.length > 0 ? [{ kind: "keyNonces", nonces, ...NO_NEWS }] : [];
}

function isOf(fid: number, store: Store, message: SignedMessage): boolean {
  const { data } = message;
  if (data.fid !== fid || !data.body || data.body.$case === "frameActionBody") return false;
  return slotOf(message).store === store;
}

function dropOp(ref: MessageRef): RelayedOp {
  return { kind: "remove", ref, ...NO_NEWS };
}
