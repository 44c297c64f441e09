import { type AuditEntry, type AuditStore, recordRefusal } from "../audit/audit-store.ts";
import { ok, type Result } from "../lib/result.ts";
import { ed25519KeyFromSeed } from "../protocol/message/build-message.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../protocol/time.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { selfRemovalData } from "./key-add.ts";
import type { KeyFacts, KeyRegistry } from "./key-facts.ts";
import { typesOf } from "./permissions.ts";
import { locked, noMasterKey, refuse, type SignerRefusal, unknownSigner } from "./refusal.ts";
import type { RequestOrigin, SignerStates } from "./signer-states.ts";
import type { ManagedSigner, SignerStore, StoredSigner } from "./store/signer-store.ts";
import type { Vault } from "./vault.ts";

/** Who acts: an owner, identified by an API key or by a signature of their custody address. */
export interface SignerActor extends RequestOrigin {
  readonly ownerFid: number;
  /** Null for a signed operation. */
  readonly apiKeyId: string | null;
}

/** A signer in the form that owners may export. */
export interface ExportedSigner {
  readonly signerUuid: string;
  readonly fid: number | null;
  readonly publicKey: Uint8Array;
  /** 32 bytes. The receiver zeroes them. */
  readonly seed: Uint8Array;
}

/** Submits one signed message to the network. */
export type SubmitMessage = (
  message: SignedMessage,
  actor: SignerActor,
) => Promise<Result<"merged" | "queued", SignerRefusal>>;

/** Operations that need the private keys of signers, on the thread that owns the vault. Arguments and results can be cloned. */
export interface SignerKeys {
  create(actor: SignerActor, permissions: readonly number[]): Promise<Result<StoredSigner, SignerRefusal>>;
  /** Adds a key that is active for `fid`. The seed has 32 bytes. */
  import(actor: SignerActor, seed: Uint8Array, fid: number): Promise<Result<StoredSigner, SignerRefusal>>;
  export(actor: SignerActor, signerUuid: string): Promise<Result<ExportedSigner, SignerRefusal>>;
  /**
   * Erases a signer that the actor owns, or whose user the actor is. An active gasless key first removes itself from the network;
   * `removal` is the hash of that message.
   */
  delete(
    actor: SignerActor,
    signerUuid: string,
  ): Promise<Result<{ readonly removal: Uint8Array | null }, SignerRefusal>>;
}

export interface SignerKeysDeps {
  readonly store: SignerStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly states: SignerStates;
  readonly facts: KeyFacts;
  readonly registry: KeyRegistry;
  /** Undefined without a master key. */
  readonly vault: Vault | undefined;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  readonly settings: { readonly export: boolean; readonly max_signers_per_owner: number };
  /** Applied block of each shard of the index. Null on a node that does not follow another. */
  readonly appliedBlocks: () => Readonly<Record<string, number>> | null;
  readonly submit: SubmitMessage;
}

/** Other nodes may remove keys of the same app at the same time with the same nonce. */
const REMOVAL_TRIES = 5;
const REMOVAL_VALID_SECS = 3600;

