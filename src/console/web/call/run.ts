import type { Call } from "../data/call.ts";
import { apiKey, callNode, RequestFailure } from "../data/request.ts";
import { runOperation } from "../owner/operation.ts";
import { owner } from "../owner/owner.ts";
import { sessionRequest } from "../owner/session-request.ts";
import * as msg from "../text/en/tools/call.ts";
import type { OperationForm } from "./operation.ts";

/** A response as it was received. */
export interface Outcome {
  readonly status: number;
  readonly ms: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

/** Searches and previews may take longer than a page usually waits for its data. */
const LIMIT_MS = 30_000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Runs a call and returns the response, whatever its status. A signed call is signed by the session's key if that is allowed, and
 * otherwise by the wallet, which asks.
 *
 * @throws RequestFailure without a response; OperationDeclined if nothing was sent
 */
export async function runCall(call: Call, { access }: OperationForm): Promise<Outcome> {
  const startedMs = performance.now();
  let response: Promise<Outcome> | undefined;
  const note = async (received: Response): Promise<Outcome> => {
    const { status, headers } = received;
    const text = await received.text();
    const ms = performance.now() - startedMs;
    return { status, ms, headers: [...headers], text, json: parsed(text) };
  };
  const { op, method, path, body } = call;
  if (op === undefined) {
    const headers: Record<string, string> = { accept: "application/json" };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (apiKey.value !== undefined) headers["x-api-key"] = apiKey.value;
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return callNode(path, { method, headers, ...sent, cache: "no-store", limitMs: LIMIT_MS }, note);
  }
  const words = msg.theNodeRuns(method, path, owner.peek()?.fid ?? 0);
  const onResponse = (received: Response) => {
    response = note(received.clone());
    return response;
  };
  try {
    // Changes are signed by the wallet, whose prompt describes the effect.
    if (access === "session" && method === "GET")
      await sessionRequest({ ...call, op, words }, { onResponse });
    else await runOperation({ ...call, op, words, onResponse });
  } catch (cause) {
    if (!(cause instanceof RequestFailure) || !response) throw cause;
  }
  if (!response) throw new Error("a signed call resolved without a response");
  return response;
}
