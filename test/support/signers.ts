import { hashTypedData } from "viem/utils";
import { custodyFromIndex, neverStale } from "../../src/auth/owners/custody.ts";
import { createOwners } from "../../src/auth/owners/owners.ts";
import type { RpcClient } from "../../src/lib/port-rpc.ts";
import { ok } from "../../src/lib/result.ts";
import { fromHex } from "../../src/protocol/validate/eth.ts";
import { FarcasterNetwork, Message } from "../../src/protocol/wire/generated/message.ts";
import { createSignInNonces } from "../../src/sign-in/nonces.ts";
import { peopleFromIndex } from "../../src/sign-in/people.ts";
import { createSignInVerifier } from "../../src/sign-in/verify-message.ts";
import { createApprovalTokens, tokenKeysOf } from "../../src/signers/approval/approval-token.ts";
import { createApprovals } from "../../src/signers/approval/approvals.ts";
import { createKeyRequestApprovals } from "../../src/signers/approval/key-request-approvals.ts";
import { createKeyRequests, createStoredKeyRequests } from "../../src/signers/approval/key-requests.ts";
import { createLinkCalls } from "../../src/signers/approval/link-calls.ts";
import { keyFactsFromIndex, keyRegistryFromIndex } from "../../src/signers/key-facts.ts";
import { refuse } from "../../src/signers/refusal.ts";
import { type SignersRpc, signersRpc } from "../../src/signers/rpc.ts";
import { createSignerKeys, type SubmitMessage } from "../../src/signers/signer-keys.ts";
import { createSignerService } from "../../src/signers/signer-service.ts";
import { createSignerStates } from "../../src/signers/signer-states.ts";
import { createSigning } from "../../src/signers/signing.ts";
import { createVault } from "../../src/signers/vault.ts";
import { readMasterKey } from "../../src/vault/master-key.ts";
import { registerEvent } from "./events.ts";
import { makeWallet, signDigest, type TestWallet } from "./messages.ts";
import { startTestNode } from "./node.ts";
import { openStateFile } from "./state-file.ts";
import { localStores } from "./state-stores.ts";

export const MASTER_KEY = "5a".repeat(32);
export const LINK_BASE = "https://node.example";

/** The registered fids, whose custody wallets are `custodyOf(fid)`. */
const FIDS = [3, 4, 7, 9];
export const custodyOf = (fid: number) => makeWallet(`custody ${fid}`);

interface TypedData {
  // biome-ignore lint/suspicious/noExplicitAny: typed data of any type, as a wallet gets it
  readonly [part: string]: any;
}

/** Signs typed data as a wallet does, with an independent library. */
export function signTypedData(data: TypedData, wallet: TestWallet): Uint8Array {
  // biome-ignore lint/suspicious/noExplicitAny: the library's types ask for the types of one message
  return signDigest(fromHex(hashTypedData(data as any)), wallet);
}

/** Managed signers over a real index and a real state database, without threads and HTTP. */
export function openSigners(options: { readonly maxSigners?: number; readonly export?: boolean } = {}) {
  const node = startTestNode();
  const file = openStateFile();
  const { clock, db } = node;
  const monotonic = { nowMs: 0 };
  for (const fid of FIDS) node.ingestEvent(registerEvent(fid, custodyOf(fid).address, { block: 1000 + fid }));
  const stores = localStores(file.db, { clock });
  const master = readMasterKey(MASTER_KEY);
  const vault = createVault([master]);
  const facts = keyFactsFromIndex(db);
  const registry = keyRegistryFromIndex(db);
  const appliedBlocks = () => null;
  const states = createSignerStates({ store: stores.signers, facts, clock, appliedBlocks });
  const submitted: Message[] = [];
  const submit: SubmitMessage = async ({
    dataBytes,
    hash,
    signature,
    signer,
    hashScheme,
    signatureScheme,
  }) => {
    const message = { data: undefined, dataBytes, hash, signature, signer, hashScheme, signatureScheme };
    submitted.push(Message.fromPartial(message));
    const code = node.ingestMessage(Message.encode(Message.fromPartial(message)).finish());
    return code === "ok" ? ok("merged") : refuse("badRequest", code);
  };
  const shared = { store: stores.signers, states, registry, vault, clock, submit };
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const settings = { export: options.export ?? true, max_signers_per_owner: options.maxSigners ?? 100 };
  const keys = createSignerKeys({ ...shared, audit: stores.audit, facts, network, settings, appliedBlocks });
  const approving = {
    ...shared,
    facts,
    custodyOf: custodyFromIndex(db),
    network,
    keyTtlSecs: 86_400,
    calls: createLinkCalls(() => monotonic.nowMs),
  };
  const stored = createStoredKeyRequests({ store: stores.oneTime, facts, clock });
  const approvals = createApprovals(approving);
  const keyRequestApprovals = createKeyRequestApprovals({ ...approving, stored });
  const [tokenKey = new Uint8Array(32), ...former] = tokenKeysOf([master]);
  const thread = signersRpc(keys, approvals, keyRequestApprovals) as unknown as RpcClient<SignersRpc>;
  const nonces = createSignInNonces({ store: stores.signInNonces, clock });
  const owned = {
    audit: stores.audit,
    custodyOf: custodyFromIndex(db),
    clock,
    tokens: createApprovalTokens([tokenKey, ...former]),
    linkBase: () => LINK_BASE,
  };
  const service = createSignerService({
    ...owned,
    store: stores.signers,
    signIn: {
      nonces,
      verifier: createSignInVerifier({
        nonces,
        people: peopleFromIndex(db, { owners: createOwners({ db }), followed: undefined }),
        clock,
        contracts: undefined,
        staleReason: neverStale,
      }),
    },
    states,
    facts,
    registry,
    keyRequests: createKeyRequests({ ...owned, store: stores.oneTime, stored }),
    thread,
  });
  return {
    node,
    clock,
    monotonic,
    stores,
    service,
    thread,
    approvals,
    keyRequests: service.keyRequests,
    submitted,
    vault,
    signing: createSigning({ store: stores.signers, states, vault }),
    [Symbol.dispose]() {
      file[Symbol.dispose]();
      node[Symbol.dispose]();
    },
  };
}
