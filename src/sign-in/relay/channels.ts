import type { Admission } from "../../admission/admission.ts";
import { isSignInTime } from "../../auth/siwe.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { fromHex, type Hex, toHex } from "../../protocol/validate/eth.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { MAX_SIGNATURE_BYTES } from "../contract-signature.ts";
import { isListed, isRedirectUrl, normalizeDomain } from "../domain.ts";
import { NONCE_SECS, type SignInNonces } from "../nonces.ts";
import { createOneTimeSecret, type OneTimeStore, oneTimeDigest } from "../one-time-store.ts";
import type { People } from "../people.ts";
import type { CountSignIn } from "../sign-in-metrics.ts";
import type { AuthMethod } from "../tokens/token.ts";
import type { SignInReason, SignInRefusal, SignInVerifier } from "../verify-message.ts";
import type { SignedInProfile } from "./profile.ts";
import type { UpstreamRelay } from "./upstream-relay.ts";

/** Parameters of the message that an app asks a user to sign. */
export interface ChannelParams {
  readonly siweUri: string;
  readonly domain: string;
  readonly nonce?: string;
  readonly notBefore?: string;
  readonly expirationTime?: string;
  readonly requestId?: string;
  readonly redirectUrl?: string;
  readonly acceptAuthAddress: boolean;
}

/** Who opened a channel, for the user who approves it. */
export interface ChannelOpener {
  readonly ip: string;
  readonly userAgent: string;
}

/** A channel as it is stored. */
export interface Channel extends ChannelOpener {
  readonly params: ChannelParams & { readonly nonce: string };
  /** Whether this service issued the nonce, to any client. Such a nonce can be used once, and allows a token to be issued. */
  readonly isOwnNonce: boolean;
  /** Unix seconds. */
  readonly openedAt: number;
  readonly expiresAt: number;
  /** The channel at the upstream relay. Null if there is none. */
  readonly upstream: { readonly token: string; readonly url: string } | null;
}

/** A completed channel: who signed in, with the profile from the index at that moment. */
export interface Completion extends SignedInProfile {
  readonly message: string;
  readonly signature: Hex;
  readonly authMethod: AuthMethod;
  readonly fid: number;
  readonly custody: Hex;
  /** Quick Auth token for the channel's domain. */
  readonly token?: string;
}

export interface OpenedChannel {
  readonly token: string;
  readonly url: string;
  readonly nonce: string;
}

/** `field`: an invalid member of the request, which `message` names. */
export type OpenRefusal =
  | { readonly kind: "field"; readonly message: string }
  | { readonly kind: "upstream" | "no-url" };

/** Reason why a channel was not completed. */
export type ChannelRefusal =
  | { readonly kind: "unknown" }
  | { readonly kind: "completed" }
  | {
      readonly kind: "refused";
      readonly reason: SignInReason;
      readonly message: string;
      readonly cause?: SignInRefusal["cause"];
    };

/**
 * Web sign-in channels, compatible with the relay protocol that apps already use. The holder of the token polls, and the visitor of the
 * URL approves.
 */
export interface Channels {
  open(
    params: ChannelParams,
    opener: ChannelOpener,
    client: string,
  ): Promise<Result<OpenedChannel, OpenRefusal>>;
  /** Returns the link that the approving user opens. */
  urlOf(token: string, channel: Pick<Channel, "upstream">): string;
  /** Returns an open or completed channel. Also asks the upstream relay if the channel was opened there. */
  find(
    token: string,
    client: string,
  ): Promise<{ channel: Channel; completion: Completion | undefined } | undefined>;
  /** Ends a completed channel. Returns true to the one of concurrent calls that may use its result. */
  end(token: string): Promise<boolean>;
  /** Verifies a message for a channel and completes the channel. A refusal changes nothing. */
  authenticate(
    token: string,
    signed: { readonly message: string; readonly signature: string; readonly fid?: number | undefined },
    client: string,
  ): Promise<Result<{ channel: Channel; completion: Completion }, ChannelRefusal>>;
}

