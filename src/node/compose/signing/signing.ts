import { setTimeout as sleep } from "node:timers/promises";
import { type ConfirmRpc, createOwners } from "../../../auth/owners/owners.ts";
import type { WorkLease } from "../../../cluster/postgres/work-lease.ts";
import type { Config } from "../../../config/schema.ts";
import { isFollowing } from "../../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { StateUnavailable } from "../../../db/state/unavailable.ts";
import { type ErrorName, errorKinds } from "../../../http/errors.ts";
import { err, ok } from "../../../lib/result.ts";
import { resealNotices } from "../../../notices/target.ts";
import { encodeMessage, type SignedMessage } from "../../../protocol/message/signed-message.ts";
import { networkOf } from "../../../protocol/network/network.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log/logger.ts";
import {
  createTokenSigner,
  resealTokenKeys,
  type TokenSignerRpc,
} from "../../../sign-in/tokens/token-signer.ts";
import { createApprovals } from "../../../signers/approval/approvals.ts";
import { createKeyRequestApprovals } from "../../../signers/approval/key-request-approvals.ts";
import { createStoredKeyRequests } from "../../../signers/approval/key-requests.ts";
import { createLinkCalls } from "../../../signers/approval/link-calls.ts";
import { keyFactsFromIndex, keyRegistryFromIndex } from "../../../signers/key-facts.ts";
import { LOCKED_RETRY_SECS, NOT_ON_CHAIN } from "../../../signers/refusal.ts";
import { type SignersRpc, signersRpc } from "../../../signers/rpc.ts";
import { createSignerKeys, type SignerActor } from "../../../signers/signer-keys.ts";
import { createSignerStates } from "../../../signers/signer-states.ts";
import { readSignerStats, type SignerStatsRpc } from "../../../signers/signer-stats.ts";
import { createSigning, type SigningRefusal } from "../../../signers/signing.ts";
import { createVault, rekey, type Vault } from "../../../signers/vault.ts";
import { UpstreamPositions } from "../../../upstream/positions.ts";
import { createSealer } from "../../../vault/sealer.ts";
import type { WriteRefusal } from "../../../writes/outcome.ts";
import { refusal } from "../../../writes/refusals.ts";
import type { Writes } from "../../../writes/rpc.ts";
import type { WriteSigners } from "../../../writes/service.ts";
import { masterKeysOf } from "../../signers/master-keys.ts";
import type { StateStores } from "../../state/stores.ts";
import type { OpenState } from "../../state/thread-state.ts";

/** Managed signers on the thread that has the vault. */
export interface NodeSigning {
  readonly rpc: SignersRpc & SignerStatsRpc & TokenSignerRpc;
  /** For writes of users. */
  readonly signers: WriteSigners;
  stop(): void;
}

const RESEAL_INTERVAL_MS = 10_000;

