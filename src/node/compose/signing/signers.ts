import type { StaleReason } from "../../../auth/owners/custody.ts";
import { type ConfirmRpc, createOwners } from "../../../auth/owners/owners.ts";
import { isLoopbackHost } from "../../../config/formats.ts";
import type { Config } from "../../../config/schema.ts";
import type { ApproveDeps } from "../../../console/approve-routes.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { isDemo } from "../../../db/index/identity.ts";
import { connectRpc, type RpcClient } from "../../../lib/port-rpc.ts";
import { fromHex } from "../../../protocol/validate/eth.ts";
import { userNames } from "../../../read/queries/users/users.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { TokenSignerRpc } from "../../../sign-in/tokens/token-signer.ts";
import { createApprovalTokens } from "../../../signers/approval/approval-token.ts";
import { createKeyRequests, createStoredKeyRequests } from "../../../signers/approval/key-requests.ts";
import { keyFactsFromIndex, keyRegistryFromIndex } from "../../../signers/key-facts.ts";
import { noMasterKey } from "../../../signers/refusal.ts";
import type { SignersRpc } from "../../../signers/rpc.ts";
import {
  createSignerService,
  type SignerService,
  type SignerServiceDeps,
} from "../../../signers/signer-service.ts";
import { createSignerStates } from "../../../signers/signer-states.ts";
import type { Transactions } from "../../../transactions/prepare.ts";
import type { Writes, WritesRpc } from "../../../writes/rpc.ts";
import type { StateStores } from "../../state/stores.ts";
import { appliedBlocksOf } from "./signing.ts";

export interface NodeSignersDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly db: IndexDatabase;
  readonly stores: Pick<StateStores, "signers" | "oneTime" | "audit" | "custodies">;
  /** The thread that has the vault; undefined if there is none. */
  readonly thread: RpcClient<SignersRpc> | undefined;
  readonly signIn: SignerServiceDeps["signIn"];
  /** See `tokenKeysOf`; empty without a master key. */
  readonly tokenKeys: readonly Uint8Array[];
  readonly linkBase: () => string | undefined;
  readonly staleReason: StaleReason;
  /** For keys that users add on chain. */
  readonly transactions: Transactions;
  /** Asks a second node who owns an fid. Default: the index decides. */
  readonly confirm?: ConfirmRpc | undefined;
}

/** Composes the parts of managed signers that the HTTP interface uses. */
export function createNodeSigners(deps: NodeSignersDeps): {
  readonly service: SignerService;
  readonly approve: Omit<ApproveDeps, "assets" | "own">;
} {
  const { config, clock, db, stores, tokenKeys, linkBase, staleReason, transactions } = deps;
  const thread = deps.thread ?? absentThread;
  const facts = keyFactsFromIndex(db);
  const store = stores.signers;
  const states = createSignerStates({ store, facts, clock, appliedBlocks: appliedBlocksOf(config, db) });
  const [current, ...former] = tokenKeys;
  const { audit, oneTime } = stores;
  const shared = {
    audit,
    facts,
    custodyOf: createOwners({ db, custodies: stores.custodies, confirm: deps.confirm }).custodyOf,
    clock,
    tokens: current && createApprovalTokens([current, ...former]),
    linkBase,
  };
  return {
    service: createSignerService({
      ...shared,
      store,
      signIn: deps.signIn,
      states,
      registry: keyRegistryFromIndex(db),
      keyRequests: createKeyRequests({
        ...shared,
        store: oneTime,
        stored: createStoredKeyRequests({ store: oneTime, facts, clock }),
      }),
      thread,
    }),
    approve: {
      thread,
      transactions,
      namesOf: (fid) => userNames(db, fid),
      linkBase,
      staleReason,
      demo: isDemo(db) ? demoPeople() : undefined,
    },
  };
}

/** Refuses all calls that need the thread if it was not started. */
const refuseAll = async () => noMasterKey();
const absentThread: RpcClient<SignersRpc> = {
  createSigner: refuseAll,
  importSigner: refuseAll,
  exportSigner: refuseAll,
  deleteSigner: refuseAll,
  viewApproval: refuseAll,
  prepareApproval: refuseAll,
  submitApproval: refuseAll,
};

/** Returns the base URL of links: that of the settings, or the listening one on a loopback address. */
export function linkBaseOf(
  { service, http }: Pick<Config, "service" | "http">,
  listening: () => string | undefined,
): () => string | undefined {
  if (service.public_url !== "") return () => service.public_url;
  return () => (isLoopbackHost(http.host) ? listening() : undefined);
}

/** Returns the people of the demo network. Their keys are loaded only when a visitor signs as one of them. */
function demoPeople(): NonNullable<ApproveDeps["demo"]> {
  const keysOf = async (fid: number) => (await import("../../../demo/keys.ts")).demoKeys(fid)?.custody;
  return {
    async custodyOf(fid) {
      const custody = await keysOf(fid);
      return custody && fromHex(custody.address);
    },
    async sign(fid, { keyAdd, keyRequest }) {
      const custody = await keysOf(fid);
      if (!custody) throw new Error(`fid ${fid} is not a user of the demo network`);
      const { privateKeyToAccount } = await import("viem/accounts");
      const account = privateKeyToAccount(custody.privateKey);
      // The library's types expect integers as bigint, while wallets accept text.
      const sign = async (data: unknown) =>
        fromHex(await account.signTypedData(data as Parameters<typeof account.signTypedData>[0]));
      return {
        custodySignature: await sign(keyAdd),
        requestSignature: keyRequest ? await sign(keyRequest) : undefined,
      };
    },
  };
}

/** Longer than all waits of a write together. */
const TIMEOUT_MS = 60_000;

/** The thread for writes, which also has users' private keys. */
export interface WritesThread {
  readonly writes: Writes;
  readonly signers: RpcClient<SignersRpc>;
  readonly tokens: RpcClient<TokenSignerRpc>;
}

export function connectWrites(port: MessagePort): WritesThread {
  const client = connectRpc<WritesRpc & SignersRpc & TokenSignerRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new Error("the thread of writes did not respond in time"),
  });
  return {
    writes: {
      submit: (call) => client.submit(call),
      find: (ownerFid, hash) => client.find(ownerFid, hash),
    },
    signers: client,
    tokens: client,
  };
}
