import type { PrivateKeyAccount } from "viem/accounts";
import { operations, requestOf } from "../../../client/src/operations.generated.ts";
import type { SignedOperationId } from "../../api/operations.ts";
import { signOperation } from "../../auth/typed-data.ts";
import type { ServiceNames } from "../../config/names.ts";
import { RetryableError, UserError } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { noResponseReason, STRICT_TLS } from "../../net/operator-fetch.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";

const TIMEOUT_MS = 30_000;
/** Larger than the longest list of records that a node returns. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_SHOWN_CHARS = 500;

/** The parts of a request other than its operation. */
export interface Parameters {
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. If omitted, there is no body. */
  readonly body?: unknown;
}

export interface ManagementClient {
  /** The node it calls: the base of its paths, and `/v2/<service>`. */
  readonly node: { readonly base: URL; readonly basePath: string };
  /**
   * Signs a request and sends it once.
   *
   * @returns the parsed JSON of the response.
   * @throws UserError with the status and message of a refusal, RetryableError if there is no response.
   */
  call(operation: SignedOperationId, parameters?: Parameters): Promise<unknown>;
}

export interface ManagementClientOptions {
  /** The base of the node's paths: an origin or, behind a proxy, a path below it. */
  readonly baseUrl: URL;
  readonly names: ServiceNames;
  readonly account: PrivateKeyAccount;
  /** The fid that acts. */
  readonly fid: number;
  readonly clock: Clock;
}

/** Creates a client of a node's signed management API. */
export function createManagementClient(options: ManagementClientOptions): ManagementClient {
  const { baseUrl, clock, ...signer } = options;

  return {
    node: { base: baseUrl, basePath: signer.names.basePath },

    async call(operation, { query = {}, body } = {}) {
      const request = requestOf[operation];
      const [method = "", path = ""] = request.split(" ");
      const op = operations[request] ?? "";
      const url = new URL(baseUrl);
      url.pathname = `${baseUrl.pathname.replace(/\/+$/, "")}${signer.names.basePath}${path}`;
      url.search = new URLSearchParams(query).toString();
      const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body));
      const headers = await signOperation({ ...signer, op, body: bytes, signedAt: nowSecs(clock) });
      const { status, text } = await exchange(url, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
        ...(body === undefined ? {} : { body: bytes }),
      });
      const response = parseJson(text);
      if (status < 200 || status > 299) throw new UserError(`${status}: ${messageOf(response, text)}`);
      if (response === undefined) throw new UserError(`${url.origin} responded ${status} without JSON`);
      return response;
    },
  };
}

/**
 * Sends a request once and reads its whole response.
 *
 * @throws UserError if it is too long, RetryableError if there is none in time.
 */
export async function exchange(
  url: URL,
  init: RequestInit,
): Promise<{ status: number; headers: Headers; text: string }> {
  try {
    // Following a redirect would send the signature to another host.
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout;
    const response = await fetch(url, { ...init, redirect: "manual", signal, tls: STRICT_TLS });
    return { status: response.status, headers: response.headers, text: await readUpToLimit(response) };
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new RetryableError(noResponseReason(url, cause), { cause });
  }
}

async function readUpToLimit(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new UserError(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Returns the error message of a response, or the start of its text if it is not from a node. */
export function messageOf(response: unknown, text: string): string {
  const hasMessage = typeof response === "object" && response !== null && "message" in response;
  const said =
    hasMessage && typeof response.message === "string" ? response.message : text.slice(0, MAX_SHOWN_CHARS);
  return said.replaceAll(/\p{Cc}+/gu, " ").trim() || "no message";
}
