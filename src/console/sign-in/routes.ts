import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../http/exchange.ts";
import { captureBody, jsonBodyDecoder, rawBody } from "../../http/request/body.ts";
import type { OwnOrigin } from "../../http/request/own-origin.ts";
import { signInText } from "../../protocol/sign-in-text.ts";
import { fromHex, type Hex } from "../../protocol/validate/eth.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { checksumAddress } from "../../sign-in/checksum-address.ts";
import type { ManifestChecker } from "../../sign-in/manifest/manifest-checker.ts";
import type { People } from "../../sign-in/people.ts";
import type { Channel, Channels } from "../../sign-in/relay/channels.ts";
import { signInError } from "../../sign-in/sign-in-error.ts";
import { documentHeaders, type WebAssets } from "../assets.ts";
import { type DocumentTexts, documentLanguage } from "../document-texts.ts";
import { channelContent, closedContent } from "./content.ts";

/** Signs a text as a person of the demo network, whose keys are public; undefined for an unknown fid. */
export type SignTextAsPerson = (
  fid: number,
  textFor: (address: Uint8Array) => string | Promise<string>,
) => Promise<{ readonly text: string; readonly signature: Hex } | undefined>;

export interface SignInPageDeps {
  readonly assets: WebAssets;
  readonly own: OwnOrigin;
  readonly linkBase: () => string | undefined;
  readonly channels: Channels;
  readonly people: Pick<People, "fidsOf">;
  readonly usernameOf: (fid: number) => string;
  readonly manifests: Pick<ManifestChecker, "ofDomain">;
  readonly clock: Clock;
  /** Only on a demo network. */
  readonly signAsPerson: SignTextAsPerson | undefined;
}

export const SIGN_IN_DOCUMENT = "sign-in.html";
const CONTENT_SLOT = "<!--sign-in-->";
/** The link is a secret, and what it shows changes. */
const HEADERS = { ...documentHeaders(false), "cache-control": "no-store" };

const Address = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
const Fid = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const readPeople = jsonBodyDecoder(Type.Object({ address: Address }));
export const readMessage = jsonBodyDecoder(Type.Object({ address: Address, fid: Fid }));
const readSubmit = jsonBodyDecoder(
  Type.Object({ message: Type.String({ maxLength: 16_384 }), signature: Type.String({ maxLength: 20_000 }) }),
);
const readDemo = jsonBodyDecoder(Type.Object({ fid: Fid }));

const hidden = { detail: { hide: true } } as const;
export const posted = { ...hidden, parse: captureBody, share: "signIns" } as const;
const manifestChecks = { ...posted, share: "manifestChecks" } as const;

/** Returns a check that a request comes from a page of the node itself. */
export function foreignRefusal(
  own: OwnOrigin,
  linkBase: () => string | undefined,
): (request: Request) => void {
  return (request) => {
    const base = linkBase();
    if (base !== undefined && request.headers.get("origin") === new URL(base).origin) return;
    if (!own.isOwnHost(request.headers.get("host")))
      throw new ApiError("forbidden", "this host name is not one of the node's own");
    if (!own.isOwnOrigin(request)) throw new ApiError("forbidden", "other origins may not call this");
  };
}

