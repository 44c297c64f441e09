import { addressesInTransit } from "../../db/index/channels/owner-claims.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { Verifier } from "../../ingest/bulk/verify/verifier.ts";
import type { KeyNonces } from "../../ingest/merge/keys/gasless-key-store.ts";
import type { MessageRef, RelayedOp } from "../../ingest/relayed-op.ts";
import { packBytes } from "../../lib/bytes.ts";
import { Store } from "../../protocol/message/merge-rules.ts";
import { claimedHash, decodeMessage } from "../../protocol/message/signed-message.ts";
import { UserNameProof } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { SignerSource } from "../../protocol/wire/generated/state.ts";
import type { ShownUsername } from "../blocks/block-operations.ts";
import { nameText, readLiveProofs, usernamesIn } from "../blocks/name-proofs.ts";
import type { EmitOps } from "../blocks/op-batcher.ts";
import type { RelayRules } from "../blocks/validate-relayed.ts";
import { validatedEvent, validatedProof } from "../blocks/validate-relayed.ts";
import { MAX_REQUESTERS_PER_CALL, type MessagesMethod, type UpstreamClient } from "../calls/client.ts";
import { readPages } from "../calls/pages.ts";
import { PageVerifications } from "./page-verifications.ts";
import { replayedSeqnum } from "./replayed.ts";
import {
  EVENT_TYPES,
  isRegistered,
  storedEvents,
  storedKeys,
  storedMessages,
  storedProofs,
} from "./stored.ts";

/** Dependencies for reading the state of an fid. */
export interface FidReaderDeps {
  readonly client: UpstreamClient;
  readonly db: IndexDatabase;
  readonly rules: RelayRules;
  /**
   * Whether the index is being built in bulk: it then has no messages of any fid that is read, and messages are packed for
   * the build.
   */
  readonly isBulk?: boolean;
  /** Verifies messages. */
  readonly verifier: Verifier;
  readonly emit: EmitOps;
}

/** The stores, each with the calls that together return all of its messages. */
export const STORES: readonly (readonly [Store, readonly MessagesMethod[]])[] = [
  [Store.Verifications, ["getAllVerificationMessagesByFid"]],
  [Store.UserData, ["getAllUserDataMessagesByFid"]],
  [Store.Casts, ["getAllCastMessagesByFid"]],
  [Store.Reactions, ["getAllReactionMessagesByFid"]],
  [Store.Links, ["getAllLinkMessagesByFid", "getLinkCompactStateMessageByFid"]],
  [Store.StorageLends, ["getAllLendStorageMessagesByFid"]],
];

/** Operations that result from reading the state produce no events. */
const NO_EVENT = { happenedAt: 0 } as const;

/**
 * Reads the state of an fid on the upstream, as far as it is in scope, and emits the operations that make the index equal:
 * missing parts are added, surplus parts removed. Messages that are already stored are not verified again.
 *
 * @param mayBeUnknown whether to accept the response that the fid is not registered, if the index does not know it
 *   either. Blocks also concern such fids.
 * @throws Error if an fid is not registered that should be, because a node whose store fails may respond with an empty list.
 */
export async function readFid(reader: FidReaderDeps, fid: number, mayBeUnknown: boolean): Promise<void> {
  const { scope } = reader.rules;
  for (const type of EVENT_TYPES) await readEvents(reader, fid, type, mayBeUnknown);
  await removeKeyAndProofMessages(reader, fid);
  const usernames = new Set<string>();
  await using verifying = new PageVerifications(reader);
  for (const [store, methods] of STORES)
    await readStore(reader, verifying, {
      fid,
      store,
      methods: scope.includesStore(fid, store) ? methods : [],
      usernames,
    });
  await readProofs(reader, fid, usernames);
  await readKeys(reader, fid);
  await verifying.done();
  await reader.emit([{ kind: "fidComplete", fid, ...NO_EVENT }], []);
}

async function readEvents(
  { client, db, rules, emit }: FidReaderDeps,
  fid: number,
  type: OnChainEventType,
  mayBeUnknown: boolean,
): Promise<void> {
  const surplus = storedEvents(db, fid, type);
  const ops: RelayedOp[] = [];
  if (rules.scope.includesEvent(fid, type)) {
    const received = await client.onChainEvents(fid, type);
    const isUnknown = received.length === 0 && type === OnChainEventType.EVENT_TYPE_ID_REGISTER;
    if (isUnknown && !(mayBeUnknown && !isRegistered(db, fid)))
      throw new Error(`the upstream responds that fid ${fid} is not registered`);
    for (const bytes of received) {
      const event = validatedEvent(rules, bytes);
      if (event?.fid !== fid || event.type !== type) continue;
      const canonical = OnChainEvent.encode(event).finish();
      if (!surplus.delete(canonical.toHex()))
        ops.push({ kind: "onChainEvent", event: canonical, ...NO_EVENT });
    }
  }
  for (const ref of surplus.values()) ops.unshift({ kind: "removeOnChainEvent", ref, ...NO_EVENT });
  if (ops.length > 0) await emit(ops, []);
}

