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
  /** `https://node.example`, with the path under which a proxy serves the node. */
  readonly baseUrl: string;
  /** `service.name` of the node; `svc` by default. Paths are written as `/v2/svc/…` all the same. */
  readonly service?: string;
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
    this.retryAfterMs = retryAfterMs(response);
  }
}

type Method = "get" | "post" | "put" | "patch" | "delete";
type PathWith<M extends Method> = ClientPathsWithMethod<Client<paths>, M>;

/**
 * The options of a call. That they are no type parameter lets the compiler refuse names that the API does not have, also of optional
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

/** A client of the native API, typed by its OpenAPI document. Failures are thrown as `ApiFailure`. */
export type SvcClient = { readonly [M in Method as Uppercase<M>]: Call<M> } & Pick<
  Client<paths>,
  "use" | "eject"
>;

/**
 * Creates a client. Paths, parameters, bodies and responses are those of the OpenAPI document:
 * `const { data } = await client.GET("/v2/svc/user", { params: { query: { fid: 3 } } })`.
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
  // The library's own types take any further name.
  return client as unknown as SvcClient;
}

/** Sends requests to the paths of a node with another `service.name`. */
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

/** Signs what only custody may do. The credential of a signed request is its signature, so an API key is left out of it. */
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
