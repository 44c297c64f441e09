import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../http/exchange.ts";
import { jsonBodyDecoder, rawBody } from "../../http/request/body.ts";
import { fromHex, type Hex } from "../../protocol/validate/eth.ts";
import { signInError } from "../../sign-in/sign-in-error.ts";
import type { LoginClient } from "../../signers/login/client-store.ts";
import type { LoggedIn, LoginRefusal, Logins, LoginTarget } from "../../signers/login/logins.ts";
import { permissionsOf, typesOf } from "../../signers/permissions.ts";
import type { DocumentTexts } from "../document-texts.ts";
import { closedContent } from "./content.ts";
import {
  foreignRefusal,
  fresh,
  peopleOf,
  posted,
  readMessage,
  readPeople,
  type SignInPageDeps,
  signInDocument,
} from "./routes.ts";

export interface LoginPageDeps
  extends Pick<SignInPageDeps, "assets" | "own" | "linkBase" | "people" | "usernameOf" | "signAsPerson"> {
  readonly logins: Logins;
  /** Returns a user in the format of apps; undefined for an unknown fid. */
  readonly userOf: (fid: number) => object | undefined;
  /** The name of the service, which is the first part of the type of messages to openers. */
  readonly serviceName: string;
}

/** This page must see who opened it, so it is the only one that keeps its opener. */
const HEADERS = { "cross-origin-opener-policy": "unsafe-none" };
const CLIENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const Fid = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const optionalUrl = Type.Optional(Type.String({ maxLength: 2048 }));
const target = {
  redirect_uri: optionalUrl,
  deeplink_url: optionalUrl,
  state: Type.Optional(Type.String({ maxLength: 2048 })),
};
const readSubmit = jsonBodyDecoder(
  Type.Object({
    ...target,
    message: Type.String({ maxLength: 16_384 }),
    signature: Type.String({ maxLength: 20_000 }),
  }),
);
const readDemo = jsonBodyDecoder(Type.Object({ ...target, fid: Fid }));
const readFinish = jsonBodyDecoder(Type.Object({ ...target, visit: Type.String({ maxLength: 64 }) }));

interface ClientContext {
  readonly request: Request;
  readonly params: { readonly client_id: string };
}

/** Serves the login page for the hosted API's sign-in buttons, and its requests. Other origins may not call them. */
export function loginRoutes(deps: LoginPageDeps) {
  const { assets, own, linkBase, logins, usernameOf, userOf, serviceName, signAsPerson } = deps;
  const refuseForeign = foreignRefusal(own, linkBase);

  const originOf = (request: Request) => {
    const exchange = exchangeOf(request);
    return {
      requestId: exchange.requestId,
      address: exchange.client().address,
      client: clientKeyOf(exchange),
    };
  };

  async function clientOf({ params }: ClientContext): Promise<LoginClient> {
    const client = CLIENT_ID.test(params.client_id) ? await logins.client(params.client_id) : undefined;
    if (!client) throw new ApiError("notFound", "no such login client");
    return client;
  }

  /** Returns the result in the format that the hosted page's buttons expect. */
  const resultOf = ({ fid, signerUuid }: LoggedIn, redirectTo: string | null) => ({
    message: {
      is_authenticated: true,
      signer_uuid: signerUuid,
      fid: String(fid),
      user: userOf(fid) ?? null,
      signer_permissions: signerUuid === null ? [] : permissionsOf(typesOf([])),
    },
    redirect_to: redirectTo,
  });

  async function submit(
    context: ClientContext,
    signed: { readonly message: string; readonly signature: string },
    to: LoginTarget,
  ) {
    const { client_id: clientId } = context.params;
    const step = await logins.signIn(clientId, signed, to, originOf(context.request));
    if (!step.ok) throw errorOf(step.error);
    if (step.value.kind === "done") {
      const { loggedIn, redirectTo } = step.value;
      const { fid } = loggedIn;
      return fresh({ fid, username: usernameOf(fid), result: resultOf(loggedIn, redirectTo) });
    }
    const { fid, approvalToken: token, visit } = step.value;
    return fresh({ fid, username: usernameOf(fid), approval: { token, visit } });
  }

  return new Elysia({ name: "login" })
    .get(
      "/login",
      async ({ request }) => {
        const query = new URL(request.url).searchParams;
        const clientId = query.get("client_id") ?? "";
        const client = CLIENT_ID.test(clientId) ? await logins.client(clientId) : undefined;
        const closed = (why: (msg: DocumentTexts) => string, status: number) =>
          signInDocument(assets, request, (msg) => closedContent(why(msg), msg), {
            status,
            headers: HEADERS,
          });
        if (!client) return closed((msg) => msg.appIsNotRegistered, 404);
        const to = {
          redirectUri: query.get("redirect_uri") || undefined,
          deeplinkUrl: query.get("deeplink_url") || undefined,
        };
        if (!logins.mayGo(client, to)) return closed((msg) => msg.addressIsNotRegistered, 400);
        const username = usernameOf(client.ownerFid);
        const page = {
          base: `/login/${client.clientId}`,
          name: client.name,
          host: client.origins.map((origin) => new URL(origin).host).join(", "),
          owner: username === "" ? `fid ${client.ownerFid}` : `@${username}`,
          mayWrite: client.permissions === "write",
          origins: client.origins,
          readyType: `${serviceName}.login.ready`,
          isDemo: signAsPerson !== undefined,
        };
        return signInDocument(assets, request, (msg) => loginContent(page, msg), {
          status: 200,
          headers: HEADERS,
        });
      },
      { detail: { hide: true } },
    )
    .post(
      "/login/:client_id/people",
      async (context) => {
        refuseForeign(context.request);
        await clientOf(context);
        return fresh(peopleOf(deps, readPeople(rawBody(context.request)).address));
      },
      posted,
    )
    .post(
      "/login/:client_id/message",
      async (context) => {
        refuseForeign(context.request);
        const { clientId } = await clientOf(context);
        const { address, fid } = readMessage(rawBody(context.request));
        return fresh({ message: await logins.messageFor(clientId, fromHex(address as Hex), fid) });
      },
      posted,
    )
    .post(
      "/login/:client_id/submit",
      (context) => {
        refuseForeign(context.request);
        const { message, signature, ...to } = readSubmit(rawBody(context.request));
        return submit(context, { message, signature }, targetOf(to));
      },
      posted,
    )
    .post(
      "/login/:client_id/finish",
      async (context) => {
        refuseForeign(context.request);
        const { visit, ...to } = readFinish(rawBody(context.request));
        const { client_id: clientId } = context.params;
        const finished = await logins.finish(clientId, visit, targetOf(to), originOf(context.request));
        if (!finished.ok) throw errorOf(finished.error);
        return fresh({ result: resultOf(finished.value.loggedIn, finished.value.redirectTo) });
      },
      posted,
    )
    .post(
      "/login/:client_id/demo",
      async (context) => {
        refuseForeign(context.request);
        if (!signAsPerson) throw new ApiError("notFound", "unknown route");
        const { fid, ...to } = readDemo(rawBody(context.request));
        const { clientId } = await clientOf(context);
        const signed = await signAsPerson(
          fid,
          async (address) => (await logins.messageFor(clientId, address, fid)) ?? "",
        );
        if (!signed) throw new ApiError("notFound", `fid ${fid} is not a user of the demo network`);
        return submit(context, { message: signed.text, signature: signed.signature }, targetOf(to));
      },
      posted,
    );
}

