/** The logs of a node's index: of hub events, and of the events of webhooks and streams. */
export interface NodeLog {
  /** 16 random bytes as hex. It changes when the index is another one, because its numbers may come again. */
  readonly logId: string;
  /** All block heights below this one may be in use. */
  readonly reservedHeight: number;
}

/**
 * What the state holds of each node's logs, so that an index that was deleted, or replaced by an older copy, is noticed. Every
 * method is atomic.
 */
export interface NodeLogStore {
  find(nodeId: string): Promise<NodeLog | undefined>;
  /** Stores the log of a node. The reserved height never decreases. */
  put(nodeId: string, log: NodeLog): Promise<void>;
}
