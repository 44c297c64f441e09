import createFetchClient, {
  type Client,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
  type Middleware,
} from "openapi-fetch";
import type { paths } from "./api.generated.ts";
import { operations } from "./operations.generated.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type Signer, signOperation } from "./sign.ts";

export interface ClientOptions {
  /** Such as `https://node.example`, including the path under which a proxy serves the node. */
  readonly baseUrl: string;
  /** `service.name` of the node. Default: `svc`. Callers write paths as `/v2/svc/…` in either case. */
  readonly service?: string;
  /** An API key of the node. */
  readonly apiKey?: string;
  /** Signs requests that require the custody address: apps, webhooks, keys, signers. */
  readonly owner?: { readonly fid: number; readonly signer: Signer };
  readonly fetch?: typeof fetch;
}

/** An error response of the node. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly status: number;
  /** Id of the request in the node's log. */
  readonly requestId: string | null;
  /** How long the node asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(response: Response, message: string) {
    super(message);
    this.status = response.status;
    this.requestId = response.headers.get("x-request-id");
    this.retryAfterMs = retryAfterMs(response);
  }
}

type Method = "get" | "post" | "put" | "patch" | "delete";
type PathWith<M extends Method> = ClientPathsWithMethod<Client<paths>, M>;

/**
 * Options of a call. They are not a type parameter, so that the compiler rejects names that the API does not have, even for optional
 * parameters.
 */
type Options<P extends keyof paths, M extends Method> =
  undefined extends MaybeOptionalInit<paths[P], M>
    ? [init?: Omit<NonNullable<MaybeOptionalInit<paths[P], M>>, "parseAs">]
    : [init: Omit<MaybeOptionalInit<paths[P], M>, "parseAs">];

type Call<M extends Method> = <P extends PathWith<M>>(
  url: P,
  ...init: Options<P, M>
) => Promise<FetchResponse<paths[P][M] & object, Record<never, never>, `${string}/${string}`>>;

/** A client of the native API, typed by its OpenAPI document. Throws `ApiFailure` for error responses. */
export type SvcClient = { readonly [M in Method as Uppercase<M>]: Call<M> } & Pick<
  Client<paths>,
  "use" | "eject"
>;

/**
 * Creates a client. Paths, parameters, bodies and responses follow the OpenAPI document: `const { data } = await
 * client.GET("/v2/svc/user", { params: { query: { fid: 3 } } })`.
 */
export function createClient(options: ClientOptions): SvcClient {
  const { baseUrl, service = "svc" } = options;
  const client = createFetchClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    ...(options.fetch ? { fetch: (request) => (options.fetch ?? fetch)(request) } : {}),
    ...(options.apiKey === undefined ? {} : { headers: { "x-api-key": options.apiKey } }),
  });
  if (service !== "svc") client.use(renaming(baseUrl, service));
  if (options.owner) client.use(signing(options.owner, service));
  client.use(throwing);
  // The library's own types accept unknown names.
  return client as unknown as SvcClient;
}

/** Rewrites request paths for a node with another `service.name`. */
function renaming(baseUrl: string, service: string): Middleware {
  return {
    onRequest({ request }) {
      const url = new URL(request.url);
      const below = new URL(baseUrl).pathname.replace(/\/+$/, "");
      url.pathname = `${below}/v2/${service}${url.pathname.slice(`${below}/v2/svc`.length)}`;
      return new Request(url.href, request);
    },
  };
}

/** Signs requests that require the custody address. The signature is the credential of a signed request, so the API key is removed. */
function signing({ fid, signer }: NonNullable<ClientOptions["owner"]>, service: string): Middleware {
  return {
    async onRequest({ request, schemaPath }) {
      const path = schemaPath.replace(/^\/v2\/svc/, "").replace(/\/$/, "");
      const op = operations[`${request.method} ${path}`];
      if (op === undefined) return undefined;
      const body = new Uint8Array(await request.clone().arrayBuffer());
      const headers = new Headers(request.headers);
      headers.delete("x-api-key");
      for (const [name, value] of Object.entries(await signOperation({ signer, fid, op, body, service })))
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
