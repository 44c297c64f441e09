import type { Client } from "@grpc/grpc-js";
import { toBytes } from "viem";
import { keysOfPerson } from "../../test/support/demo-calls.ts";
import { type Method, signedHeaders } from "../../test/support/signing.ts";

/** The person of the demo network who owns what the load manages. */
export const OWNER = 3;
const CALL_TIMEOUT_MS = 30_000;
const MAX_ERROR_CHARS = 100;

/** Calls a node as its clients do. A call that is not successful throws. */
export interface NodeClient {
  call(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a request within `/v2/svc`, signed by the owner's custody wallet. */
  signed<T>(method: Method, path: string, value?: object): Promise<T>;
}

export function createNodeClient(url: string): NodeClient {
  const { custody } = keysOfPerson(OWNER);
  const wallet = { privateKey: toBytes(custody.privateKey), address: toBytes(custody.address) };
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    if (response.ok) return response;
    const text = (await response.text()).slice(0, MAX_ERROR_CHARS);
    throw new Error(`${path.replace(/\?.*/, "")}: ${response.status} ${text}`);
  }
  return {
    call,
    async signed<T>(method: Method, path: string, value?: object) {
      const body = value === undefined ? "" : JSON.stringify(value);
      const signedAt = Math.floor(Date.now() / 1000);
      const headers = await signedHeaders({ method, path, fid: OWNER, wallet, body, signedAt });
      const response = await call(`/v2/svc${path}`, { method, headers, ...(body !== "" && { body }) });
      return (await response.json()) as T;
    },
  };
}

/** Makes a unary call with encoded messages. */
export function unary(client: Client, method: string, request: Buffer): Promise<Buffer> {
  const same = (bytes: Buffer) => bytes;
  const options = { deadline: Date.now() + CALL_TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(method, same, same, request, options, (cause, response) => {
      if (cause || !response) reject(cause ?? new Error("no response"));
      else resolve(response);
    });
  });
}