/** Fills the sign-in document, in the language of the browser. */
export async function signInDocument(
  assets: WebAssets,
  request: Request,
  contentIn: (msg: DocumentTexts) => string,
  options: { readonly status: number; readonly headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  const { language, msg } = documentLanguage(request);
  const template = (await assets.load()).template(SIGN_IN_DOCUMENT, language);
  return new Response(
    template.replace(CONTENT_SLOT, () => contentIn(msg)),
    { status: options.status, headers: { ...HEADERS, ...options.headers } },
  );
}

/** Returns a response that is not cached. */
export const fresh = (body: object) => Response.json(body, { headers: { "cache-control": "no-store" } });

/** Returns who an address may sign in as, in the format of the page. */
export const peopleOf = (
  { people, usernameOf }: Pick<SignInPageDeps, "people" | "usernameOf">,
  address: string,
) => ({
  people: people
    .fidsOf(fromHex(address as Hex))
    .map(({ fid, authMethod }) => ({ fid, username: usernameOf(fid), auth_method: authMethod })),
});

interface TokenContext {
  readonly request: Request;
  readonly params: { readonly token: string };
}

/**
 * Serves the page on which a user signs in to an app through the link of a channel, and its requests. Other origins may not call them.
 */
export function signInRoutes(deps: SignInPageDeps) {
  const { assets, own, linkBase, channels, usernameOf, manifests, clock, signAsPerson } = deps;
  const refuseForeign = foreignRefusal(own, linkBase);
  const clientOf = (request: Request) => clientKeyOf(exchangeOf(request));

  async function openChannel({ request, params }: TokenContext) {
    const found = await channels.find(params.token, clientOf(request));
    if (!found) throw new ApiError("notFound", "this link has expired; ask the app for a new one");
    return found.channel;
  }

  const channelText = (params: Channel["params"], address: Uint8Array, fid: number) =>
    signInText({
      ...params,
      uri: params.siweUri,
      address: checksumAddress(address),
      issuedAtMs: clock.nowMs(),
      fid,
    });

  async function textFor(context: TokenContext, address: Uint8Array, fid: number): Promise<string> {
    const { params } = await openChannel(context);
    return channelText(params, address, fid);
  }

  async function submit({ request, params }: TokenContext, signed: { message: string; signature: string }) {
    const completed = await channels.authenticate(params.token, signed, clientOf(request));
    if (completed.ok) {
      const { channel, completion } = completed.value;
      const { redirectUrl = null } = channel.params;
      return fresh({ fid: completion.fid, username: completion.username, redirect_url: redirectUrl });
    }
    const { error } = completed;
    if (error.kind === "unknown")
      throw new ApiError("notFound", "this link has expired; ask the app for a new one");
    if (error.kind === "completed") throw new ApiError("conflict", "somebody has signed in by this link");
    throw signInError(error, "badRequest");
  }

  return new Elysia({ name: "sign-in" })
    .get(
      "/signin/:token",
      async ({ request, params }) => {
        const found = await channels.find(params.token, clientOf(request));
        const closed = (why: (msg: DocumentTexts) => string, status: number) =>
          signInDocument(assets, request, (msg) => closedContent(why(msg), msg), { status });
        if (!found) return closed((msg) => msg.linkIsOver, 404);
        const { channel, completion } = found;
        if (completion) return closed((msg) => msg.linkIsUsed, 410);
        const now = nowSecs(clock);
        const page = {
          base: `/signin/${params.token}`,
          domain: channel.params.domain,
          siweUri: channel.params.siweUri,
          secondsLeft: channel.expiresAt - now,
          userAgent: channel.userAgent,
          secondsOpen: now - channel.openedAt,
          appUrl: channel.upstream?.url ?? null,
          isDemo: signAsPerson !== undefined,
        };
        return signInDocument(assets, request, (msg) => channelContent(page, msg), { status: 200 });
      },
      hidden,
    )
    .post(
      "/signin/:token/domain",
      async (context) => {
        refuseForeign(context.request);
        const { params } = await openChannel(context);
        const host = params.domain.split(":")[0] ?? "";
        const client = clientOf(context.request);
        const checked = await manifests.ofDomain(host, {
          acceptsVerification: false,
          withAssets: false,
          client,
        });
        const association = checked.ok ? checked.value.association : null;
        const fid = association?.valid ? association.fid : null;
        return fresh({ belongs_to: fid === null ? null : { fid, username: usernameOf(fid) } });
      },
      manifestChecks,
    )
    .post(
      "/signin/:token/people",
      async (context) => {
        refuseForeign(context.request);
        await openChannel(context);
        return fresh(peopleOf(deps, readPeople(rawBody(context.request)).address));
      },
      posted,
    )
    .post(
      "/signin/:token/message",
      async (context) => {
        refuseForeign(context.request);
        const { address, fid } = readMessage(rawBody(context.request));
        return fresh({ message: await textFor(context, fromHex(address as Hex), fid) });
      },
      posted,
    )
    .post(
      "/signin/:token/submit",
      (context) => {
        refuseForeign(context.request);
        return submit(context, readSubmit(rawBody(context.request)));
      },
      posted,
    )
    .post(
      "/signin/:token/demo",
      async (context) => {
        refuseForeign(context.request);
        if (!signAsPerson) throw new ApiError("notFound", "unknown route");
        const { fid } = readDemo(rawBody(context.request));
        const { params } = await openChannel(context);
        const signed = await signAsPerson(fid, (address) => channelText(params, address, fid));
        if (!signed) throw new ApiError("notFound", `fid ${fid} is not a user of the demo network`);
        return submit(context, { message: signed.text, signature: signed.signature });
      },
      posted,
    );
}
