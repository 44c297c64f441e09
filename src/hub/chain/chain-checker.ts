import { type Chain, createPublicClient, http, type PublicClient } from "viem";
import { mainnet } from "viem/chains";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { createOutboundClient } from "../../net/client.ts";
import { createUrlGuard } from "../../net/guard.ts";
import { createOperatorFetch } from "../../net/operator-fetch.ts";
import { invalid, type Rejection, rejection } from "../../protocol/rejection.ts";
import type { SignedMessage } from "../../protocol/signed-message.ts";
import { type ChainCheck, needsChainCheck } from "../../protocol/validate/requirements.ts";
import { createGatewayRequest } from "./ccip-gateway.ts";

const ownsAddress = statement<{ one: number }, [fid: number, address: Uint8Array]>(
  "chain.owns-address",
  `SELECT 1 AS one FROM fids WHERE fid = ?1 AND custody = ?2
   UNION ALL SELECT 1 FROM verifications WHERE fid = ?1 AND address = ?2 LIMIT 1`,
);

const CALL_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** A check makes a few calls, one after the other. */
const MAX_CHECKS = { running: 8, waiting: 100 };
const TOO_MANY_WAIT = rejection("unavailable", "too many messages wait for the Ethereum RPC; try again");

/** Checks on a chain what a submitted message cannot prove by itself. */
export interface ChainChecker {
  /** Returns undefined if the message needs nothing from a chain, or the chain confirms it. */
  check(message: SignedMessage): Promise<Rejection | undefined>;
}

/**
 * Checks against Ethereum mainnet over `l1RpcUrl`. Without it, messages that need a chain are refused as unavailable.
 * A verification by a contract on another chain is unavailable too, because there is no RPC for it. A bounded number
 * of checks run concurrently and a bounded number wait; more are unavailable.
 */
export function createChainChecker(options: { db: IndexDatabase; l1RpcUrl: string }): ChainChecker {
  const clients = options.l1RpcUrl === "" ? undefined : createClients(options.l1RpcUrl);
  const limit = new ConcurrencyLimit(MAX_CHECKS);
  return {
    async check(message) {
      const need = needsChainCheck(message.data);
      if (!need) return undefined;
      if (!clients)
        return rejection("unavailable", "this node has no Ethereum RPC to check the message with");
      // A check against the index costs no call.
      if (need.kind === "name-proof" && !options.db.get(ownsAddress, need.fid, need.owner))
        return invalid("owner is neither the custody address nor a verified address of the fid");
      try {
        return await (limit.run(() => runCheck(need, clients)) ?? TOO_MANY_WAIT);
      } catch {
        // Without a response the message is neither valid nor invalid. Its sender may try again.
        return rejection("unavailable", "the Ethereum RPC returned no response to check the message with");
      }
    },
  };
}

interface Clients {
  readonly plain: PublicClient;
  readonly gateways: PublicClient;
}

/**
 * The operator trusts the RPC. Anyone can own a name under `.eth`, so the gateways of its resolver are not called at
 * all. Basenames all resolve through base.eth, whose gateway is called like any untrusted URL.
 */
function createClients(l1RpcUrl: string): Clients {
  const chain: Chain = mainnet;
  const transport = http(l1RpcUrl, {
    timeout: CALL_TIMEOUT_MS,
    retryCount: 1,
    maxResponseBodySize: MAX_RESPONSE_BYTES,
    fetchFn: createOperatorFetch(l1RpcUrl),
  });
  const guard = createUrlGuard({ allowCidrs: [], allowHttp: false });
  const request = createGatewayRequest(createOutboundClient({ guard }));
  return {
    plain: createPublicClient({ chain, transport, ccipRead: false }),
    gateways: createPublicClient({ chain, transport, ccipRead: { request } }),
  };
}

async function runCheck(need: ChainCheck, clients: Clients): Promise<Rejection | undefined> {
  if (need.kind === "contract-verification") {
    if (need.chainId !== mainnet.id)
      return rejection("unavailable", `this node has no RPC for chain ${need.chainId}`);
    const accepted = await clients.plain.verifyHash({
      address: hex(need.address),
      hash: hex(need.claimHash),
      signature: hex(need.signature),
    });
    // viem reports a failed call as not accepted. A second call that succeeds shows that the RPC works and the result
    // is real.
    if (!accepted) await clients.plain.getChainId();
    return accepted ? undefined : invalid("the contract does not accept the claim signature");
  }
  const client = need.chainId === mainnet.id ? clients.plain : clients.gateways;
  const resolved = await client.getEnsAddress({ name: need.name });
  if (resolved?.toLowerCase() !== hex(need.owner))
    return invalid("name does not resolve to the owner of the proof");
  return undefined;
}

function hex(bytes: Uint8Array): `0x${string}` {
  return `0x${bytes.toHex()}`;
}
