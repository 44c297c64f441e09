import type { Story } from "../../demo/story-report.ts";
import { request } from "../data/request.ts";
import { noSessionReason, setOwner, storeSession } from "../owner/owner.ts";
import { createSessionKey } from "../owner/session-request.ts";
import { DEMO_WALLET_RDNS } from "../owner/wallet/demo-wallet.ts";
import { borrowWallet } from "../owner/wallet/demo-wallet-requests.ts";
import * as msg from "../text/en/common.ts";

/** A story, and what lets the page act for its person; undefined if this browser cannot have a session. */
export interface StoryRun {
  readonly story: Story;
  readonly becomeItsPerson: (() => Promise<void>) | undefined;
}

/** Lets the node run the story, with a session for a key of this browser. */
export async function runStory(): Promise<StoryRun> {
  const key = noSessionReason() === undefined ? await createSessionKey() : undefined;
  const story = await request<Story>({
    method: "POST",
    path: "/console/demo/story",
    body: key ? { public_key: key.publicKey } : {},
  });
  const { fid, address, session } = story;
  if (!key || !session) return { story, becomeItsPerson: undefined };
  const { session_id: id, access, expires_at: expiresAt } = session;
  const { privateKey } = key;
  const who = { fid, address, walletId: DEMO_WALLET_RDNS, walletName: msg.aDemoPersonsWallet, isDemo: true };
  return {
    story,
    async becomeItsPerson() {
      await borrowWallet(fid);
      await storeSession({ ...who, sessionId: id, access, expiresAt, privateKey });
      setOwner({ ...who, session: { id, access, expiresAt, privateKey } });
    },
  };
}
