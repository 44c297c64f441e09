import createFetchClient, { type Client, type Middleware } from "openapi-fetch";
import type { paths } from "./api.generated.ts";
import { operations } from "./operations.generated.ts";
import { type Signer, signOperation } from "./sign.ts";

export interface ClientOptions {
  /** `https://node.example`, without a path. */
  readonly baseUrl: string;
  /** An API key of the node. */
  readonly apiKey?: string;
  /** Signs the requests that only custody may make: apps, webhooks, keys, signers. */
  readonly owner?: { readonly fid: number; readonly signer: Signer };
  readonly fetch?: typeof fetch;
}

/** A response of the node that is not a success. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly status: number;
  /** The request as the node's log names it. */
  readonly requestId: string | null;
  /** How long the node asks to wait, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(response: Response, message: string) {
    super(message);
    this.status = response.status;
    this.requestId = response.headers.get("x-request-id");
    const secs = Number(response.headers.get("retry-after") ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(secs) ? secs * 1000 : undefined;
  }
}

/** A client of the native API, typed by its OpenAPI document. Failures are thrown as `ApiFailure`. */
export type SvcClient = Client<paths>;

/**
 * Creates a client. Paths, parameters, bodies and responses are those of the OpenAPI document:
 * `const { data } = await client.GET("/v2/svc/user", { params: { query: { fid: 3 } } })`.
 */
export function createClient(options: ClientOptions): SvcClient {
  const client = createFetchClient<paths>({
    baseUrl: options.baseUrl.replace(/\/$/, ""),
    ...(options.fetch ? { fetch: (request) => (options.fetch ?? fetch)(request) } : {}),
    ...(options.apiKey === undefined ? {} : { headers: { "x-api-key": options.apiKey } }),
  });
  if (options.owner) client.use(signing(options.owner));
  client.use(throwing);
  return client;
}

/** Signs what only custody may do. The credential of a signed request is its signature, so an API key is left out of it. */
function signing({ fid, signer }: NonNullable<ClientOptions["owner"]>): Middleware {
  return {
    async onRequest({ request }) {
      const path = new URL(request.url).pathname.replace(/^\/v2\/svc/, "").replace(/\/$/, "");
      const op = operations[`${request.method} ${path}`];
      if (op === undefined) return undefined;
      const body = new Uint8Array(await request.clone().arrayBuffer());
      const headers = new Headers(request.headers);
      headers.delete("x-api-key");
      for (const [name, value] of Object.entries(await signOperation({ signer, fid, op, body })))
        headers.set(name, value);
      return new Request(request, { headers });
    },
  };
}

const throwing: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return undefined;
    const body = (await response
      .clone()
      .json()
      .catch(() => ({}))) as { message?: unknown };
    throw new ApiFailure(
      response,
      typeof body.message === "string" ? body.message : `the node answered ${response.status}`,
    );
  },
};