function targetOf(body: { redirect_uri?: string; deeplink_url?: string; state?: string }): LoginTarget {
  return { redirectUri: body.redirect_uri, deeplinkUrl: body.deeplink_url, state: body.state };
}

function errorOf(error: LoginRefusal): ApiError {
  switch (error.kind) {
    case "unknown-client":
      return new ApiError("notFound", "no such login client");
    case "target":
      return new ApiError(
        "badRequest",
        "redirect_uri or deeplink_url is not one that the app has registered",
      );
    case "over":
      return new ApiError("notFound", "this visit is over; start again from the app");
    case "not-approved":
      return new ApiError("conflict", "the network has not confirmed the key yet; try again");
    case "sign-in":
      return signInError(error.refusal, "badRequest");
    case "signer": {
      const { kind, message, ...options } = error.refusal;
      return new ApiError(kind, message, options);
    }
  }
}

/** What the drop-in login page shows before its script runs. */
interface LoginPage {
  readonly base: string;
  readonly name: string;
  readonly host: string;
  readonly owner: string;
  readonly mayWrite: boolean;
  /** The origins of the app, to which the result is sent. */
  readonly origins: readonly string[];
  /** The type of the message that asks the opener for its identity. */
  readonly readyType: string;
  readonly isDemo: boolean;
}

function loginContent(page: LoginPage, msg: DocumentTexts): string {
  const { base, name, host, owner, mayWrite, origins, readyType, isDemo } = page;
  return `<h1>${msg.signIn}</h1>
    <div class="card">
      <section class="pad stack sign-in-to">
        <h2><bdi class="user">${text(name)}</bdi></h2>
        <p class="s dim"><bdi class="user">${text(host)}</bdi> &middot; ${msg.registeredHereBy(`<bdi class="user">${text(owner)}</bdi>`)}</p>
        <p>${mayWrite ? msg.itAsksForAKey : msg.itGetsNoKey}</p>
      </section>
      <section class="pad" id="sign-in" data-base="${text(base)}" data-kind="login" data-origins="${text(JSON.stringify(origins))}" data-ready="${text(readyType)}"${isDemo ? " data-demo" : ""}>
        <noscript><p>${msg.javaScriptForTheWallet}</p></noscript>
      </section>
    </div>`;
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}
