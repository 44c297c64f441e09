import { nowSecs } from "../../src/runtime/clock.ts";
import { startTestApi, type TestApi, type TestApiOptions } from "./api.ts";
import { registerEvent } from "./events.ts";
import { expectMatchesOpenApi } from "./openapi.ts";
import { custodyWallet, type SignedCall, signedHeaders } from "./signing.ts";

export interface ApiResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

/** A call whose fid (3) and time (now) have defaults. A body that is an object is sent as JSON. */
export type TestCall = Omit<SignedCall, "fid" | "signedAt" | "body"> & {
  readonly fid?: number;
  readonly signedAt?: number;
  readonly body?: string | Uint8Array | object;
};

/** The API with fids whose custody wallets sign. */
export interface SignedApi extends AsyncDisposable {
  readonly api: TestApi;
  nowSecs(): number;
  /** Signs and sends; fails when the response does not match the OpenAPI document. */
  call(call: TestCall): Promise<ApiResponse>;
  /** Sends with the provided headers, signed or not. */
  send(call: TestCall, headers: Readonly<Record<string, string>>): Promise<ApiResponse>;
  sign(call: TestCall): Promise<Record<string, string>>;
  /** Counts the rows of every table of the state database except its clock, which is saved periodically. */
  rowCounts(): Record<string, number>;
}

export async function startSignedApi(
  options: TestApiOptions & { fids?: readonly number[] } = {},
): Promise<SignedApi> {
  const { fids = [3, 4], ...rest } = options;
  const api = await startTestApi(rest);
  for (const fid of fids) {
    api.node.ingestEvent(registerEvent(fid, custodyWallet(fid).address, { block: 1000 + fid }));
  }
  const now = () => nowSecs(api.node.clock);
  const bytesOf = ({ body }: TestCall) =>
    typeof body === "object" && !(body instanceof Uint8Array) ? JSON.stringify(body) : body;
  const sign = (call: TestCall) =>
    signedHeaders({ fid: 3, signedAt: now(), ...call, body: bytesOf(call) ?? "" });

  async function send(call: TestCall, headers: Readonly<Record<string, string>>): Promise<ApiResponse> {
    const { method, path } = call;
    const body = bytesOf(call);
    const init =
      body === undefined
        ? { method, headers }
        : { method, headers, body: body as string | Uint8Array<ArrayBuffer> };
    const response = await fetch(`${api.url}/v2/svc${path}`, init);
    const result = { status: response.status, body: await response.json() };
    const route = `/v2/svc${path.replace(/\?.*/, "").replace(/\/$/, "")}`;
    expectMatchesOpenApi(api.document, method, route, result.status, result.body);
    if (response.headers.get("cache-control") !== "no-store") throw new Error("the response may be cached");
    return result;
  }

  return {
    api,
    nowSecs: now,
    sign,
    send,
    call: async (call) => send(call, await sign(call)),
    rowCounts() {
      const { sqlite } = api.state;
      const tables = sqlite
        .query<{ name: string }, []>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' AND name != 'state_clock'",
        )
        .all();
      return Object.fromEntries(
        tables.map(({ name }) => [
          name,
          sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${name}`).get()?.n ?? -1,
        ]),
      );
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}
