import type { MessageType } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ApprovalTokens } from "./approval/approval-token.ts";
import type { KeyFacts } from "./key-facts.ts";
import type { SignerActor } from "./signer-keys.ts";
import type { RequestOrigin, SeenSigner, SignerState, SignerStates } from "./signer-states.ts";

import type { SignerStore, StoredSigner } from "./store/signer-store.ts";

/** A signer, for its owner. */
export interface SignerView {
  readonly signer: StoredSigner;
  readonly state: SignerState;
  /** URL at which a user approves it. Undefined unless approval is pending. */
  readonly approvalUrl: string | undefined;
}

/** Maximum number of signers listed for a sign-in. */
const MAX_SIGNED_IN = 1000;
/** Maximum number of a user's keys that are looked up to find signers whose approval has not been seen yet. */
const MAX_UNSEEN = 100;
/**
 * Maximum number of a user's signers, and then of their keys, that are searched for one that may write. The network allows about as many
 * keys per user.
 */
export const MAX_FIRST = 100;
const MAX_KEYS = 1000;

/** Creates the views of signers for their owners, and finds which of a user's signers may write. */
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

  /** Returns an owner's signers of a user, including those whose approval has not been seen yet. */
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

  /**
   * Returns the first of a user's signers that may sign messages of a type: one of `first`, otherwise one that has one of the user's
   * keys.
   */
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
    // The first signers may all be revoked, but the user has only a few keys now.
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
