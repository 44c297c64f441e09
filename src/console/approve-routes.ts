import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { unwrapOrThrow } from "../api/respond.ts";
import type { StaleReason } from "../auth/owners/custody.ts";
import { ApiError } from "../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../http/exchange.ts";
import { captureBody, jsonBodyDecoder, rawBody } from "../http/request/body.ts";
import type { OwnOrigin } from "../http/request/own-origin.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import { fromHex, type Hex, toHex } from "../protocol/validate/eth.ts";
import type { UserNames } from "../read/queries/users/users.ts";
import type { ApprovalView, PreparedApproval, PreparedOnChain } from "../signers/approval/approvals.ts";
import { permissionsOf } from "../signers/permissions.ts";
import type { SignerRefusal } from "../signers/refusal.ts";
import type { SignersRpc } from "../signers/rpc.ts";
import type { RequestOrigin } from "../signers/signer-states.ts";
import type { Transactions } from "../transactions/prepare.ts";
import { documentHeaders, type WebAssets } from "./assets.ts";
import { type DocumentTexts, documentLanguage } from "./document-texts.ts";
import { initialOf, plainName } from "./web/text/name.ts";

const DAY_SECS = 86_400;
const ADDRESS_BYTES = 20;

interface PageOptions {
  readonly view: ApprovalView;
  /** The names of the app. */
  readonly names: UserNames;
  /** Whether people of the demo network may sign here. */
  readonly isDemo: boolean;
}

/** Returns what the page shows before its script runs. All texts of strangers are escaped. */
export function approvalContent({ view, names, isDemo }: PageOptions, msg: DocumentTexts): string {
  const { appFid, publicKey, scopes, ttlSecs, userFid, redirectUrl } = view;
  const { username, displayName } = names;
  const claimed = plainName(displayName || username || msg.anAppWithoutAName);
  const isAddress = publicKey.length === ADDRESS_BYTES;
  const allowed = isAddress
    ? [msg.signInAsYou]
    : permissionsOf(scopes).flatMap((name) => msg.PERMISSIONS[name] ?? [name]);
  // A demo network has no chain, so this button needs no wallet.
  const demo = isDemo && ttlSecs !== null ? ` data-demo="${userFid ?? ""}"` : "";
  const redirect = redirectUrl === null ? "" : ` data-redirect="${text(redirectUrl)}"`;
  return `<h1>${msg.mayItActForYou}</h1>
    <div class="card">
      <section class="pad app">
        <span class="face" aria-hidden="true">${text(initialOf(claimed))}</span>
        <div><h2><bdi class="user">${text(claimed)}</bdi></h2>
        <p class="dim s">${username ? `@${text(username)} &middot; ` : ""}fid ${appFid}</p></div>
        <p class="claim">${msg.itChoseItsName}</p>
      </section>
      <section class="pad facts">
        <h3>${msg.inYourNameItMay}</h3>
        <ul>${allowed.map((words) => `<li>${text(words)}</li>`).join("")}</ul>
        <h3>${msg.until}</h3>
        <p>${ttlSecs === null ? msg.untilTheKeyIsRemoved : msg.untilUnusedFor(duration(ttlSecs, msg))}</p>
        ${userFid === null ? "" : `<h3>${msg.onlyFor}</h3><p>fid ${userFid}.</p>`}
        <details><summary class="dim s">${isAddress ? msg.theAddress : msg.itsKey}</summary><code>0x${Buffer.from(publicKey).toString("hex")}</code></details>
      </section>
      <section class="pad" id="approval" data-status="${view.status}"${redirect}${demo}>
        <noscript><p>${msg.javaScriptForTheWallet}</p></noscript>
      </section>
    </div>`;
}

/** Returns what the page shows for a link that is no longer valid. */
function closedContent({ kind, message }: SignerRefusal, msg: DocumentTexts): string {
  const why = kind === "gone" ? msg.approvalLinkIsOver : sentence(message);
  return `<h1>${msg.approveAnApp}</h1><div class="card"><p class="pad">${text(why)}</p></div>`;
}

/** Makes a sentence of an error message, which begins in lowercase and has no full stop. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}

function duration(secs: number, msg: DocumentTexts): string {
  const days = Math.floor(secs / DAY_SECS);
  return days >= 1 ? msg.days(days) : msg.seconds(secs);
}

/** Signs as a person of the demo network, whose keys are public. */
export type SignAsPerson = (
  fid: number,
  prepared: PreparedApproval,
) => Promise<{
  readonly custodySignature: Uint8Array;
  readonly requestSignature: Uint8Array | undefined;
}>;

export interface ApproveDeps {
  /** The document, and the script and style that it names. */
  readonly assets: WebAssets;
  readonly thread: RpcClient<SignersRpc>;
  readonly namesOf: (fid: number) => UserNames;
  readonly own: OwnOrigin;
  /** Returns the base URL of links; undefined if unknown. */
  readonly linkBase: () => string | undefined;
  /** While this returns a reason, a custody address in the index may be outdated. */
  readonly staleReason: StaleReason;
  readonly transactions: Pick<Transactions, "key">;
  /** Only on a demo network. */
  readonly demo:
    | { custodyOf(fid: number): Promise<Uint8Array | undefined>; readonly sign: SignAsPerson }
    | undefined;
}

const DOCUMENT = "approve.html";
const CONTENT_SLOT = "<!--approval-->";
/** The link is a secret, and what it shows changes. */
const HEADERS = { ...documentHeaders(false), "cache-control": "no-store" };

