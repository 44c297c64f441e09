import { err, ok, type Result } from "../../lib/result.ts";
import { signInText } from "../../protocol/sign-in-text.ts";
import { fromHex, type Hex } from "../../protocol/validate/eth.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { checksumAddress } from "../../sign-in/checksum-address.ts";
import type { SignInNonces } from "../../sign-in/nonces.ts";
import { createOneTimeSecret, type OneTimeStore, oneTimeDigest } from "../../sign-in/one-time-store.ts";
import type { CountSignIn } from "../../sign-in/sign-in-metrics.ts";
import type { SignInRefusal, SignInVerifier } from "../../sign-in/verify-message.ts";
import type { SignerRefusal } from "../refusal.ts";
import type { SignerService } from "../signer-service.ts";
import type { RequestOrigin } from "../signer-states.ts";
import type { LoginClient, LoginClientStore } from "./client-store.ts";

/** How an app wants to receive its result, from the query of the page. The node checks it against the client. */
export interface LoginTarget {
  readonly redirectUri?: string | undefined;
  readonly state?: string | undefined;
  readonly deeplinkUrl?: string | undefined;
}

/** Who signed in, and their signer for the client's owner. Null for a client that only reads. */
export interface LoggedIn {
  readonly fid: number;
  readonly signerUuid: string | null;
}

/** What follows a signed message: the result, or a signer that its user has to approve first. */
export type LoginStep =
  | { readonly kind: "done"; readonly loggedIn: LoggedIn; readonly redirectTo: string | null }
  | {
      readonly kind: "approve";
      readonly fid: number;
      readonly approvalToken: string;
      readonly visit: string;
    };

export type LoginRefusal =
  | { readonly kind: "unknown-client" | "target" | "over" | "not-approved" }
  | { readonly kind: "sign-in"; readonly refusal: SignInRefusal }
  | { readonly kind: "signer"; readonly refusal: SignerRefusal };

/** Sign-in on the login page, compatible with pages that use the button of the hosted API. */
export interface Logins {
  client(clientId: string): Promise<LoginClient | undefined>;
  /** Reports whether a result may be sent to the target in the page's query. */
  mayGo(client: LoginClient, target: LoginTarget): boolean;
  /** Returns the message that a visitor signs for a client's page on this node. It is not valid for any other client. */
  messageFor(clientId: string, address: Uint8Array, fid: number): Promise<string | undefined>;
  signIn(
    clientId: string,
    signed: { readonly message: string; readonly signature: string },
    target: LoginTarget,
    origin: RequestOrigin & { readonly client: string },
  ): Promise<Result<LoginStep, LoginRefusal>>;
  /** Returns the result of a visit after its signer was approved. */
  finish(
    clientId: string,
    visit: string,
    target: LoginTarget,
    origin: RequestOrigin,
  ): Promise<Result<LoginStep & { kind: "done" }, LoginRefusal>>;
  /** Exchanges a code: once, within 60 seconds, and only for its client, owner and redirect URI. */
  exchange(request: {
    readonly code: string;
    readonly clientId: string;
    readonly redirectUri: string;
    readonly ownerFid: number;
  }): Promise<LoggedIn | undefined>;
}

export interface LoginsDeps {
  readonly clients: Pick<LoginClientStore, "find">;
  readonly store: OneTimeStore;
  readonly nonces: SignInNonces;
  readonly verifier: SignInVerifier;
  readonly signers: Pick<SignerService, "forLogin" | "find">;
  readonly linkBase: () => string | undefined;
  /** Clock of the state. */
  readonly clock: Clock;
  readonly count: CountSignIn;
}

const VISIT_SECS = 600;
const CODE_SECS = 60;
const SIGNER_SECS = 86_400;
const MAX_ENTRIES = 20_000;
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2})+$/;

interface Visit extends LoggedIn {
  readonly clientId: string;
}

interface Code extends Visit {
  readonly redirectUri: string;
}

