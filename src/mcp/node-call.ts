/** A read of a node. */
export interface NodeRequest {
  /** From the root, such as `/v2/svc/user`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** How tools reach a node: through its own HTTP pipeline, or over the network. It throws when there is no response. */
export type NodeCall = (request: NodeRequest) => Promise<{ readonly status: number; readonly body: unknown }>;

/** A refusal that the model reads. Its text is this program's. */
export class ToolError extends Error {}