const Signature = Type.String({ pattern: "^0x[0-9a-fA-F]{130}$" });
const Fid = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Uint32 = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 });
const readPrepare = jsonBodyDecoder(
  Type.Object({ address: Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }) }),
);
const readDemo = jsonBodyDecoder(Type.Object({ fid: Fid }));
const readSubmit = jsonBodyDecoder(
  Type.Object({
    fid: Fid,
    nonce: Uint32,
    deadline: Uint32,
    custody_signature: Signature,
    request_signature: Type.Optional(Signature),
  }),
);

const hidden = { detail: { hide: true } } as const;
const posted = { ...hidden, parse: captureBody } as const;

interface TokenContext {
  readonly request: Request;
  readonly params: { readonly token: string };
}

/**
 * Serves the page on which a user approves a managed signer with the wallet of their custody address, and the page's requests. They are
 * not part of the API, and other origins may not call them.
 */
export function approveRoutes(deps: ApproveDeps) {
  const { assets, thread, namesOf, own, linkBase, staleReason, transactions, demo } = deps;
  /**
   * Refuses requests from pages elsewhere. The page that a link opens has the link's origin, even behind a proxy that sends another
   * `Host`. If the link has another origin or none, the host and the site must be the node's own.
   */
  function refuseForeign(request: Request): void {
    const base = linkBase();
    if (base !== undefined && request.headers.get("origin") === new URL(base).origin) return;
    if (!own.isOwnHost(request.headers.get("host")))
      throw new ApiError("forbidden", "this host name is not one of the node's own");
    if (!own.isOwnOrigin(request)) throw new ApiError("forbidden", "other origins may not call this");
  }

  const originOf = (request: Request): RequestOrigin => {
    const { requestId, client } = exchangeOf(request);
    return { requestId, address: client().address };
  };
  /** Refuses while a previous custody address might still be accepted. */
  async function refuseStale(): Promise<void> {
    const stale = await staleReason();
    if (stale !== undefined) throw new ApiError("unavailable", `approvals have to wait: ${stale}`);
  }
  const prepare = async (token: string, address: Uint8Array) => {
    await refuseStale();
    return unwrapOrThrow(await thread.prepareApproval(token, address));
  };
  /** Returns what the user's wallet sends to add the key. */
  const transactionOf = ({ onChain }: PreparedOnChain, owner: Hex, request: Request) =>
    transactions.key({
      key: toHex(onChain.key),
      owner,
      requestFid: onChain.requestFid,
      requestSigner: toHex(onChain.requestSigner),
      requestDeadline: onChain.requestDeadline,
      requestSignature: toHex(onChain.requestSignature),
      sponsored: undefined,
      client: clientKeyOf(exchangeOf(request)),
    });
  const submit = async (
    { request, params: { token } }: TokenContext,
    approval: Parameters<SignersRpc["submitApproval"]>[1],
  ) => {
    await refuseStale();
    const { status, fid, hash } = unwrapOrThrow(
      await thread.submitApproval(token, approval, originOf(request)),
    );
    return Response.json({ status, fid, hash: toHex(hash) }, { headers: { "cache-control": "no-store" } });
  };

  const respond = async (request: Request, contentIn: (msg: DocumentTexts) => string, status: number) => {
    const { language, msg } = documentLanguage(request);
    const template = (await assets.load()).template(DOCUMENT, language);
    return new Response(
      template.replace(CONTENT_SLOT, () => contentIn(msg)),
      { status, headers: HEADERS },
    );
  };

  return new Elysia({ name: "approve" })
    .get(
      "/approve/:token",
      async ({ request, params }) => {
        const view = await thread.viewApproval(params.token);
        if (!view.ok) {
          const { error } = view;
          return respond(request, (msg) => closedContent(error, msg), new ApiError(error.kind).status);
        }
        const page = { view: view.value, names: namesOf(view.value.appFid), isDemo: demo !== undefined };
        return respond(request, (msg) => approvalContent(page, msg), 200);
      },
      hidden,
    )
    .post(
      "/approve/:token/prepare",
      async ({ request, params }) => {
        refuseForeign(request);
        const address = readPrepare(rawBody(request)).address.toLowerCase() as Hex;
        const prepared = await prepare(params.token, fromHex(address));
        return Response.json(
          "onChain" in prepared
            ? { fid: prepared.fid, transaction: await transactionOf(prepared, address, request) }
            : { fid: prepared.fid, key_add: prepared.keyAdd, key_request: prepared.keyRequest },
          { headers: { "cache-control": "no-store" } },
        );
      },
      posted,
    )
    .post(
      "/approve/:token/submit",
      (context) => {
        refuseForeign(context.request);
        const body = readSubmit(rawBody(context.request));
        const { fid, nonce, deadline, custody_signature, request_signature } = body;
        return submit(context, {
          fid,
          nonce,
          deadline,
          custodySignature: fromHex(custody_signature as Hex),
          requestSignature: request_signature === undefined ? undefined : fromHex(request_signature as Hex),
        });
      },
      posted,
    )
    .post(
      "/approve/:token/demo",
      async (context) => {
        refuseForeign(context.request);
        if (!demo) throw new ApiError("notFound", "unknown route");
        const { fid } = readDemo(rawBody(context.request));
        const custody = await demo.custodyOf(fid);
        if (!custody) throw new ApiError("notFound", `fid ${fid} is not a user of the demo network`);
        const prepared = await prepare(context.params.token, custody);
        if ("onChain" in prepared) throw new ApiError("badRequest", "a demo network has no chain");
        const { nonce, deadline } = prepared.keyAdd.message;
        const signed = await demo.sign(fid, prepared);
        return submit(context, { fid, nonce, deadline: Number(deadline), ...signed });
      },
      posted,
    );
}
