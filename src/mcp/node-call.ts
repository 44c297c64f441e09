export interface NodeRequest {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "DELETE";
  /** Absolute path, such as `/v2/svc/user`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface NodeResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if the body is not JSON. */
  readonly body: unknown;
}

/** How tools reach a node: through its own HTTP pipeline, or over the network. Throws if there is no response. */
export type NodeCall = (request: NodeRequest) => Promise<NodeResponse>;

/** Prefix of the ids of requests that tools make. Logs and the audit log of an owner show it. */
export const REQUEST_ID_PREFIX = "mcp-";

/** A refusal that the model can read. Its text is written by this program. */
export class ToolError extends Error {}
