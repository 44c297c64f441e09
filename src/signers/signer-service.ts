import { type AuditStore, recordRefusal } from "../audit/audit-store.ts";
import type { ConfirmedCustodyOf } from "../auth/owners/owners.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import { ok, type Result } from "../lib/result.ts";
import type { MessageType } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { isRedirectUrl } from "../sign-in/domain.ts";
import type { SignInNonces } from "../sign-in/nonces.ts";
import type { SignInRefusal, SignInVerifier } from "../sign-in/verify-message.ts";
import type { ApprovalTokens } from "./approval/approval-token.ts";
import type { KeyRequests } from "./approval/key-requests.ts";
import {
  createUserRequests,
  noLinks,
  refuseDeadline,
  registration,
  type UserRequests,
} from "./approval/user-requests.ts";
import { domainOf, recoverKeyRequest } from "./key-add.ts";
import type { KeyFacts, KeyRegistry } from "./key-facts.ts";
import { noMasterKey, refuse, type SignerRefusal, unknownSigner } from "./refusal.ts";
import type { SignersRpc } from "./rpc.ts";
import type { SignerActor } from "./signer-keys.ts";
import type { SignerStates } from "./signer-states.ts";
import { createSignerViews, MAX_FIRST, type SignerView } from "./signer-views.ts";
import type { SignerPage, SignerStore } from "./store/signer-store.ts";

/** An app's request that a user approve a signer. */
export interface RegisterRequest {
  readonly signerUuid: string;
  readonly appFid: number;
  /** Unix seconds. */
  readonly deadline: number;
  /** The app's custody signature of the SignedKeyRequest, under either domain. */
  readonly signature: Uint8Array;
  /** Signature of the same request for gasless keys. */
  readonly gaslessSignature: Uint8Array | undefined;
  readonly redirectUrl: string | undefined;
}

/** Managed signers, for their owners. */
export interface SignerService extends UserRequests {
  create(actor: SignerActor, permissions: readonly number[]): Promise<Result<SignerView, SignerRefusal>>;
  /** Returns a signer of the owner. */
  lookup(actor: SignerActor, signerUuid: string): Promise<Result<SignerView, SignerRefusal>>;
  register(actor: SignerActor, request: RegisterRequest): Promise<Result<SignerView, SignerRefusal>>;
  /** Lists the owner's signers of a user who signs in. */
  listOfSignIn(
    actor: SignerActor,
    signIn: { readonly message: string; readonly signature: Uint8Array },
  ): Promise<Result<readonly SignerView[], SignerRefusal>>;
  /** Issues a nonce for a sign-in message. */
  issueNonce(): Promise<string>;
  /** Returns a signer that the actor owns, or whose user the actor is. */
  find(actor: SignerActor, signerUuid: string): Promise<Result<SignerView, SignerRefusal>>;
  /** Lists the signers of the actor. With the actor's own fid, lists those whose user the actor is. */
  list(
    actor: SignerActor,
    page: SignerPage & { readonly fid: number | undefined },
  ): Promise<readonly SignerView[]>;
  /** Returns an approved signer of the actor for a user that may sign messages of a type. */
  findWriter(actor: SignerActor, fid: number, type: MessageType): Promise<SignerView | undefined>;
  /** Returns an approved signer of any owner, whose user is the actor, that may sign messages of a type. */
  findOwn(actor: SignerActor, type: MessageType): Promise<SignerView | undefined>;
  /** Keys that apps hold themselves. */
  readonly keyRequests: KeyRequests;
  readonly keys: Pick<RpcClient<SignersRpc>, "importSigner" | "exportSigner" | "deleteSigner">;
}