export interface ChannelsDeps {
  readonly store: OneTimeStore;
  readonly nonces: SignInNonces;
  readonly verifier: SignInVerifier;
  readonly people: Pick<People, "custodyOf">;
  readonly profileOf: (fid: number) => SignedInProfile;
  /** Signs a Quick Auth token. Undefined if the domain may not get tokens. */
  readonly tokenOf: (request: {
    fid: number;
    authMethod: AuthMethod;
    domain: string;
  }) => Promise<string | undefined>;
  /** Undefined if users approve only on this node's page. */
  readonly upstream: UpstreamRelay | undefined;
  readonly settings: {
    /** Whether apps receive the URL of the upstream relay instead of that of this node's page. */
    readonly direct: boolean;
    readonly refusedDomains: readonly string[];
  };
  readonly linkBase: () => string | undefined;
  /** Clock of the state. */
  readonly clock: Clock;
  readonly count: CountSignIn;
  readonly admission: Pick<Admission, "budgets" | "buckets">;
}

/** A single client can open at most 220 channels within the lifetime of one. */
const MAX_CHANNELS = 20_000;
const MAX_USER_AGENT_CHARS = 256;
/** How often the upstream is asked about a channel, over all threads. */
const POLLS = { perMinute: 60, burst: 1 };
const TOKEN = /^[1-9A-HJ-NP-Za-km-z]{16,24}$/;
/** A text of these characters cannot start another line of a message. */
const VISIBLE_ASCII = /^[!-~]+$/;
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2})+$/;
/** Domain of the network's first client. Its users must not be led to believe that it is the one asking. */
const ALWAYS_REFUSED = ["farcaster.xyz", "*.farcaster.xyz"];