/** Composes the parts that need users' private keys. */
export function startNodeSigning(deps: {
  readonly config: Config;
  readonly clock: Clock;
  /** See `OpenState`. Default: the clock. */
  readonly stateClock?: Clock;
  readonly log: Logger;
  readonly db: IndexDatabase;
  readonly stores: Pick<
    StateStores,
    "signers" | "oneTime" | "signInKeys" | "notices" | "audit" | "custodies"
  >;
  /** The lease for resealing under a master key; undefined if no other node shares the state. */
  readonly resealLease?: OpenState["resealLease"];
  /** Asks a second node who owns an fid. Default: the index decides. */
  readonly confirm?: ConfirmRpc | undefined;
  /** Submits messages to the network. */
  readonly submit: Writes["submit"];
}): NodeSigning {
  const { config, clock, log, db, stores } = deps;
  const [current, ...former] = masterKeysOf(config);
  const vault = current && createVault([current, ...former]);
  const facts = keyFactsFromIndex(db);
  const registry = keyRegistryFromIndex(db);
  const appliedBlocks = appliedBlocksOf(config, db);
  const store = stores.signers;
  const states = createSignerStates({ store, facts, clock, appliedBlocks });
  const submit = async (message: SignedMessage, actor: SignerActor) =>
    submitAlone(deps.submit, message, actor);
  const shared = {
    store,
    states,
    registry,
    vault,
    clock,
    submit,
    network: networkOf(config.protocol.network),
  };
  const keys = createSignerKeys({
    ...shared,
    audit: stores.audit,
    facts,
    settings: config.signers,
    appliedBlocks,
  });
  const approving = {
    ...shared,
    facts,
    custodyOf: createOwners({ db, custodies: stores.custodies, confirm: deps.confirm }).custodyOf,
    keyTtlSecs: config.signers.key_ttl_secs,
    calls: createLinkCalls(),
  };
  const stored = createStoredKeyRequests({ store: stores.oneTime, facts, clock: deps.stateClock ?? clock });
  const keyRequests = createKeyRequestApprovals({ ...approving, stored });
  const tokenSealer = current && createSealer([current, ...former], "svc quick auth key 1");
  const tokens = createTokenSigner({
    store: stores.signInKeys,
    sealer: tokenSealer,
    clock: deps.stateClock ?? clock,
    log,
    settings: {
      algorithm: config.quick_auth.algorithm,
      tokenTtlSecs: config.quick_auth.token_ttl_secs,
      rotationDays: config.quick_auth.key_rotation_days,
    },
  });
  const noticeSealer = current && createSealer([current, ...former], "svc notice 1");
  const resealTokens = async () =>
    (tokenSealer ? await resealTokenKeys(stores.signInKeys, tokenSealer) : 0) +
    (noticeSealer ? await resealNotices(stores.notices, noticeSealer) : 0);
  const stopping = new AbortController();
  if (vault) void rekeyInBackground(vault, deps.resealLease?.(vault.keyId));

  /**
   * Reseals secrets that are under a previous master key. With PostgreSQL, other nodes may not know the current key yet, or may still
   * create keys under the previous one, so this is retried until the node stops.
   */
  async function rekeyInBackground(vault: Vault, lease: WorkLease | undefined): Promise<void> {
    const { signal } = stopping;
    const onDamaged = (signerUuid: string, cause: unknown) =>
      log.error({ signerUuid, err: cause }, "The key of a managed signer does not open");
    for (;;) {
      try {
        const mayReseal = lease && { mayReseal: () => lease.hold() };
        const signers = await rekey({ store, vault, signal, onDamaged, ...mayReseal });
        const count = signers + (!lease || (await lease.hold()) ? await resealTokens() : 0);
        if (count > 0) log.info({ count, keyId: vault.keyId }, "Sealed keys under the current master key");
      } catch (err) {
        if (!signal.aborted && !(lease && err instanceof StateUnavailable))
          log.error({ err }, "Keys could not be sealed under the current master key");
      }
      if (!lease) return;
      await sleep(RESEAL_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  const signing = createSigning({ store, states, vault });
  /** Requests of writes are in a separate part of the audit log. */
  const find = async (signerUuid: string, ownerFid: number) =>
    signing.find({ signerUuid, ownerFid, requestId: "", address: "" });
  return {
    rpc: {
      ...signersRpc(keys, createApprovals(approving), keyRequests),
      signToken: tokens.signToken,
      rotateTokenKey: tokens.rotateTokenKey,
      signerStats: () => readSignerStats(store, vault?.keyId ?? null),
    },
    signers: {
      async userOf(signerUuid, ownerFid, types) {
        const signer = await find(signerUuid, ownerFid);
        if (!signer.ok) return err(REFUSALS[signer.error]);
        const refused = types.map(signer.value.refusalOf).find((one) => one !== undefined);
        return refused ? err(REFUSALS[refused]) : ok(signer.value.fid);
      },
      async sign(signerUuid, ownerFid, messages) {
        const signer = await find(signerUuid, ownerFid);
        if (!signer.ok) return err(REFUSALS[signer.error]);
        const all: SignedMessage[] = [];
        for (const data of messages) {
          const signed = signer.value.sign(data);
          if (!signed.ok) return err(REFUSALS[signed.error]);
          all.push(signed.value);
        }
        return ok(all);
      },
    },
    stop: () => stopping.abort(),
  };
}

/** Returns a reader of the applied block of each shard; null on a node that follows no other. */
export function appliedBlocksOf(
  config: Pick<Config, "upstream">,
  db: IndexDatabase,
): () => Readonly<Record<string, number>> | null {
  if (!isFollowing(config)) return () => null;
  const positions = new UpstreamPositions(db);
  return () => {
    const shards = Array.from({ length: (positions.shards ?? 0) + 1 }, (_, shard) => shard);
    return Object.fromEntries(shards.map((shard) => [shard, positions.applied(shard) ?? 0]));
  };
}

const REFUSALS: Readonly<Record<SigningRefusal, WriteRefusal>> = {
  unknown: refusal(404, "unknown_signer", "no such signer"),
  "not-approved": refusal(403, "signer_not_approved", "signer is not approved"),
  "out-of-scope": refusal(403, "out_of_scope", "the signer may not sign messages of this type"),
  "not-on-chain": refusal(403, NOT_ON_CHAIN.code, NOT_ON_CHAIN.message),
  locked: refusal(503, "signer_locked", "this node cannot open the key of the signer", LOCKED_RETRY_SECS),
};

async function submitAlone(
  submit: Writes["submit"],
  message: SignedMessage,
  { ownerFid, apiKeyId, requestId, address }: SignerActor,
): Promise<Awaited<ReturnType<Parameters<typeof createSignerKeys>[0]["submit"]>>> {
  const reply = await submit({
    owner: { fid: ownerFid, apiKeyId: apiKeyId ?? "", writesPerMinute: null },
    route: "signer",
    idem: null,
    signerUuid: null,
    content: { signed: [encodeMessage(message)] },
    requestId,
    address,
  });
  if (!reply.ok) return toSignerRefusal(reply.refusal);
  const [outcome] = reply.outcomes;
  if (outcome?.state === "refused" && outcome.refusal) return toSignerRefusal(outcome.refusal);
  return ok(outcome?.state === "queued" ? "queued" : "merged");
}

function toSignerRefusal({ status, message, code, retryAfterSecs }: WriteRefusal) {
  const kinds = Object.entries(errorKinds) as [ErrorName, { readonly status: number }][];
  const [kind = "internal"] = kinds.find(([, known]) => known.status === status) ?? [];
  return err({ kind, message, code, ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }) });
}