/**
 * Removes messages of proofs and keys, which are left from a time before the node followed an upstream. The upstream lists
 * the proofs and keys themselves, which have tables of their own.
 */
async function removeKeyAndProofMessages(reader: FidReaderDeps, fid: number): Promise<void> {
  const { db, emit } = reader;
  if (reader.isBulk) return;
  const messages = [Store.UsernameProofs, Store.GaslessKeys].flatMap((store) => [
    ...storedMessages(db, fid, store).values(),
  ]);
  if (messages.length > 0) await emit(messages.map(removeOp), []);
}

/**
 * Reads the proofs. A name that is missing from the fid's list because it has moved away yields the proof of its present
 * owner.
 */
async function readProofs(
  { client, db, rules, emit }: FidReaderDeps,
  fid: number,
  usernames: ReadonlySet<string>,
): Promise<void> {
  const { scope } = rules;
  const surplus = storedProofs(db, fid);
  const ops: RelayedOp[] = [];
  if (scope.includesNames(fid)) {
    const stored = [...surplus.values()].map((bytes) => nameText(UserNameProof.decode(bytes).name));
    const decode = (bytes: Uint8Array) => validatedProof(rules, bytes);
    for (const [key, proof] of await readLiveProofs(client, fid, [...usernames, ...stored], decode)) {
      if (surplus.delete(key)) continue;
      const added = UserNameProof.encode(proof).finish();
      ops.push({ kind: "proof", added, onlyIfShown: !scope.includesNames(proof.fid), ...NO_EVENT });
    }
  }
  for (const removed of surplus.values()) ops.unshift({ kind: "proof", removed, ...NO_EVENT });
  if (ops.length > 0) await emit(ops, []);
}

/**
 * Reads the proofs of usernames that blocks show and the index lacks: a fill cannot find a name that its user did not show
 * yet, and the upstream does not report its transfer again.
 *
 * @param ops the operations of the same blocks, which may add the proofs.
 */
export async function readShownProofs(
  { client, db, rules }: Pick<FidReaderDeps, "client" | "db" | "rules">,
  usernames: readonly ShownUsername[],
  ops: readonly RelayedOp[],
): Promise<RelayedOp[]> {
  const added = ops.flatMap((op) =>
    op.kind === "proof" && op.added ? [UserNameProof.decode(op.added)] : [],
  );
  const proofs: RelayedOp[] = [];
  for (const { fid, name } of usernames) {
    const known = [
      ...added,
      ...storedProofs(db, fid)
        .values()
        .map((bytes) => UserNameProof.decode(bytes)),
    ];
    if (known.some((proof) => proof.fid === fid && nameText(proof.name) === name)) continue;
    const bytes = await client.usernameProof(Buffer.from(name));
    const proof = bytes && validatedProof(rules, bytes);
    if (proof?.fid !== fid) continue;
    const encoded = UserNameProof.encode(proof).finish();
    proofs.push({ kind: "proof", added: encoded, isShownOnly: true, ...NO_EVENT });
  }
  return proofs;
}

interface StoreOfFid {
  readonly fid: number;
  readonly store: Store;
  readonly methods: readonly MessagesMethod[];
  /** Receives the names in the user data. */
  readonly usernames: Set<string>;
}