export interface SignerServiceDeps {
  readonly store: SignerStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly signIn: {
    readonly nonces: Pick<SignInNonces, "issue">;
    readonly verifier: Pick<SignInVerifier, "verifyAddress">;
  };
  readonly states: SignerStates;
  readonly facts: KeyFacts;
  readonly registry: Pick<KeyRegistry, "fidOfCustody">;
  readonly custodyOf: ConfirmedCustodyOf;
  readonly clock: Clock;
  /** Undefined without a master key. */
  readonly tokens: ApprovalTokens | undefined;
  /** Returns the base URL of links. Undefined if it is unknown. */
  readonly linkBase: () => string | undefined;
  readonly keyRequests: KeyRequests;
  readonly thread: RpcClient<SignersRpc>;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export function createSignerService(deps: SignerServiceDeps): SignerService {
  const {
    store,
    audit,
    signIn: { nonces, verifier },
    states,
    facts,
    registry,
    custodyOf,
    clock,
    tokens,
    linkBase,
    thread,
  } = deps;

  const views = createSignerViews({ store, states, facts, clock, tokens, linkBase });
  const { view, viewAll } = views;

  async function register(
    actor: SignerActor,
    request: RegisterRequest,
  ): Promise<Result<SignerView, SignerRefusal>> {
    const { signerUuid, appFid, deadline, signature, gaslessSignature, redirectUrl } = request;
    if (!tokens) return noMasterKey();
    if (!linkBase()) return noLinks();
    const now = nowSecs(clock);
    const outside = refuseDeadline(deadline, now);
    if (outside) return outside;
    if (redirectUrl !== undefined && !isRedirectUrl(redirectUrl))
      return refuse("badRequest", "redirect_url must be an https URL or a URL of an app's own scheme");
    const found = await store.find(signerUuid);
    if (found?.ownerFid !== actor.ownerFid) return unknownSigner();
    const { signer, state } = await states.see(found, actor);
    if (state.status === "approved")
      return refuse("conflict", "the signer is approved", { code: "conflict" });
    const custody = await custodyOf(appFid);
    if (!custody) return refuse("notFound", `app_fid ${appFid} is not registered`);
    const keyRequest = { requestFid: appFid, key: signer.publicKey, deadline };
    const domain = domainOf(keyRequest, signature, custody);
    if (!domain) return refuse("forbidden", "signature is not of the custody address of app_fid");
    if (gaslessSignature) {
      const by = recoverKeyRequest("gasless", keyRequest, gaslessSignature);
      if (!by || Buffer.compare(by, custody) !== 0)
        return refuse("forbidden", "gasless_signature is not of the custody address of app_fid");
    }
    const stored = await store.request(
      { signerUuid, ownerFid: actor.ownerFid },
      {
        appFid,
        signature,
        gaslessSignature: gaslessSignature ?? (domain === "gasless" ? signature : null),
        deadline,
        redirectUrl: redirectUrl ?? null,
        ...tokens.create(),
      },
      now,
      registration(actor, signer, clock),
    );
    const registered = stored ? await store.find(signerUuid) : undefined;
    return registered ? ok(await view(registered, actor)) : unknownSigner();
  }

  return {
    ...createUserRequests({ ...deps, view }),

    async create(actor, permissions) {
      if (!tokens) return noMasterKey();
      const created = await thread.createSigner(actor, permissions);
      return created.ok ? ok(await view(created.value, actor)) : created;
    },

    async lookup(actor, signerUuid) {
      const signer = await store.find(signerUuid);
      return signer?.ownerFid === actor.ownerFid ? ok(await view(signer, actor)) : unknownSigner();
    },

    async register(actor, request) {
      const signerUuid = UUID.test(request.signerUuid) ? request.signerUuid : null;
      const entry = { ...registration(actor, request, clock), signerUuid };
      return recordRefusal(audit, entry, await register(actor, request));
    },

    async listOfSignIn(actor, { message, signature }) {
      const verified = await verifier.verifyAddress({ text: message, signature, client: actor.address });
      if (!verified.ok) return refusedSignIn(verified.error);
      const fid = registry.fidOfCustody(verified.value.address);
      return ok(fid === undefined ? [] : await views.signersOfUser(actor.ownerFid, fid, actor));
    },

    issueNonce: () => nonces.issue("login"),

    async find(actor, signerUuid) {
      const signer = await store.find(signerUuid);
      if (!signer) return unknownSigner();
      const seen = await view(signer, actor);
      const { ownerFid } = actor;
      return signer.ownerFid === ownerFid || seen.state.fid === ownerFid ? ok(seen) : unknownSigner();
    },

    async list(actor, { fid, ...page }) {
      const { ownerFid } = actor;
      const signers =
        fid === undefined
          ? await store.listByOwner(ownerFid, page)
          : fid === ownerFid
            ? await store.listByFid(fid, page)
            : await store.listByOwnerAndFid(ownerFid, fid, page);
      return viewAll(signers, actor);
    },

    async findWriter(actor, fid, type) {
      const { ownerFid } = actor;
      const first = await store.listByOwnerAndFid(ownerFid, fid, { after: 0, limit: MAX_FIRST });
      return views.writerAmong(first, {
        actor,
        fid,
        type,
        isUsable: (signer) => signer.ownerFid === ownerFid,
      });
    },

    async findOwn(actor, type) {
      const { ownerFid: fid } = actor;
      const first = await store.listByFid(fid, { after: 0, limit: MAX_FIRST });
      return views.writerAmong(first, { actor, fid, type, isUsable: () => true });
    },

    keyRequests: deps.keyRequests,
    keys: thread,
  };
}

function refusedSignIn({ message, cause }: SignInRefusal) {
  if (cause === "limited") return refuse("tooManyRequests", message);
  return refuse(cause === "unavailable" ? "unavailable" : "unauthorized", message);
}
