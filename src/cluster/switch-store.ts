/** What an operator can pause, on all nodes of a state. */
export const PAUSABLE = ["signed", "tokens", "sends", "deliveries", "writes"] as const;

/**
 * `signed`: signed operations are refused. `tokens`: token events of clients are refused. `sends`: notifications are stored
 * and wait. `deliveries`: events are queued for webhooks and wait. `writes`: writes of the API are refused, and queued ones wait.
 */
export type Pausable = (typeof PAUSABLE)[number];

/** What is paused, why, by whom and since when (unix seconds). */
export interface Pause {
  readonly name: Pausable;
  readonly reason: string;
  readonly pausedBy: string;
  readonly pausedAt: number;
}

/** The pauses of a state. They last until they are resumed, also over restarts. */
export interface SwitchStore {
  /** By name. */
  list(): Promise<readonly Pause[]>;
  /** Something that is paused already keeps its time, and gets the new reason. */
  pause(names: readonly Pausable[], by: Pick<Pause, "reason" | "pausedBy" | "pausedAt">): Promise<void>;
  /** Returns the names that were paused. */
  resume(names: readonly Pausable[]): Promise<readonly Pausable[]>;
}

/** Whether a name, as stored by this release or another one, can be paused by this one. */
export function isPausable(name: string): name is Pausable {
  return (PAUSABLE as readonly string[]).includes(name);
}