async function readStore(
  reader: FidReaderDeps,
  verifying: PageVerifications,
  { fid, store, methods, usernames }: StoreOfFid,
): Promise<void> {
  const { client, db, rules, emit } = reader;
  const collectsMentions = rules.scope.fids !== undefined && rules.scope.shareOf(fid) === "all";
  const surplus = reader.isBulk ? new Map<string, MessageRef>() : storedMessages(db, fid, store);
  const inTransit = store === Store.Verifications ? await addressesAhead(reader, fid) : new Set<string>();
  for (const method of methods) {
    for await (const page of readPages((token) => client.messages(method, fid, token))) {
      if (store === Store.UserData) for (const name of usernamesIn(page)) usernames.add(name);
      // A stored message has already been verified. It is not surplus.
      const received = page.filter(
        (bytes) =>
          !(surplus.size > 0 && surplus.delete(claimedHash(bytes)?.toHex() ?? "")) &&
          !(inTransit.size > 0 && inTransit.has(addressOf(bytes) ?? "")),
      );
      if (received.length === 0) continue;
      await verifying.add({
        fid,
        store,
        messages: packBytes(received),
        collectsMentions,
        packsColumns: reader.isBulk === true,
      });
    }
  }
  for (const [hash, { slot }] of surplus) if (inTransit.has(slot.toHex())) surplus.delete(hash);
  if (surplus.size > 0) await emit([...surplus.values()].map(removeOp), []);
}

/**
 * Returns the addresses, in hex, whose verifications shard 0 has decided but the author's shard may not have repeated yet.
 * The index has newer verifications of them than the upstream lists. Call it before the verifications are read.
 */
async function addressesAhead({ client, db }: FidReaderDeps, fid: number): Promise<ReadonlySet<string>> {
  if (addressesInTransit(db, fid, 0).length === 0) return new Set();
  const replayed = await replayedSeqnum(client);
  return new Set(addressesInTransit(db, fid, replayed).map((address) => address.toHex()));
}

/** Returns the address of an encoded verification, in hex. */
function addressOf(bytes: Uint8Array): string | undefined {
  const message = decodeMessage(bytes);
  const body = message.ok ? message.value.data.body : undefined;
  const isVerification = body?.$case === "verificationAddBody" || body?.$case === "verificationRemoveBody";
  return isVerification ? body.value.address.toHex() : undefined;
}

async function readKeys(reader: FidReaderDeps, fid: number): Promise<void> {
  const ops = await keyOps(reader, fid);
  if (ops.length > 0) await reader.emit(ops, []);
}

/** Reads the gasless keys of an fid. Returns the operations that make those in the index equal. */
export async function keyOps(
  { client, db, rules }: Pick<FidReaderDeps, "client" | "db" | "rules">,
  fid: number,
): Promise<RelayedOp[]> {
  const surplus = storedKeys(db, fid);
  const requesters = new Set([...surplus.values()].map(({ requestFid }) => requestFid));
  const ops: RelayedOp[] = [];
  if (rules.scope.shareOf(fid) === "all") {
    const signersPage = async (token: Uint8Array | undefined) => {
      const page = await client.signers(fid, token, []);
      ops.push(...nonceOps(page.nonces));
      return page;
    };
    for await (const page of readPages(signersPage)) {
      for (const signer of page) {
        if (signer.source !== SignerSource.SIGNER_SOURCE_OFFCHAIN) continue;
        const { key, requestFid = 0, scopes, ttl = 0, addedAt = 0, lastUsedAt = addedAt, nonce = 0 } = signer;
        surplus.delete(key.toHex());
        requesters.add(requestFid);
        const times = { addedAt, lastUsedAt };
        const relayed = { key: key.slice(), fid, requestFid, scopes, ttlSecs: ttl, nonce, ...times };
        ops.push({ kind: "key", key: relayed, ...NO_EVENT });
      }
    }
    ops.push(...(await readRequesters(client, fid, requesters)));
  }
  for (const { key } of surplus.values()) ops.push({ kind: "removeKey", fid, key, ...NO_EVENT });
  return ops;
}

/**
 * Reads the nonces of the apps that requested keys of an fid, after the keys: a key that removed itself is in no list and
 * its removal does not name the app, so the app's nonce must not be older than the list.
 */
async function readRequesters(
  client: UpstreamClient,
  fid: number,
  requesters: ReadonlySet<number>,
): Promise<RelayedOp[]> {
  const apps = [...requesters];
  const ops: RelayedOp[] = [];
  for (let at = 0; at < apps.length; at += MAX_REQUESTERS_PER_CALL) {
    const requesterFids = apps.slice(at, at + MAX_REQUESTERS_PER_CALL);
    ops.push(...nonceOps((await client.signers(fid, undefined, requesterFids)).nonces));
  }
  return ops;
}

function nonceOps(nonces: KeyNonces): RelayedOp[] {
  return nonces.userNonce > 0 || nonces.apps.length > 0 ? [{ kind: "keyNonces", nonces, ...NO_EVENT }] : [];
}

function removeOp(ref: MessageRef): RelayedOp {
  return { kind: "remove", ref, ...NO_EVENT };
}