export function createSignerKeys(deps: SignerKeysDeps): SignerKeys {
  const { store, audit, states, facts, registry, vault, network, clock, settings, appliedBlocks, submit } =
    deps;
  /** Removals per app, run one after another because each needs the nonce that follows the previous one. */
  const removals = new Map<number, Promise<unknown>>();

  async function add(
    actor: SignerActor,
    key: (signerUuid: string) => Pick<ManagedSigner, "publicKey" | "sealed" | "keyId">,
    rest: Pick<ManagedSigner, "permissions" | "approval"> & { readonly action: string },
  ): Promise<Result<StoredSigner, SignerRefusal>> {
    const { ownerFid } = actor;
    const { action, permissions, approval } = rest;
    const now = nowSecs(clock);
    const signerUuid = crypto.randomUUID();
    const times = { createdAt: now, updatedAt: now };
    const made = { signerUuid, ownerFid, ...key(signerUuid), permissions, ...times, approval };
    const signer: ManagedSigner = { ...made, request: null, submitted: null };
    const entry = entryOf(actor, { action, signerUuid, userFid: approval?.fid ?? null });
    switch (await store.create(signer, settings.max_signers_per_owner, entry)) {
      case "cap-reached":
        return refuse("tooManyRequests", `an fid may own at most ${settings.max_signers_per_owner} signers`);
      case "key-exists":
        return refuse("conflict", "the key is that of another signer", { code: "conflict" });
      case "created":
        return ok((await store.find(signerUuid)) ?? { ...signer, seq: 0 });
    }
  }

  const entryOf = (
    { ownerFid, apiKeyId, requestId, address }: SignerActor,
    what: Pick<AuditEntry, "action" | "signerUuid" | "userFid"> & { readonly hash?: Uint8Array | null },
  ): AuditEntry => ({
    atMs: clock.nowMs(),
    ownerFid,
    apiKeyId,
    hash: null,
    ...what,
    outcome: "ok",
    requestId,
    address,
  });

  /** Removes the gasless key of a signer from the network. Returns null if there is nothing to remove. */
  async function removeKey(
    signer: StoredSigner,
    actor: SignerActor,
  ): Promise<Result<Uint8Array | null, SignerRefusal>> {
    const fid = signer.approval?.fid;
    const known = fid === undefined ? undefined : facts.of(fid, signer.publicKey, nowSecs(clock));
    if (fid === undefined || !known || known.expiresAt === null) return ok(null);
    if (!vault?.knows(signer.keyId)) return locked();
    const { requestFid } = known;
    let last: Result<Uint8Array | null, SignerRefusal> = ok(null);
    let nonce = 0;
    for (let tries = 0; tries < REMOVAL_TRIES; tries++) {
      const timestamp = toFarcasterSecs(nowSecs(clock));
      nonce = Math.max(registry.appNonce(requestFid), nonce) + 1;
      const deadline = timestamp + REMOVAL_VALID_SECS;
      const head = { fid, timestamp, network };
      const message = vault.sign(signer, selfRemovalData({ key: signer.publicKey, nonce, deadline, head }));
      const submitted = await submit(message, actor);
      if (submitted.ok) return ok(message.hash);
      last = submitted;
      // Another request may already have removed it.
      if (!facts.of(fid, signer.publicKey, nowSecs(clock))) return ok(null);
      if (submitted.error.kind !== "conflict" && submitted.error.kind !== "badRequest") return submitted;
    }
    return last;
  }

  function serialized<T>(requestFid: number, work: () => Promise<T>): Promise<T> {
    const before = removals.get(requestFid) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled = result.catch(() => {});
    removals.set(requestFid, settled);
    void settled.then(() => {
      if (removals.get(requestFid) === settled) removals.delete(requestFid);
    });
    return result;
  }

  const keys: SignerKeys = {
    async create(actor, permissions) {
      if (!vault) return noMasterKey();
      return add(actor, vault.create, { permissions, approval: null, action: "signer.create" });
    },

    async import(actor, seed, fid) {
      try {
        if (!vault) return noMasterKey();
        const { publicKey } = ed25519KeyFromSeed(seed);
        const now = nowSecs(clock);
        if (!facts.of(fid, publicKey, now))
          return refuse("badRequest", `private_key is not of an active key of fid ${fid}`);
        const approval = { fid, at: now, by: "import" as const, blocks: appliedBlocks() };
        const sealed = (signerUuid: string) => vault.seal(signerUuid, seed);
        return await add(actor, sealed, { permissions: typesOf([]), approval, action: "signer.import" });
      } finally {
        seed.fill(0);
      }
    },

    async export(actor, signerUuid) {
      if (!settings.export) return refuse("notImplemented", "the operator has turned the export of keys off");
      const signer = await store.find(signerUuid);
      if (signer?.ownerFid !== actor.ownerFid) return unknownSigner();
      if (!vault) return noMasterKey();
      if (!vault.knows(signer.keyId)) return locked();
      const fid = signer.approval?.fid ?? null;
      await audit.append([entryOf(actor, { action: "signer.export", signerUuid, userFid: fid })]);
      return ok({ signerUuid, fid, publicKey: signer.publicKey, seed: vault.open(signer) });
    },

    async delete(actor, signerUuid) {
      const found = await store.find(signerUuid);
      if (!found) return unknownSigner();
      const { signer } = await states.see(found, actor);
      const userFid = signer.approval?.fid ?? null;
      if (signer.ownerFid !== actor.ownerFid && userFid !== actor.ownerFid) return unknownSigner();
      const known = userFid === null ? undefined : facts.of(userFid, signer.publicKey, nowSecs(clock));
      return serialized(known?.requestFid ?? 0, async () => {
        const removal = await removeKey(signer, actor);
        if (!removal.ok) return removal;
        const hash = removal.value;
        const entry = entryOf(actor, { action: "signer.delete", signerUuid, userFid, hash });
        // The owner learns about a deletion by the user.
        const owners = [...new Set([actor.ownerFid, signer.ownerFid])];
        const entries = owners.map((ownerFid) => ({ ...entry, ownerFid }));
        return (await store.delete(signerUuid, entries)) ? ok({ removal: hash }) : unknownSigner();
      });
    },
  };

  /** Records a refusal in the audit log. Leaves out the id of a signer that is not the actor's, because it may not exist. */
  const recorded = <T>(
    action: string,
    actor: SignerActor,
    userFid: number | null,
    result: Result<T, SignerRefusal>,
  ) => recordRefusal(audit, entryOf(actor, { action, signerUuid: null, userFid }), result);
  return {
    create: async (actor, permissions) =>
      recorded("signer.create", actor, null, await keys.create(actor, permissions)),
    import: async (actor, seed, fid) =>
      recorded("signer.import", actor, fid, await keys.import(actor, seed, fid)),
    export: async (actor, signerUuid) =>
      recorded("signer.export", actor, null, await keys.export(actor, signerUuid)),
    delete: async (actor, signerUuid) =>
      recorded("signer.delete", actor, null, await keys.delete(actor, signerUuid)),
  };
}
