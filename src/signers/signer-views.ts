import type { MessageType } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ApprovalTokens } from "./approval/approval-token.ts";
import type { KeyFacts } from "./key-facts.ts";
import type { SignerActor } from "./signer-keys.ts";
import type { RequestOrigin, SeenSigner, SignerState, SignerStates } from "./signer-states.ts";

import type { SignerStore, StoredSigner } from "./store/signer-store.ts";

/** A signer as its owner sees it. */
export interface SignerView {
  readonly signer: StoredSigner;
  readonly state: SignerState;
  /** Where a user approves it; undefined unless it waits for that. */
  readonly approvalUrl: string | undefined;
}

/** Signers of a sign-in that are listed. */
const MAX_SIGNED_IN = 1000;
/** Keys of a user that are looked up, because a signer of theirs may not have been seen approved yet. */
const MAX_UNSEEN = 100;
/** A user's signers and then the keys that are looked through for one that may write. The network allows about as many keys. */
export const MAX_FIRST = 100;
const MAX_KEYS = 1000;

/** What owners see of signers, and which of a user's signers may write. */
export function createSignerViews({
  store,
  states,
  facts,
  clock,
  tokens,
  linkBase,
}: {
  readonly store: SignerStore;
  readonly states: SignerStates;
  readonly facts: KeyFacts;
  readonly clock: Clock;
  readonly tokens: ApprovalTokens | undefined;
  readonly linkBase: () => string | undefined;
}) {
  function viewOf({ signer, state }: SeenSigner): SignerView {
    const { request } = signer;
    const base = linkBase();
    const token = state.status === "pending_approval" && request ? tokens?.textOf(request) : undefined;
    return { signer, state, approvalUrl: token && base && `${base}/approve/${token}` };
  }
  const view = async (signer: StoredSigner, origin: RequestOrigin) =>
    viewOf(await states.see(signer, origin));
  const viewAll = (signers: readonly StoredSigner[], origin: RequestOrigin) =>
    Promise.all(signers.map((signer) => view(signer, origin)));

  /** An owner's signers of a user, with those whose approval has not been seen yet. */
  async function signersOfUser(ownerFid: number, fid: number, origin: RequestOrigin) {
    const listed = await store.listByOwnerAndFid(ownerFid, fid, { after: 0, limit: MAX_SIGNED_IN });
    const known = new Set(listed.map(({ publicKey }) => keyText(publicKey)));
    const unseen: SignerView[] = [];
    for (const key of facts.keysOf(fid, nowSecs(clock), MAX_UNSEEN)) {
      if (known.has(keyText(key))) continue;
      const signer = await store.findByKey(key);
      if (signer?.ownerFid !== ownerFid || signer.approval) continue;
      const seen = await view(signer, origin);
      if (seen.state.fid === fid) unseen.push(seen);
    }
    return [...(await viewAll(listed, origin)), ...unseen];
  }

  /** Returns the first of a user's signers that may sign messages of a type: one of `first`, or of those of the user's keys. */
  async function writerAmong(
    first: readonly StoredSigner[],
    wanted: {
      readonly actor: SignerActor;
      readonly fid: number;
      readonly type: MessageType;
      readonly isUsable: (signer: StoredSigner) => boolean;
    },
  ): Promise<SignerView | undefined> {
    const { actor, fid, type, isUsable } = wanted;
    const mayWrite = async (signer: StoredSigner | undefined) => {
      if (!signer || !isUsable(signer) || !signer.permissions.includes(type)) return undefined;
      const seen = await view(signer, actor);
      return seen.state.status === "approved" && seen.state.fid === fid ? seen : undefined;
    };
    for (const signer of first) {
      const found = await mayWrite(signer);
      if (found) return found;
    }
    // Those that come first may all be revoked. The keys that the user has now are few.
    for (const key of facts.keysOf(fid, nowSecs(clock), MAX_KEYS)) {
      const found = await mayWrite(await store.findByKey(key));
      if (found) return found;
    }
    return undefined;
  }

  return { view, viewAll, signersOfUser, writerAmong };
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