export function createLogins(deps: LoginsDeps): Logins {
  const { clients, store, nonces, verifier, signers, linkBase, clock, count } = deps;
  const client = (clientId: string) => clients.find(clientId, nowSecs(clock));

  const mayGo: Logins["mayGo"] = ({ redirectUris }, { redirectUri, deeplinkUrl }) => {
    const schemes = redirectUris.map((uri) => URL.parse(uri)?.protocol).filter((one) => one !== "https:");
    const scheme = deeplinkUrl === undefined ? undefined : URL.parse(deeplinkUrl)?.protocol;
    return (
      (redirectUri === undefined || redirectUris.includes(redirectUri)) &&
      (deeplinkUrl === undefined || (scheme !== undefined && schemes.includes(scheme)))
    );
  };

  /** Returns where to redirect the visitor with the result, if the app asked for a redirect. */
  async function redirectOf(
    { clientId }: LoginClient,
    loggedIn: LoggedIn,
    { redirectUri, state, deeplinkUrl }: LoginTarget,
  ): Promise<string | null> {
    if (deeplinkUrl !== undefined)
      return withQuery(deeplinkUrl, {
        is_authenticated: "true",
        signer_uuid: loggedIn.signerUuid ?? "",
        fid: String(loggedIn.fid),
      });
    if (redirectUri === undefined) return null;
    const code = createOneTimeSecret();
    const payload: Code = { ...loggedIn, clientId, redirectUri };
    const entry = { digest: oneTimeDigest("login-code", code), kind: "login-code" as const, payload };
    await store.push({ ...entry, expiresAt: nowSecs(clock) + CODE_SECS }, MAX_ENTRIES);
    return withQuery(redirectUri, { code, ...(state === undefined ? {} : { state }) });
  }

  async function done(loginClient: LoginClient, loggedIn: LoggedIn, target: LoginTarget) {
    const redirectTo = await redirectOf(loginClient, loggedIn, target);
    count("login", "ok", "");
    return ok({ kind: "done" as const, loggedIn, redirectTo });
  }

  return {
    client,
    mayGo,

    async messageFor(clientId, address, fid) {
      const base = linkBase();
      if (base === undefined) return undefined;
      const nonce = await nonces.issue("sign-in");
      const { host } = new URL(base);
      return signInText({
        domain: host,
        address: checksumAddress(address),
        uri: pageOf(base, clientId),
        nonce,
        issuedAtMs: clock.nowMs(),
        fid,
      });
    },

    async signIn(clientId, { message, signature }, target, origin) {
      const loginClient = await client(clientId);
      const base = linkBase();
      if (!loginClient || base === undefined) return err({ kind: "unknown-client" });
      if (!mayGo(loginClient, target)) return err({ kind: "target" });
      const signedIn = SIGNATURE.test(signature)
        ? await verifier.verify({
            text: message,
            signature: fromHex(signature as Hex),
            domain: new URL(base).host,
            acceptsAuthAddress: true,
            client: origin.client,
          })
        : err<SignInRefusal>({ reason: "malformed", message: "signature must be 0x and hex digits" });
      if (!signedIn.ok) {
        count("login", "refused", signedIn.error.reason);
        return err({ kind: "sign-in", refusal: signedIn.error });
      }
      const { fid, message: read } = signedIn.value;
      if (read.uri !== pageOf(base, clientId)) {
        count("login", "refused", "domain_mismatch");
        const refusal: SignInRefusal = {
          reason: "domain_mismatch",
          message: "URI of the message is not the page of the client",
        };
        return err({ kind: "sign-in", refusal });
      }
      if (loginClient.permissions === "read") return done(loginClient, { fid, signerUuid: null }, target);
      // Keeps a single pending signer per client and user, however often they return without approving it.
      const waiting = oneTimeDigest("login-signer", `${clientId}\0${fid}`);
      const known = (await store.find(waiting, nowSecs(clock)))?.payload as
        | { signerUuid: string }
        | undefined;
      const { requestId, address } = origin;
      const actor = { ownerFid: loginClient.ownerFid, apiKeyId: null, requestId, address };
      const signer = await signers.forLogin(actor, fid, known?.signerUuid);
      if (!signer.ok) return err({ kind: "signer", refusal: signer.error });
      const { signerUuid, approvalToken } = signer.value;
      if (approvalToken === null) return done(loginClient, { fid, signerUuid }, target);
      const now = nowSecs(clock);
      const visit = createOneTimeSecret();
      const payload: Visit = { clientId, fid, signerUuid };
      await store.push(
        { digest: waiting, kind: "login-signer", payload: { signerUuid }, expiresAt: now + SIGNER_SECS },
        MAX_ENTRIES,
      );
      await store.push(
        {
          digest: oneTimeDigest("login-visit", visit),
          kind: "login-visit",
          payload,
          expiresAt: now + VISIT_SECS,
        },
        MAX_ENTRIES,
      );
      return ok({ kind: "approve", fid, approvalToken, visit });
    },

    async finish(clientId, visit, target, origin) {
      const digest = oneTimeDigest("login-visit", visit);
      const found = (await store.find(digest, nowSecs(clock)))?.payload as Visit | undefined;
      const loginClient = found?.clientId === clientId ? await client(clientId) : undefined;
      if (!found?.signerUuid || !loginClient) return err({ kind: "over" });
      if (!mayGo(loginClient, target)) return err({ kind: "target" });
      const actor = { ownerFid: loginClient.ownerFid, apiKeyId: null, ...origin };
      const signer = await signers.find(actor, found.signerUuid);
      const isApproved = signer.ok && signer.value.state.status === "approved";
      if (!isApproved || signer.value.state.fid !== found.fid) return err({ kind: "not-approved" });
      if (!(await store.take(digest, nowSecs(clock)))) return err({ kind: "over" });
      return done(loginClient, { fid: found.fid, signerUuid: found.signerUuid }, target);
    },

    async exchange({ code, clientId, redirectUri, ownerFid }) {
      const taken = await store.take(oneTimeDigest("login-code", code), nowSecs(clock));
      const payload = taken?.payload as Code | undefined;
      if (payload?.clientId !== clientId || payload.redirectUri !== redirectUri) return undefined;
      const loginClient = await client(clientId);
      return loginClient?.ownerFid === ownerFid
        ? { fid: payload.fid, signerUuid: payload.signerUuid }
        : undefined;
    },
  };
}

/** Returns the page that a message is for. */
const pageOf = (base: string, clientId: string) => `${base}/login?client_id=${clientId}`;

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return target.href;
}
