export interface NodeRequest {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "DELETE";
  /** From the root, such as `/v2/svc/user`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface NodeResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it is no JSON. */
  readonly body: unknown;
}

/** How tools reach a node: through its own HTTP pipeline, or over the network. It throws when there is no response. */
export type NodeCall = (request: NodeRequest) => Promise<NodeResponse>;

/** Begins the ids of requests that tools make, which logs and the audit log of an owner show. */
export const REQUEST_ID_PREFIX = "mcp-";

/** A refusal that the model reads. Its text is this program's. */
export class ToolError extends Error {}
