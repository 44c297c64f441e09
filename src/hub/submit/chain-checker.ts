import { TURNS } from "../../admission/budgets.ts";
import { FairTurns } from "../../admission/fair-turns.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { loadOnce } from "../../lib/promises.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { invalid, type Rejection, rejection } from "../../protocol/rejection.ts";
import { needsChainCheck } from "../../protocol/validate/requirements.ts";

const ownsAddress = statement<{ one: number }, [fid: number, address: Uint8Array]>(
  "chain.owns-address",
  `SELECT 1 AS one FROM fids WHERE fid = ?1 AND custody = ?2
   UNION ALL SELECT 1 FROM verifications WHERE fid = ?1 AND address = ?2 LIMIT 1`,
);

const TOO_MANY_WAIT = rejection("unavailable", "too many messages wait for the Ethereum RPC; try again");

/** Checks on a chain what a submitted message cannot prove by itself. */
export type ChainChecker = ReturnType<typeof createChainChecker>;

/**
 * Creates a checker against Ethereum mainnet over `l1RpcUrl`. Without it, messages that need a chain are refused as
 * unavailable. A verification by a contract on another chain is unavailable too, because there is no RPC for it. A limited
 * number of checks run concurrently and a limited number wait, at most half of both for one client; further ones are
 * unavailable.
 */
export function createChainChecker(options: { db: IndexDatabase; l1RpcUrl: string }) {
  const { l1RpcUrl } = options;
  // The first check loads the clients, with most of viem. Few nodes ever make one.
  const load = loadOnce(async () => (await import("./chain-calls.ts")).createChainCalls(l1RpcUrl));
  const turns = new FairTurns(TURNS.chainChecks);
  return {
    /**
     * Returns undefined if the message needs nothing from a chain, or the chain confirms it.
     *
     * @param client the client whose share of the checks it uses.
     */
    async check(message: SignedMessage, client: string): Promise<Rejection | undefined> {
      const need = needsChainCheck(message.data);
      if (!need) return undefined;
      if (l1RpcUrl === "")
        return rejection("unavailable", "this node has no Ethereum RPC to check the message with");
      // A check against the index costs no call.
      if (need.kind === "name-proof" && !options.db.get(ownsAddress, need.fid, need.owner))
        return invalid("owner is neither the custody address nor a verified address of the fid");
      try {
        const checked = await turns.run(client, async () => ({
          refusal: await (await load()).confirm(need),
        }));
        return checked === undefined ? TOO_MANY_WAIT : checked.refusal;
      } catch {
        // Without a response, the message is neither valid nor invalid. Its sender may try again.
        return rejection("unavailable", "the Ethereum RPC returned no response to check the message with");
      }
    },
  };
}
