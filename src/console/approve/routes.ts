import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { unwrapSigner } from "../../api/shared/signers.ts";
import type { StaleReason } from "../../auth/staleness.ts";
import { captureBody, jsonBodyDecoder, rawBody } from "../../http/body.ts";
import { ApiError } from "../../http/errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import type { OwnOrigin } from "../../http/own-origin.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { fromHex, type Hex, toHex } from "../../protocol/validate/eth.ts";
import type { UserNames } from "../../read/queries/users/user-names.ts";
import type { PreparedApproval } from "../../signers/approvals.ts";
import type { SignersRpc } from "../../signers/rpc.ts";
import type { RequestOrigin } from "../../signers/signer-states.ts";
import type { WebAssets } from "../assets.ts";
import { documentHeaders } from "../document-headers.ts";
import { approvalContent, closedContent } from "./page.ts";

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
  /** The URL that links are made of; undefined where it is not known. */
  readonly linkBase: () => string | undefined;
  /** While this returns a reason, a custody address in the index may be outdated. */
  readonly staleReason: StaleReason;
  /** Only of a demo network. */
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
 * The page on which a user approves a managed signer with the wallet of their custody address, and its requests. They are outside
 * of the API: other origins may not call them.
 */
export function approveRoutes({ assets, thread, namesOf, own, linkBase, staleReason, demo }: ApproveDeps) {
  /**
   * Refuses requests of pages elsewhere. The page that a link opens names the link's origin, also behind a proxy that sends another `Host`.
   * Of what names another origin or none, the host and the site have to be the node's own.
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
  /** An address that is no longer the custody of an fid may not approve. */
  async function refuseStale(): Promise<void> {
    const stale = await staleReason();
    if (stale !== undefined) throw new ApiError("unavailable", `approvals have to wait: ${stale}`);
  }
  const prepare = async (token: string, address: Uint8Array) => {
    await refuseStale();
    return unwrapSigner(await thread.prepareApproval(token, address));
  };
  const submit = async (
    { request, params: { token } }: TokenContext,
    approval: Parameters<SignersRpc["submitApproval"]>[1],
  ) => {
    await refuseStale();
    const { status, fid, hash } = unwrapSigner(
      await thread.submitApproval(token, approval, originOf(request)),
    );
    return Response.json({ status, fid, hash: toHex(hash) }, { headers: { "cache-control": "no-store" } });
  };

  const respond = async (content: string, status: number) => {
    const template = (await assets.load()).template(DOCUMENT);
    return new Response(
      template.replace(CONTENT_SLOT, () => content),
      { status, headers: HEADERS },
    );
  };

  return new Elysia({ name: "approve" })
    .get(
      "/approve/:token",
      async ({ params }) => {
        const view = await thread.viewApproval(params.token);
        if (!view.ok) return respond(closedContent(view.error.message), new ApiError(view.error.kind).status);
        const names = namesOf(view.value.appFid);
        return respond(approvalContent({ view: view.value, names, isDemo: demo !== undefined }), 200);
      },
      hidden,
    )
    .post(
      "/approve/:token/prepare",
      async ({ request, params }) => {
        refuseForeign(request);
        const { address } = readPrepare(rawBody(request));
        const { fid, keyAdd, keyRequest } = await prepare(params.token, fromHex(address as Hex));
        const prepared = { fid, key_add: keyAdd, key_request: keyRequest };
        return Response.json(prepared, { headers: { "cache-control": "no-store" } });
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
        const { nonce, deadline } = prepared.keyAdd.message;
        const signed = await demo.sign(fid, prepared);
        return submit(context, { fid, nonce, deadline: Number(deadline), ...signed });
      },
      posted,
    );
}
