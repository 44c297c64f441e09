import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import {
  isOwnerKnown,
  lastFid,
  noSessionReason,
  owner,
  ownerOfTab,
  readSession,
  sessionOf,
  setOwner,
} from "./owner.ts";
import { borrowedFid, DEMO_WALLET_RDNS } from "./wallet/demo-wallet.ts";

let restoring: Promise<void> | undefined;

/**
 * Restores the owner of the last visit, who needs no wallet while the session lasts; without a session, the owner of this tab. On a demo
 * network it is the person whose wallet is borrowed, now and whenever a tab of the browser changes that.
 */
export function restoreOwner(): Promise<void> {
  restoring ??= restore().finally(() => {
    isOwnerKnown.value = true;
    if (pageConfig.demo) borrowedFid.subscribe(followDemoWallet);
  });
  return restoring;
}

const sessionFor = async (fid: number) =>
  noSessionReason() === undefined ? await readSession(fid) : undefined;

async function restore(): Promise<void> {
  const borrowed = pageConfig.demo ? borrowedFid.peek() : undefined;
  if (borrowed !== undefined) return actAs(borrowed);
  const fid = lastFid();
  if (fid === undefined) return;
  const stored = await sessionFor(fid);
  const known = stored ?? ownerOfTab(fid);
  // The wallet of a demo person was returned.
  if (owner.peek() || !known || known.isDemo) return;
  const { address, walletId, walletName, isDemo } = known;
  setOwner({ fid, address, walletId, walletName, isDemo, session: stored && sessionOf(stored) });
}

async function addressOf(fid: number): Promise<string> {
  const { keysOf } = await import("./wallet/demo-wallet-requests.ts");
  return (await keysOf(fid)).custody.address;
}

/** Acts for a person of the demo network, with this browser's session for them. */
async function actAs(fid: number): Promise<void> {
  const stored = await sessionFor(fid);
  // While the node does not respond, the person's address is unknown; the next page tries again.
  const address = stored?.isDemo ? stored.address : await addressOf(fid).catch(() => undefined);
  if (address === undefined || borrowedFid.peek() !== fid || owner.peek()?.fid === fid) return;
  const session = stored?.address === address ? sessionOf(stored) : undefined;
  const wallet = { walletId: DEMO_WALLET_RDNS, walletName: msg.aDemoPersonsWallet, isDemo: true };
  setOwner({ fid, address, ...wallet, session });
}

/** Keeps the owner in sync with the person of the demo wallet. */
function followDemoWallet(fid: number | undefined): void {
  const current = owner.peek();
  if (current?.fid === fid) return;
  if (fid !== undefined) {
    // The listener of a connected demo wallet follows by itself and shows a note on the page.
    if (!current?.isDemo || !current.wallet) void actAs(fid);
  } else if (current?.isDemo) setOwner(undefined);
}