export function createChannels(deps: ChannelsDeps): Channels {
  const { store, nonces, verifier, people, profileOf, tokenOf, upstream, settings, linkBase, clock, count } =
    deps;
  const { budgets, buckets } = deps.admission;
  const refusedDomains = [...ALWAYS_REFUSED, ...settings.refusedDomains];

  async function stored(token: string) {
    if (!TOKEN.test(token)) return undefined;
    const entry = await store.find(oneTimeDigest("channel", token), nowSecs(clock));
    return (
      entry && {
        channel: entry.payload as Channel,
        completion: (entry.result ?? undefined) as Completion | undefined,
      }
    );
  }

  /** Calls the upstream within the client's share. Undefined if the share is used up. */
  async function within<T>(client: string, call: () => Promise<T>): Promise<T | undefined> {
    const hold = budgets.relayCalls.open(client);
    try {
      return hold.grow(1) === undefined ? await call() : undefined;
    } finally {
      hold.end();
    }
  }

  const urlOf: Channels["urlOf"] = (token, { upstream: at }) =>
    settings.direct && at ? at.url : `${linkBase() ?? ""}/signin/${token}`;

  const authenticate: Channels["authenticate"] = async (token, { message, signature, fid }, client) => {
    const found = await stored(token);
    if (!found) return err({ kind: "unknown" });
    if (found.completion) return err({ kind: "completed" });
    const { channel } = found;
    const { params } = channel;
    const refuse = (refusal: SignInRefusal) => {
      count("relay", "refused", refusal.reason);
      return err<ChannelRefusal>({ kind: "refused", ...refusal });
    };
    if (!SIGNATURE.test(signature) || signature.length > 2 + 2 * MAX_SIGNATURE_BYTES)
      return refuse({ reason: "malformed", message: "signature must be 0x and hex digits" });
    const signedIn = await verifier.verify({
      text: message,
      signature: fromHex(signature as Hex),
      domain: params.domain,
      acceptsAuthAddress: params.acceptAuthAddress,
      client,
      channel: params,
    });
    if (!signedIn.ok) return refuse(signedIn.error);
    const { fid: signer, authMethod } = signedIn.value;
    if (fid !== undefined && fid !== signer)
      return refuse({ reason: "not_authorized", message: "fid is not that of the message" });
    // The nonce is valid nowhere else, and here only once.
    if (channel.isOwnNonce && !(await nonces.spend("sign-in", params.nonce)))
      return refuse({ reason: "invalid_nonce", message: "nonce is used or expired" });
    const custody = people.custodyOf(signer);
    const granted = channel.isOwnNonce
      ? await tokenOf({ fid: signer, authMethod, domain: params.domain })
      : undefined;
    const completion: Completion = {
      message,
      signature: signature as Hex,
      authMethod,
      fid: signer,
      ...profileOf(signer),
      custody: custody ? toHex(custody) : "0x",
      ...(granted === undefined ? {} : { token: granted }),
    };
    if (!(await store.complete(oneTimeDigest("channel", token), completion, nowSecs(clock))))
      return err({ kind: "completed" });
    count("relay", "ok", "");
    return ok({ channel, completion });
  };

  return {
    async open(params, { ip, userAgent }, client) {
      if (linkBase() === undefined) return err({ kind: "no-url" });
      const fault = faultOf(params, refusedDomains);
      if (fault !== undefined) return err({ kind: "field", message: fault });
      const isOwnNonce = params.nonce === undefined || (await nonces.isOurs("sign-in", params.nonce));
      const nonce = params.nonce ?? (await nonces.issue("sign-in"));
      const opened = upstream && (await within(client, () => upstream.open({ ...params, nonce })));
      if (upstream && !opened && settings.direct) return err({ kind: "upstream" });
      const now = nowSecs(clock);
      const channel: Channel = {
        params: { ...params, nonce },
        isOwnNonce,
        ip,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARS),
        openedAt: now,
        expiresAt: now + NONCE_SECS,
        upstream: opened ?? null,
      };
      const token = createOneTimeSecret();
      const entry = {
        digest: oneTimeDigest("channel", token),
        kind: "channel" as const,
        payload: channel,
        expiresAt: channel.expiresAt,
      };
      await store.push(entry, MAX_CHANNELS);
      return ok({ token, url: urlOf(token, channel), nonce });
    },

    async find(token, client) {
      const found = await stored(token);
      const at = found?.channel.upstream;
      if (!found || found.completion || !upstream || !at) return found;
      if (!buckets.relayPolls.take(token, 1, POLLS).isAdmitted) return found;
      const status = await within(client, () => upstream.status(at.token));
      if (status?.state !== "completed") return found;
      const completed = await authenticate(token, status, client);
      return completed.ok ? completed.value : found;
    },

    async end(token) {
      return (await store.take(oneTimeDigest("channel", token), nowSecs(clock))) !== undefined;
    },

    authenticate,
    urlOf,
  };
}

/** Returns what is wrong with a request to open a channel; undefined if it is valid. Its shape has already been checked. */
function faultOf(
  { siweUri, domain, redirectUrl, notBefore, expirationTime }: ChannelParams,
  refused: readonly string[],
) {
  // The user sees the domain and the wallet signs it, so it must have a single spelling without lookalike letters.
  const normal = normalizeDomain(domain);
  if (normal === undefined || normal !== domain.toLowerCase())
    return "domain must be a host in ASCII, such as app.example or xn--bcher-kva.example";
  const [host = ""] = normal.split(":");
  if (isListed(host, refused)) return "domain is one that this node refuses";
  const uri = URL.parse(siweUri);
  if (!uri || !VISIBLE_ASCII.test(siweUri) || !/^https?:$/.test(uri.protocol))
    return "siweUri must be an http or https URL in ASCII";
  if (redirectUrl !== undefined && !isRedirectUrl(redirectUrl))
    return "redirectUrl must be an https URL or a URL of an app's own scheme";
  for (const [name, time] of Object.entries({ notBefore, expirationTime }))
    if (time !== undefined && !isSignInTime(time)) return `${name} must be a time (RFC 3339)`;
  return undefined;
}
